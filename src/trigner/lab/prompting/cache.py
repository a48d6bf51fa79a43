"""Every raw answer of a language model, recorded in an append-only file of JSON lines.

The file is the cache (no request is sent twice), what an interrupted run resumes from, and the
record of what the model said. It never holds a key.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from trigner import __version__
from trigner.errors import InputError, TrignerError
from trigner.lab.prompting.client import Completion
from trigner.machine import check_own, own_file

_WRITE_ATTEMPTS = 3
"""For one line: the system may write less than it was given."""

_FIELDS = tuple(field.name for field in fields(Completion))
_COMPLETION = TypeAdapter(Completion)


@dataclass(frozen=True, slots=True)
class CompletionRequest:
    """A prompt for a model, with the request's parameters."""

    model: str
    prompt: str
    parameters: Mapping[str, Any]

    @property
    def key(self) -> str:
        """SHA-256 (64 hex digits) over model, prompt and parameters."""
        return _hash(json.dumps([self.model, self.prompt, self.parameters], sort_keys=True))


class CompletionCache:
    """The completions in a file, by request.

    Each is one line, which is on the disk before `add` returns, so several runs may append to the
    same file. A line that a killed run or a full disk left incomplete is skipped and counted in
    `damaged`; of two completions of one request the first counts.
    """

    def __init__(self, path: Path) -> None:
        """Reads the file if there is one.

        Raises InputError when it holds something else, and for a link or what is no file.
        """
        check_own(path)
        self.path = path
        self.damaged = 0
        self._found: dict[str, Completion] = {}
        if path.exists():
            self._read()

    def __len__(self) -> int:
        return len(self._found)

    def get(self, request: CompletionRequest) -> Completion | None:
        """The recorded completion of a request, None if there is none."""
        return self._found.get(request.key)

    def add(self, request: CompletionRequest, completion: Completion, *, base_url: str) -> None:
        """Record a server's completion. Raises TrignerError when it cannot be written."""
        line = {
            "key": request.key,
            "model": request.model,
            "base_url": base_url,
            "parameters": dict(request.parameters),
            "prompt_sha256": _hash(request.prompt),
            **asdict(completion),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "version": __version__,
        }
        # ASCII can also represent lone surrogates, which a model may be made to write.
        self._write(json.dumps(line).encode("ascii") + b"\n")
        self._found.setdefault(request.key, completion)

    def _write(self, line: bytes) -> None:
        """Append a line, after ending whatever incomplete line another run may have left."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "ab+", buffering=0, opener=own_file) as file:
                for _ in range(_WRITE_ATTEMPTS):
                    data = line if _ends_in_newline(file) else b"\n" + line
                    if file.write(data) == len(data):
                        os.fsync(file.fileno())
                        return
        except OSError as error:
            raise TrignerError(f"cannot write {self.path}: {error.strerror}") from error
        raise TrignerError(f"cannot write {self.path}: the system writes only part of each answer")

    def _read(self) -> None:
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=self.path) from error
        for line in filter(None, data.split(b"\n")):
            try:
                value = json.loads(line)
                found = {name: value[name] for name in _FIELDS}
                self._found.setdefault(value["key"], _COMPLETION.validate_python(found))
            except (ValueError, LookupError, TypeError, RecursionError):
                self.damaged += 1
        if self.damaged and not self._found and data.endswith(b"\n"):
            raise InputError("contains no recorded answers", path=self.path)


def _ends_in_newline(file: FileIO) -> bool:
    if not file.seek(0, os.SEEK_END):
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
