"""The part of the Hugging Face Hub's HTTP interface that models are loaded and saved through."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

TOKEN = "hf_stub"
ROUTES = (
    ("GET", r"/api/models/(?P<repo>[^/]+/[^/]+)(/revision/(?P<revision>.+))?", "info"),
    ("GET", r"/api/models/(?P<repo>[^/]+/[^/]+)/tree/(?P<revision>[^/]+)/?", "tree"),
    ("GET", r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<path>.+)", "file"),
    ("POST", r"/api/repos/create", "create"),
    ("POST", r"/api/validate-yaml", "validate"),
    ("POST", r"/api/models/(?P<repo>[^/]+/[^/]+)/preupload/(?P<revision>.+)", "preupload"),
    ("POST", r"/api/models/(?P<repo>[^/]+/[^/]+)/commit/(?P<revision>.+)", "commit"),
)


@dataclass
class Hub:
    """Repositories as `{name: {path: content}}`; a hash is the number of commits so far."""

    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    commits: dict[str, int] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)
    failing: int = 0
    """A status to answer everything with."""
    address: str = ""

    def put(self, name: str, folder: Path, *, private: bool = False) -> None:
        """A repository with the files of a folder."""
        files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
        self.repositories[name] = {path: file.read_bytes() for path, file in files.items()}
        self.commits[name] = 1
        if private:
            self.private.add(name)

    def sha(self, name: str) -> str:
        return f"{self.commits.get(name, 0):040x}"


class RefusedError(Exception):
    def __init__(self, status: int, code: str, **more: str) -> None:
        self.status, self.code, self.more = status, code, more


class Handler(BaseHTTPRequestHandler):
    """Answers one request; `hub` is set on a subclass."""

    protocol_version = "HTTP/1.1"
    hub: Hub

    def do_GET(self) -> None:
        self._answer()

    do_HEAD = do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers: dict[str, str] = {}
        try:
            if self.hub.failing:
                raise RefusedError(self.hub.failing, "Broken")
            content, headers = self._routed(body)
            status = 200
        except RefusedError as refusal:
            content = json.dumps({"error": refusal.code, **refusal.more}).encode()
            status, headers = refusal.status, {"X-Error-Code": refusal.code}
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _routed(self, body: bytes) -> tuple[bytes, dict[str, str]]:
        path = unquote(urlsplit(self.path).path)
        method = "GET" if self.command == "HEAD" else self.command
        for wanted, pattern, name in ROUTES:
            found = re.fullmatch(pattern, path)
            if wanted == method and found:
                parts = {key: value for key, value in found.groupdict().items() if value}
                result = getattr(self, f"_{name}")(body, **parts)
                if isinstance(result, tuple):
                    return result
                return json.dumps(result).encode(), {"Content-Type": "application/json"}
        raise RefusedError(404, f"NoRoute {self.command} {path}")

    def _files(self, repo: str, revision: str = "main") -> dict[str, bytes]:
        known = repo in self.hub.repositories
        if not known or (repo in self.hub.private and not self._has_token()):
            raise RefusedError(401, "RepoNotFound")
        if revision not in {"main", self.hub.sha(repo)}:
            raise RefusedError(404, "RevisionNotFound")
        return self.hub.repositories[repo]

    def _has_token(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _need_token(self) -> None:
        if not self._has_token():
            raise RefusedError(403, "Forbidden")

    def _info(self, _: bytes, repo: str, revision: str = "main") -> object:
        files = self._files(repo, revision)
        siblings = [{"rfilename": path} for path in files]
        return {"id": repo, "sha": self.hub.sha(repo), "siblings": siblings, "private": False}

    def _tree(self, _: bytes, repo: str, revision: str) -> object:
        return [
            {"type": "file", "path": path, "oid": _oid(content), "size": len(content)}
            for path, content in self._files(repo, revision).items()
        ]

    def _file(self, _: bytes, repo: str, revision: str, path: str) -> object:
        files = self._files(repo, revision)
        if path not in files:
            raise RefusedError(404, "EntryNotFound")
        if self.command == "GET":
            self.hub.fetched.append(path)
        etag = f'"{_oid(files[path])}"'
        return files[path], {"ETag": etag, "X-Repo-Commit": self.hub.sha(repo)}

    def _create(self, body: bytes) -> object:
        self._need_token()
        asked = json.loads(body)
        organisation = asked.get("organization")
        name = f"{organisation}/{asked['name']}" if organisation else asked["name"]
        address = f"{self.hub.address}/{name}"
        if name in self.hub.repositories:
            raise RefusedError(409, "Exists", url=address)
        self.hub.repositories[name] = {}
        if asked.get("private") or asked.get("visibility") == "private":
            self.hub.private.add(name)
        return {"url": address}

    def _validate(self, _: bytes) -> object:
        return {"warnings": [], "errors": []}

    def _preupload(self, body: bytes, repo: str, revision: str) -> object:
        self._need_token()
        self._files(repo, revision)
        asked = [file["path"] for file in json.loads(body)["files"]]
        modes = [{"path": p, "uploadMode": "regular", "shouldIgnore": False} for p in asked]
        return {"files": modes}

    def _commit(self, body: bytes, repo: str, revision: str) -> object:
        self._need_token()
        files = self._files(repo, revision)
        for line in body.splitlines():
            step = json.loads(line)
            value = step["value"]
            if step["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif step["key"] == "deletedFile":
                del files[value["path"]]
        self.hub.commits[repo] = self.hub.commits.get(repo, 0) + 1
        sha = self.hub.sha(repo)
        url = f"{self.hub.address}/{repo}/commit/{sha}"
        return {"success": True, "commitOid": sha, "commitUrl": url}


def _oid(content: bytes) -> str:
    """What git calls these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@contextmanager
def serving() -> Iterator[Hub]:
    """A hub on loopback, at its `address`."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Hub]:
    """A hub that this process takes for the only one, with an empty cache and nobody logged in."""
    import huggingface_hub
    from huggingface_hub import constants

    # One of the two, by version: open sessions remember that there was no network.
    forget = getattr(huggingface_hub.utils, "reset_sessions", None) or huggingface_hub.close_session
    with serving() as hub:
        template = hub.address + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", hub.address)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        copy = "huggingface_hub.file_download.HUGGINGFACE_CO_URL_TEMPLATE"  # of versions before 1
        monkeypatch.setattr(copy, template, raising=False)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
        for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
            monkeypatch.delenv(name, raising=False)
        forget()
        yield hub
        forget()
