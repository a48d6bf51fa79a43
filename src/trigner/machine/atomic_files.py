"""Files that are replaced whole or not at all, one or several at a time.

A file is written next to its place, under a name that nobody can foresee and that must be new, and
gets its own name when it is whole. What is not a regular file (a device, a FIFO, the process
substitution of a shell) cannot be replaced: it is written into. A symlink is followed.
"""

from __future__ import annotations

import errno
import glob
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from trigner.errors import InputError, TrignerError

_NO_HARD_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_LONGEST_ENDING = 20  # bytes
_LONGEST_NAME = 200  # bytes of a file's name that its temporary name repeats; systems take 255
_RANDOM = 8  # bytes of a temporary name that nobody can foresee
_HEX = "[0-9a-f]" * 2 * _RANDOM
_PREVIOUS = ".previous"


def write_text(path: Path, text: str, *, overwrite: bool = True) -> None:
    """Write a file whole or not at all. Raises as `atomic_write` does."""
    with atomic_write(path, overwrite=overwrite) as write:
        write(text)


def write_new_text(path: Path, text: str) -> None:
    """Write a file that is not there, or that is there with this very text already.

    So what was cut off can be done again. Raises as `atomic_write` does: TrignerError for another
    file of that name.
    """
    try:
        write_text(path, text, overwrite=False)
    except TrignerError:
        with explained(path):
            content = text.encode("utf-8")
            same = path.is_file() and path.stat().st_size == len(content)
            if not same or path.read_bytes() != content:
                raise


