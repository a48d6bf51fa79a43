"""What `annotate` is given -> sources: files of rows, on this machine or behind a URL."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from trigner.errors import InputError, TrignerError
from trigner.machine import check_readable, counted

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

ENDINGS = (
    *KINDS,
    *(
        ending + packed
        for ending, kind in KINDS.items()
        if kind in ("jsonl", "csv")
        for packed in COMPRESSIONS
    ),
)

_MARKS = "*?["
"""Of a glob."""

_HIDDEN = (".", "_")
"""Beginnings of names that are passed over in a folder."""

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
        return _printable(self.address)

    @property
    def address(self) -> str:
        """The same as it is on the disk, where names need not be UTF-8."""
        return _name(self.system, self.path)

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, not behind a URL."""
        return _is_local(self.system)

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
    `out`; globs, without such folders that they do not name and without what lies in `out`. Raises
    InputError for what does not exist or is no input, and for a file that is given twice, however
    it is spelt.
    """
    own = os.path.realpath(out)
    sources: list[InputFiles] = []
    notices: list[str] = []
    for given in inputs:
        if not given:
            raise InputError("an input has no name: give a file, a folder, a glob or a URL")
        system, path = _system(given)
        if _is_in(own, system, path):
            what = "is both an input and OUT" if _place(system, path) == own else "lies in OUT"
            raise InputError(f"{what}: choose another OUT", path=given)
        found, others = _files(given, system, path, own)
        if others:
            skipped = counted(others, "file of another kind", "files of other kinds")
            notices.append(f"{given}: {skipped} skipped")
        rows = [file for file, _ in found if kind_of(file.path) != "txt"]
        texts = [(file, id) for file, id in found if kind_of(file.path) == "txt"]
        sources += [InputFiles(file.name, str(kind_of(file.path)), (file,)) for file in rows]
        if texts:
            files, ids = zip(*texts, strict=True)
            sources.append(InputFiles(_printable(_name(system, path)), "txt", files, _ids(ids)))
    seen: set[str] = set()
    for file in (file for source in sources for file in source.files):
        place = _place(file.system, file.path)
        if place in seen:
            again = "" if place == file.address else f" (it is {_printable(place)})"
            message = f"is given twice{again}: its rows would be duplicated"
            raise InputError(message, path=file.name)
        seen.add(place)
    return sources, notices


def kind_of(path: str) -> str | None:
    """The kind of input by a file's ending, None when it is no input."""
    name = PurePosixPath(path.lower())
    compressed = name.suffix in COMPRESSIONS
    kind = KINDS.get(PurePosixPath(name.stem).suffix if compressed else name.suffix)
    return None if compressed and kind in ("parquet", "txt") else kind


def _files(given: str, system: Any, path: str, out: str) -> tuple[list[tuple[File, str]], int]:
    """The files that are meant, each with its name in the folder; how many others there are."""
    try:
        if system.isdir(path):
            found = _below(system, path, out)
        elif system.exists(path):
            if kind_of(path) is None:
                raise InputError(_not_known(path), path=given)
            file = _file(system, path, system.info(path))
            return [(file, PurePosixPath(path).name)], 0
        elif any(mark in given for mark in _MARKS):
            found = _matching(system, path, out)
            if not found:
                raise InputError("no file matches", path=given)
        else:
            raise InputError("no such file or folder", path=given)
    except (OSError, ImportError, ValueError) as error:
        raise TrignerError(f"{given}: cannot be read: {error}") from error
    known_files = [(file, name) for file, name in found if kind_of(file.path)]
    if not known_files:
        raise InputError(f"holds none of {', '.join(ENDINGS)}", path=given)
    return known_files, len(found) - len(known_files)


def _not_known(path: str) -> str:
    message = f"unsupported file type; supported: {', '.join(ENDINGS)}"
    match PurePosixPath(path.lower()).suffix:
        case ".json":
            message += " (rename it to .jsonl if each line is an object)"
        case ".tsv":
            message += " (convert it: columns of .csv are separated by commas)"
    return message


def _above_marks(path: str) -> str:
    """The folder of a glob's path that all of its files are in."""
    parts = PurePosixPath(path).parts
    marked = [n for n, part in enumerate(parts) if any(mark in part for mark in _MARKS)]
    return str(PurePosixPath(*parts[: marked[0]])) if marked else path


def _inside(path: str, root: str) -> PurePosixPath:
    name = PurePosixPath(path)
    return name.relative_to(root) if name.is_relative_to(root) else name


def _matching(system: Any, glob: str, out: str) -> list[tuple[File, str]]:
    """The files that a glob matches or that are in folders it matches, with their names."""
    root = _above_marks(glob)
    named = {part[0] for part in _inside(glob, root).parts} & {*_HIDDEN}
    hidden = tuple(mark for mark in _HIDDEN if mark not in named)
    found = []
    for path in sorted(system.glob(glob)):
        inside, is_folder = _inside(path, root), system.isdir(path)
        folders = inside.parts if is_folder else inside.parts[:-1]
        if any(part.startswith(hidden) for part in folders):
            continue
        if is_folder:
            found += _below(system, path, out, root=root)
        elif not _is_in(out, system, path):
            found.append((_file(system, path, system.info(path)), inside.as_posix()))
    return found


def _below(
    system: Any, folder: str, out: str, *, root: str | None = None
) -> list[tuple[File, str]]:
    """The files in a folder, with their names in it or in the folder `root`."""
    found = []
    for path, info in sorted(system.find(folder, detail=True).items()):
        hidden = any(part.startswith(_HIDDEN) for part in _inside(path, folder).parts)
        if not hidden and not _is_in(out, system, path):
            inside = _inside(path, folder if root is None else root)
            found.append((_file(system, path, info), inside.as_posix()))
    return found


def _ids(names: Sequence[str]) -> tuple[str, ...]:
    """The names of `.txt` files without their ending, unless that makes two the same."""
    stems = [name[: -len(".txt")] for name in names]
    times = Counter(stems)
    pairs = zip(stems, names, strict=True)
    return tuple(_printable(stem if times[stem] == 1 else name) for stem, name in pairs)


def _printable(name: str) -> str:
    """A name as text: bytes that are not UTF-8 are escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def _file(system: Any, path: str, info: dict[str, Any]) -> File:
    if _is_local(system) and kind_of(path) is not None:
        check_readable(Path(path))
    changed = next((str(info[key]) for key in _CHANGES if info.get(key)), "")
    return File(path, int(info.get("size") or 0), changed, system)


def _system(given: str) -> tuple[Any, str]:
    """The file system of a path or URL and the path in it: fsspec's, or pyarrow's by its means."""
    from fsspec.core import url_to_fs
    from fsspec.implementations.local import LocalFileSystem

    if "::" in given and os.path.lexists(given):  # no chain of file systems
        return LocalFileSystem(), os.path.abspath(given)
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


def _place(system: Any, path: str) -> str:
    """What the same file has however its path is spelt, through links or not."""
    return os.path.realpath(path) if _is_local(system) else _name(system, path)


def _is_in(out: str, system: Any, path: str) -> bool:
    return _is_local(system) and PurePosixPath(_place(system, path)).is_relative_to(out)


def _is_local(system: Any) -> bool:
    protocols: str | Iterable[str] = system.protocol
    return "file" in ((protocols,) if isinstance(protocols, str) else protocols)
