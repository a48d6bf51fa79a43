"""The page: its own files and the drawing of entities, out of the package."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
_FILES = {
    "/": ("trigner.serving", "page/index.html"),
    "/page.css": ("trigner.serving", "page/page.css"),
    "/page.js": ("trigner.serving", "page/page.js"),
    "/characters.js": ("trigner.serving", "page/characters.js"),
    "/grid.js": ("trigner.serving", "page/grid.js"),
    "/icon.svg": ("trigner.serving", "page/icon.svg"),
    "/entities.css": ("trigner.rendering", "entities.css"),
    "/entities.js": ("trigner.rendering", "entities.js"),
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file's content, its media type and a tag that changes with its content."""

    content: bytes
    media_type: str
    etag: str


def page_files() -> dict[str, PageFile]:
    """All that the page is made of, by its path on the server."""
    found = {}
    for path, (package, name) in _FILES.items():
        content = files(package).joinpath(name).read_bytes()
        etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        found[path] = PageFile(content, _TYPES[name.rpartition(".")[2]], etag)
    return found