@contextmanager
def atomic_write(
    path: Path, *, keep: bool = False, overwrite: bool = True
) -> Iterator[Callable[[str | bytes], None]]:
    """Write a file piece by piece: it gets its name when it is complete, never before.

    Without `overwrite` a file that has that name by then is refused. When something fails, what was
    written is removed, or with `keep` stays at `partial_of(path)` unless it is empty. Raises
    TrignerError when the file system fails, InputError for text that cannot be encoded as UTF-8.
    """
    size = 0

    def write(content: str | bytes) -> None:
        nonlocal size
        with explained(path):
            size += file.write(content.encode("utf-8") if isinstance(content, str) else content)
            if is_shared:
                file.flush()  # whoever reads it has it now, and what is full says so

    if is_shared := is_written_into(path):
        with explained(path):
            # Behind what is in it, where it is a regular file.
            file: BinaryIO = os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND), "wb")
        with _closing(file, path):
            yield write
        return
    with explained(path):
        target = followed(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary, file = _temporary(target)
    try:
        with _closing(file, path):
            yield write
        with explained(path):
            publish(temporary, target, overwrite=overwrite)
    except BaseException:
        with suppress(OSError):
            if keep and size:
                os.replace(temporary, partial_of(target))
            else:
                temporary.unlink(missing_ok=True)
        raise


def partial_of(path: Path) -> Path:
    """Where the beginning of a file is kept when its writing ended early."""
    return path.with_name(path.name + ".partial")


@contextmanager
def staged(path: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Where to write the file that becomes `path` when the block ends well.

    That is `path` itself where it is written into, else a new and empty file next to it. For
    writers that take a path; raises as `atomic_write` does, and what a writer raises of the new
    file as of `path`.
    """
    if is_written_into(path):
        yield path
        return
    with explained(path):
        target = followed(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        # With the same ending: some writers choose by it what they write.
        ending = target.suffix if len(os.fsencode(target.suffix)) <= _LONGEST_ENDING else ""
        temporary, file = _temporary(target, ending)
        file.close()
    try:
        with named_as(path, temporary):
            yield temporary
        with explained(path):
            publish(temporary, target, overwrite=overwrite)
    finally:
        for left in (temporary, partial_of(temporary)):
            with suppress(OSError):
                left.unlink(missing_ok=True)


@contextmanager
def named_as(path: Path, temporary: Path) -> Iterator[None]:
    """Errors about a new file, or a new folder and what is in it, as of what it is to become."""
    try:
        yield
    except InputError as error:
        if error.path is None or not error.path.is_relative_to(temporary):
            raise
        place = path / error.path.relative_to(temporary)
        raise InputError(error.message, path=place, line=error.line) from error
    except TrignerError as error:
        if str(temporary) not in str(error):
            raise
        raise TrignerError(str(error).replace(str(temporary), str(path))) from error


def publish(written: Path, path: Path, *, overwrite: bool) -> None:
    """Give a file its final name in the same folder.

    Raises TrignerError when there is a file of that name and not `overwrite`, OSError when the file
    system fails.
    """
    if overwrite:
        with suppress(FileNotFoundError):
            os.chmod(written, stat.S_IMODE(path.stat().st_mode))
        os.replace(written, path)
        return
    try:
        os.link(written, path, follow_symlinks=False)
    except FileExistsError as error:
        raise TrignerError(_appeared(path)) from error
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        if os.path.lexists(path):
            raise TrignerError(_appeared(path)) from error
        os.rename(written, path)
    else:
        written.unlink()


def remove_leftovers(path: Path) -> None:
    """Remove what killed processes left of `path`, or in a folder; nobody may be writing there."""
    _remove(path.rglob(f".*.{_HEX}.tmp*") if path.is_dir() else _left(followed(path), ".tmp*"))


def left_of(paths: Iterable[Path]) -> set[Path]:
    """What killed processes left of files: new ones, and old ones that were to be replaced."""
    return {own for path in paths for ending in (".tmp*", _PREVIOUS) for own in _left(path, ending)}


def is_leftover(path: Path) -> bool:
    """Whether a file has the name of those that killed processes leave: nobody needs it."""
    return path.name.startswith(".") and ".tmp" in path.suffixes[-2:]


def is_written_into(path: Path) -> bool:
    """Whether `path` is a device, a FIFO or an open file of this process, which stay what they are.

    `/dev/stdout` and `/dev/fd/63` are open files even when these are regular ones.
    """
    try:
        if stat.S_ISREG(mode := path.stat().st_mode) or stat.S_ISDIR(mode):
            return _is_open_file(path)
    except OSError:  # nothing there, or unreadable: reported when it is to be written
        return False
    return True


def check_writable(path: Path) -> None:
    """Raises InputError for a file that could not be written or a folder that none can be put in.

    To be asked before the work: not everything can be seen then.
    """
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # it is new, or what is in the way is told below
    except OSError as error:  # a name that is too long, say
        raise InputError(f"cannot be written: {error.strerror}", path=path) from error
    if is_written_into(path):
        mode = path.stat().st_mode
        if stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
            kind = "a disk" if stat.S_ISBLK(mode) else "a socket"
            raise InputError(f"is {kind}: it is not written to; name a file", path=path)
        if not os.access(path, os.W_OK):
            raise InputError("cannot be written: permission denied", path=path)
        return
    folder = path if path.is_dir() else followed(path).parent
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise InputError("is not a folder: nothing can be written in it", path=folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"cannot be written: no permission for the folder {folder}", path=path)


def check_folder(path: Path) -> None:
    """Raises InputError for what is no folder where one is to be, or where none can be written."""
    if os.path.lexists(path) and not path.is_dir():
        raise InputError("is not a folder: the output is one", path=path)
    check_writable(path)


def check_readable(path: Path) -> None:
    """Raises InputError for a FIFO, a socket or a device: reading one could wait for ever.

    What this process has open already may be read, such as the process substitution of a shell.
    Nothing is said of what is not there.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # reported when it is read
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or _is_open_file(path)):
        message = "is not a regular file: write what comes through it to a file"
        raise InputError(message, path=path)


def check_own(path: Path) -> None:
    """Raises InputError for what is neither file nor folder where this program keeps its own.

    A link there leads to what is somebody else's, which would be written to or deleted.
    """
    try:
        mode = path.lstat().st_mode
    except OSError:  # nothing there, or reported when it is opened
        return
    if stat.S_ISLNK(mode):
        raise InputError("is a link, and what it leads to is left alone: remove it", path=path)
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError("is not a regular file, and is left alone: remove it", path=path)


def own_file(path: str, flags: int) -> int:
    """Opens a file that this program keeps, for `open(..., opener=own_file)`.

    Raises as `check_own`; a link that is put there after it has looked is not followed either.
    """
    check_own(Path(path))
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def _is_open_file(path: Path) -> bool:
    """Whether the way to a file leads through the table of a process's open files."""
    for _ in range(40):  # as many links as Linux follows
        if not path.is_symlink():
            return False
        parent = os.path.realpath(path.parent)
        if parent.startswith("/proc/") and parent.endswith("/fd"):
            return True
        path = Path(parent, os.readlink(path))
    return False


def followed(path: Path) -> Path:
    """The file that is meant: links are followed, also one to a file that does not exist yet.

    Raises InputError for links that lead nowhere but to each other.
    """
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise InputError("is a link that leads back to itself", path=path)
    return target


def _temporary_prefix(target: Path) -> str:
    name = os.fsencode(target.name)[:_LONGEST_NAME].decode("utf-8", "ignore")
    return f".{name}."


def _temporary_name(target: Path) -> Path:
    """A hidden name next to the target that nobody can foresee."""
    return target.with_name(f"{_temporary_prefix(target)}{secrets.token_hex(_RANDOM)}.tmp")


def _left(target: Path, ending: str) -> list[Path]:
    """What was given a name of ours next to the target, with an ending as in a glob."""
    return list(target.parent.glob(f"{glob.escape(_temporary_prefix(target))}{_HEX}{ending}"))


def _remove(left: Iterable[Path]) -> None:
    """Remove files, and folders that were to become others with all that is in them."""
    for path in list(left):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _temporary(target: Path, ending: str = "") -> tuple[Path, BinaryIO]:
    """A new file next to the target, which a link or file of that name would not become."""
    path = _temporary_name(target)
    if ending:
        path = path.with_suffix(path.suffix + ending)
    return path, os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb")


@contextmanager
def _closing(file: BinaryIO, path: Path) -> Iterator[None]:
    """Close a file behind the block; what fails then is raised unless the block failed before."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            file.close()
        raise
    with explained(path):
        file.close()


def _appeared(path: Path) -> str:
    return f"cannot write {path}: a file of that name has appeared meanwhile, and is left as it is"


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """What the file system says as an error that names the file that was to be written."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise InputError(f"cannot be encoded as UTF-8: {error.reason}", path=path) from error
    except BrokenPipeError:
        raise  # whoever read it has gone: the command line knows what to do
    except OSError as error:
        raise TrignerError(f"cannot write {path}: {error.strerror}") from error


def replace_together(
    writers: Mapping[Path, Callable[[Path], object]], *, overwrite: bool = True
) -> None:
    """Replace all of these files by new ones, or on any failure none.

    Without `overwrite` a file that has one of the names by then is such a failure, a TrignerError.

    The last file stands for the whole: it goes first and comes last, so that what a crash in
    between leaves behind is refused, not mistaken for a model. The old files are hidden then, with
    names that end in `.previous`, and go when the new ones are in place.
    """
    new: dict[Path, Path] = {}
    moves: list[tuple[Path, Path]] = []

    def move(source: Path, target: Path) -> None:
        os.replace(source, target)
        moves.append((source, target))

    try:
        for path, write in writers.items():
            _remove(_left(path, ".tmp*"))
            new[path], file = _temporary(path)
            file.close()
            write(new[path])
        for path in reversed(list(writers)):
            if overwrite and path.exists():
                move(path, _temporary_name(path).with_suffix(_PREVIOUS))
        for path in writers:
            publish(new[path], path, overwrite=overwrite)
            moves.append((new[path], path))
    except BaseException:
        for source, target in reversed(moves):
            os.replace(target, source)
        raise
    finally:
        for path in new.values():
            path.unlink(missing_ok=True)
    _remove(left_of(writers))
