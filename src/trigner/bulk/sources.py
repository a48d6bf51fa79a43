"""What `annotate` is given -> sources: files of rows, on this machine or behind a URL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from trigner.errors import InputError, TrignerError
from trigner.quantities import counted

KINDS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".txt": "txt",
}
COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
"""Of JSON lines and CSV."""

_CHANGES = ("mtime", "LastModified", "last_modified", "updated", "created", "ETag", "etag")
"""Where file systems tell when a file was changed, the surest first."""


@dataclass(frozen=True)
class File:
    """A file of a file system of fsspec's; `changed` is what tells it from an older one."""

    path: str
    size: int
    changed: str
    system: Any = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """What messages and the output call it: an absolute path or a URL."""
        return _name(self.system, self.path)

    @property
    def compression(self) -> str | None:
        """`gzip`, `zstd` or None."""
        return COMPRESSIONS.get(PurePosixPath(self.path).suffix.lower())

    def open(self) -> IO[bytes]:
        """Its bytes. Raises OSError when it cannot be read."""
        opened: IO[bytes] = self.system.open(self.path, "rb")
        return opened


@dataclass(frozen=True)
class InputFiles:
    """A source: a file of rows, or `.txt` files of which each is a row, with the ids of these."""

    name: str
    kind: str
    files: tuple[File, ...]
    ids: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes, as they are stored."""
        return sum(file.size for file in self.files)

    def identity(self) -> list[Any]:
        """What is different when the source is another or was changed."""
        return [self.name, [[file.name, file.size, file.changed] for file in self.files]]


def find_sources(inputs: Sequence[str], *, out: Path) -> tuple[list[InputFiles], list[str]]:
    """The sources of paths, globs and URLs, in order, and what is to be reported about them.

    Folders are searched through, without what is hidden, begins with an underscore or lies in
    `out`. Raises InputError for what does not exist or is no input, and for a file that is given
    twice.
    """
    sources: list[InputFiles] = []
    notices: list[str] = []
    for given in inputs:
        system, path = _system(given)
        found, others = _files(given, system, path, out.absolute())
        if others:
            notices.append(f"{given}: {counted(others, 'file')} skipped, no inputs")
        rows = [file for file, _ in found if kind_of(file.path) != "txt"]
        texts = [(file, id) for file, id in found if kind_of(file.path) == "txt"]
        sources += [InputFiles(file.name, str(kind_of(file.path)), (file,)) for file in rows]
        if texts:
            files, ids = zip(*texts, strict=True)
            sources.append(InputFiles(_name(system, path), "txt", files, ids))
    seen: set[str] = set()
    for file in (file for source in sources for file in source.files):
        if file.name in seen:
            raise InputError("is given twice: its rows would be duplicated", path=file.name)
        seen.add(file.name)
    return sources, notices


def kind_of(path: str) -> str | None:
    """The kind of input by a file's ending, None when it is no input."""
    name = PurePosixPath(path.lower())
    compressed = name.suffix in COMPRESSIONS
    kind = KINDS.get(PurePosixPath(name.stem).suffix if compressed else name.suffix)
    return None if compressed and kind in ("parquet", "txt") else kind


def _files(given: str, system: Any, path: str, out: Path) -> tuple[list[tuple[File, str]], int]:
    """The files that are meant, each with its name in the folder; how many others there are."""
    try:
        if system.isdir(path):
            found = _below(system, path, out)
        elif system.exists(path):
            if kind_of(path) is None:
                known = ", ".join([*KINDS, ".jsonl.gz", ".jsonl.zst"])
                raise InputError(f"unsupported file type; supported: {known}", path=given)
            file = _file(system, path, system.info(path))
            return [(file, _id(PurePosixPath(path).name))], 0
        elif system.glob(path) and any(mark in given for mark in "*?["):
            found = []
            for each in sorted(system.glob(path)):
                if system.isdir(each):
                    found += _below(system, each, out)
                else:
                    found.append((_file(system, each, system.info(each)), each))
        else:
            raise InputError("no such file or folder", path=given)
    except (OSError, ImportError, ValueError) as error:
        raise TrignerError(f"{given}: cannot be read: {error}") from error
    known_files = [(file, _id(name)) for file, name in found if kind_of(file.path)]
    if not known_files:
        raise InputError(f"holds none of {', '.join(KINDS)}", path=given)
    return known_files, len(found) - len(known_files)


def _below(system: Any, folder: str, out: Path) -> list[tuple[File, str]]:
    root = PurePosixPath(folder)
    found = []
    for path, info in sorted(system.find(folder, detail=True).items()):
        name = PurePosixPath(path)
        inside = name.relative_to(root) if name.is_relative_to(root) else name
        hidden = any(part.startswith((".", "_")) for part in inside.parts)
        if not hidden and not (_is_local(system) and Path(path).is_relative_to(out)):
            found.append((_file(system, path, info), inside.as_posix()))
    return found


def _id(name: str) -> str:
    return name[:-4] if name.lower().endswith(".txt") else name


def _file(system: Any, path: str, info: dict[str, Any]) -> File:
    changed = next((str(info[key]) for key in _CHANGES if info.get(key)), "")
    return File(path, int(info.get("size") or 0), changed, system)


def _system(given: str) -> tuple[Any, str]:
    """The file system of a path or URL and the path in it: fsspec's, or pyarrow's by its means."""
    from fsspec.core import url_to_fs

    try:
        return url_to_fs(given)  # type: ignore[no-any-return]
    except (ImportError, ValueError) as error:
        from fsspec.implementations.arrow import ArrowFSWrapper
        from pyarrow import ArrowException
        from pyarrow.fs import FileSystem

        try:
            system, path = FileSystem.from_uri(given)
        except (ArrowException, OSError, ValueError):
            raise InputError(f"cannot be opened: {error}", path=given) from error
        return ArrowFSWrapper(system), path


def _name(system: Any, path: str) -> str:
    return path if _is_local(system) else str(system.unstrip_protocol(path))


def _is_local(system: Any) -> bool:
    protocols: str | Iterable[str] = system.protocol
    return "file" in ((protocols,) if isinstance(protocols, str) else protocols)
