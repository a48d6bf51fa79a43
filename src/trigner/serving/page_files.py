"""The files of the page: its own and those that draw entities, from the package."""

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
    "/texts.js": ("trigner.serving", "page/texts.js"),
    "/grid.js": ("trigner.serving", "page/grid.js"),
    "/icon.svg": ("trigner.serving", "page/icon.svg"),
    "/entities.css": ("trigner.rendering", "entities.css"),
    "/entities.js": ("trigner.rendering", "entities.js"),
}


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file's content, its media type and its ETag, a hash of the content."""

    content: bytes
    media_type: str
    etag: str


def page_files() -> dict[str, PageFile]:
    """The files of the page by their path on the server."""
    result = {}
    for path, (package, name) in _FILES.items():
        content = files(package).joinpath(name).read_bytes()
        etag = f'"{hashlib.sha256(content).hexdigest()[:16]}"'
        result[path] = PageFile(content, _TYPES[name.rpartition(".")[2]], etag)
    return result
