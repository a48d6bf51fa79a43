"""New files whole, old files as they were."""

from __future__ import annotations

import errno
import os
import socket
import stat
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from trigner.errors import InputError, TrignerError
from trigner.machine import atomic_files
from trigner.machine.atomic_files import (
    atomic_write,
    check_folder,
    check_own,
    check_readable,
    check_writable,
    is_leftover,
    own_file,
    partial_of,
    remove_leftovers,
    replace_together,
    staged,
    write_new_text,
    write_text,
)


def test_a_file_is_written_whole_into_new_folders(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_text(path, "a\r\n\U0001f635")
    assert path.read_bytes() == "a\r\n\U0001f635".encode()
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


def test_text_that_cannot_be_encoded_leaves_the_old_file(tmp_path, refused):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with refused():
        write_text(path, "\ud800")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("old", [None, "old"])
def test_text_that_cannot_be_encoded_is_told_of_a_new_file(tmp_path, old, refused):
    path = tmp_path / "a.txt"
    if old is not None:
        path.write_text(old)
    with refused():
        write_new_text(path, "\ud800")
    assert contents(tmp_path) == ({} if old is None else {"a.txt": old})


def test_a_file_gets_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "a.txt"
    with atomic_write(path, keep=True) as write:
        write("one\n")
        assert not path.exists()
        write("two")
    assert path.read_text() == "one\ntwo"
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, InputError("bad")])
def test_what_was_written_before_an_error_is_kept_where_asked(tmp_path, error):
    path = tmp_path / "a.txt"
    for keep, first, left in ((True, "one", True), (True, "", False), (False, "one", False)):
        with suppress(KeyboardInterrupt, InputError), atomic_write(path, keep=keep) as write:
            write(first)
            raise error
        assert partial_of(path).exists() is left
        assert not path.exists()
        partial_of(path).unlink(missing_ok=True)


def test_an_error_of_what_is_written_is_not_the_disks(tmp_path):
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "a.txt"):
        raise FileNotFoundError("of the reader")


def test_a_file_where_a_folder_should_be_is_told(tmp_path, refused):
    (tmp_path / "a").write_text("x")
    with refused(error=TrignerError):
        write_text(tmp_path / "a" / "b.txt", "x")


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


def replace_with(folder, **texts):
    replace_together({folder / n: lambda to, t=t: to.write_text(t) for n, t in texts.items()})


def test_several_files_are_replaced_at_once(tmp_path):
    (tmp_path / "other").write_text("mine")
    replace_with(tmp_path, a="old a")
    replace_with(tmp_path, a="new a", b="new b")
    assert contents(tmp_path) == {"a": "new a", "b": "new b", "other": "mine"}


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_writer_that_fails_leaves_all_old_files(tmp_path, error):
    replace_with(tmp_path, a="old a", b="old b")

    def fail(to):
        to.write_text("half")
        raise error

    with pytest.raises(error):
        replace_together({tmp_path / "a": lambda to: to.write_text("new"), tmp_path / "b": fail})
    assert contents(tmp_path) == {"a": "old a", "b": "old b"}


@pytest.mark.parametrize("old", [{}, {"a": "old a"}, {"a": "old a", "b": "old b"}])
def test_a_disk_that_fails_at_any_rename_leaves_all_old_files(tmp_path, monkeypatch, old):
    replace, new = os.replace, {"a": "new a", "b": "new b"}
    for failing in count(1):
        replace_with(tmp_path, **old)
        calls = count(1)

        def full(source, target, calls=calls, failing=failing):
            if next(calls) == failing:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            replace(source, target)

        with monkeypatch.context() as patch, suppress(OSError):
            patch.setattr(os, "replace", full)
            replace_with(tmp_path, **new)
            break
        assert contents(tmp_path) == old
    assert failing > len(new)
    assert contents(tmp_path) == new


def test_a_crash_between_renames_leaves_no_file_that_stands_for_the_whole(tmp_path, monkeypatch):
    replace_with(tmp_path, part="old", whole="old")
    replace, calls = os.replace, count(1)

    def killed(source, target):
        if next(calls) > 2:  # nothing is undone either: the process has gone
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        replace_with(tmp_path, part="new", whole="new")
    assert "whole" not in contents(tmp_path)


RANDOM = "0123456789abcdef"
"""Of a temporary name."""


def test_files_that_are_nearly_called_as_those_replaced_are_left_alone(tmp_path):
    mine = dict.fromkeys(("a.partial", "a.previous", "b.previous", ".a.previous"), "mine")
    for name in mine:
        (tmp_path / name).write_text("mine")
    for n in range(2):
        replace_with(tmp_path, a=f"a {n}", b=f"b {n}")
    assert contents(tmp_path) == {**mine, "a": "a 1", "b": "b 1"}


def test_what_a_killed_process_left_goes_when_files_are_replaced(tmp_path):
    """The old files, which may be all that there is, not before the new ones are in place."""
    new, old = (tmp_path / f".a.{RANDOM}{ending}" for ending in (".tmp", ".previous"))
    for left in (new, old):
        left.write_text("left")

    def fail(to):
        assert not new.exists()
        raise OSError

    with suppress(OSError):
        replace_together({tmp_path / "a": fail})
    assert contents(tmp_path) == {old.name: "left"}
    replace_with(tmp_path, a="new")
    assert contents(tmp_path) == {"a": "new"}


def planted(folder):
    """A file that nobody may touch, and links to it where temporary files might be."""
    victim = folder / "victim"
    victim.write_text("mine")
    for name in ("a.txt.partial", ".a.txt.tmp", "a.txt.tmp"):
        (folder / name).symlink_to(victim)
    return victim


def test_a_link_that_was_put_beside_a_file_is_not_followed(tmp_path):
    victim = planted(tmp_path)
    write_text(tmp_path / "a.txt", "new")
    with suppress(InputError), atomic_write(tmp_path / "b.txt", keep=True) as write:
        (tmp_path / "b.txt.partial").symlink_to(victim)
        write("one")
        raise InputError("bad")
    replace_with(tmp_path, **{"a.txt": "newer"})
    assert victim.read_text() == "mine"
    assert (tmp_path / "a.txt").read_text() == "newer"
    assert (tmp_path / "b.txt.partial").read_text() == "one"
    assert not (tmp_path / "b.txt.partial").is_symlink()


def test_a_name_that_is_taken_is_not_written_to(tmp_path, monkeypatch, refused):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    monkeypatch.setattr(atomic_files, "_temporary_name", lambda target: tmp_path / "foreseen")
    (tmp_path / "foreseen").symlink_to(victim)
    with refused(error=TrignerError):
        write_text(tmp_path / "a.txt", "new")
    assert victim.read_text() == "mine"
    assert not (tmp_path / "a.txt").exists()


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_followed_and_stays_one(tmp_path, exists):
    target, link = tmp_path / "far" / "a.txt", tmp_path / "link"
    target.parent.mkdir()
    if exists:
        target.write_text("old")
        target.chmod(0o640)
    link.symlink_to("far/a.txt")
    with staged(link, overwrite=True) as path:
        path.write_text("new")
    assert (link.is_symlink(), target.read_text()) == (True, "new")
    write_text(link, "newer")
    assert (link.is_symlink(), target.read_text()) == (True, "newer")
    if exists:
        assert target.stat().st_mode & 0o777 == 0o640
    assert {path.name for path in tmp_path.rglob("*")} == {"far", "a.txt", "link"}


def test_links_in_a_circle_are_refused(tmp_path, refused):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for write in (lambda: write_text(tmp_path / "a", "x"), lambda: check_writable(tmp_path / "a")):
        with refused():
            write()


@pytest.mark.parametrize("hard_links", [True, False])
@pytest.mark.parametrize("open_file", [atomic_write, staged])
def test_a_file_that_appears_meanwhile_is_left_as_it_is(
    tmp_path, monkeypatch, open_file, hard_links, refused
):
    if not hard_links:

        def link(*given, **named):
            raise OSError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", link)
    path = tmp_path / "a.txt"

    def late():
        with open_file(path, overwrite=False) as out:
            out.write_text("new") if isinstance(out, Path) else out("new")
            path.write_text("theirs")

    with refused(error=TrignerError):
        late()
    assert contents(tmp_path) == {"a.txt": "theirs"}
    path.unlink()
    with open_file(path, overwrite=False) as out:
        out.write_text("new") if isinstance(out, Path) else out("new")
    assert contents(tmp_path) == {"a.txt": "new"}


@pytest.mark.parametrize("open_file", [atomic_write, staged])
def test_a_fifo_is_written_into_and_stays_one(tmp_path, open_file):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read = []
    reader = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    reader.start()
    check_writable(fifo)
    with open_file(fifo, overwrite=False) as out:
        if isinstance(out, Path):
            write_text(out, "new")
        else:
            out("ne")
            out(b"w")
    reader.join()
    assert read == [b"new"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert [path.name for path in tmp_path.iterdir()] == ["fifo"]


def test_devices_stay_devices():
    write_text(Path(os.devnull), "x")
    with staged(Path(os.devnull)) as path:
        write_text(path, "x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_what_a_device_has_no_room_for_is_told_with_its_piece():
    told = pytest.raises(TrignerError, match="/dev/full: No space left")
    with suppress(TrignerError), atomic_write(Path("/dev/full")) as write, told:
        write("not just buffered")


def test_an_open_file_is_written_into_behind_what_it_has(tmp_path):
    with (tmp_path / "log").open("w") as file:
        file.write("before ")
        file.flush()
        write_text(Path(f"/dev/fd/{file.fileno()}"), "after")
    assert contents(tmp_path) == {"log": "before after"}


def test_where_nothing_can_be_written_is_told(tmp_path, monkeypatch, refused):
    (tmp_path / "file").write_text("")
    with refused():
        check_writable(tmp_path / "file" / "new" / "a.txt")
    check_writable(tmp_path / "new" / "folder" / "a.txt")
    check_writable(tmp_path / "file")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        with refused():
            check_writable(tmp_path / "socket")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with refused():
        check_writable(tmp_path / "new" / "a.txt")
    with refused():
        check_writable(Path(os.devnull))


def test_a_name_that_is_too_long_is_told(tmp_path, refused):
    for check in (check_writable, check_folder):
        with refused():
            check(tmp_path / ("x" * 300))


def test_what_is_there_and_no_folder_is_told(tmp_path, refused):
    check_folder(tmp_path)
    check_folder(tmp_path / "new" / "folder")
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to("nowhere")
    os.mkfifo(tmp_path / "fifo")
    for path in (*(tmp_path / name for name in ("file", "link", "fifo")), Path(os.devnull)):
        with refused() as raised:
            check_folder(path)
        assert raised.value.path == path
    with refused():
        check_folder(Path(os.devnull, "work"))


def test_leftovers_of_a_killed_writer_are_found_by_their_name(tmp_path):
    path = tmp_path / "a[1].txt"
    hidden = f".a[1].txt.{RANDOM}.tmp"
    others = {f".a1.txt.{RANDOM}.tmp", "a.tmp", ".a[1].txt.mine.tmp"}
    for name in (hidden, f"{hidden}.partial", *others):
        (tmp_path / name).write_text("")
    remove_leftovers(path)
    assert set(contents(tmp_path)) == others


def test_leftovers_in_a_folder(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / f".new.{RANDOM}.tmp" / "deep").mkdir(parents=True)  # a folder of `staged_folder`
    (tmp_path / f".new.{RANDOM}.tmp" / "deep" / f".c.{RANDOM}.tmp").write_text("")
    for name in ("a.ann", f".a.ann.{RANDOM}.tmp", f"deep/.b.{RANDOM}.tmp.csv", "deep/.b.own.tmp"):
        (tmp_path / name).write_text("")
    remove_leftovers(tmp_path)
    assert {own.name for own in tmp_path.rglob("*")} == {"a.ann", "deep", ".b.own.tmp"}


def test_what_is_staged_is_a_new_file_and_no_link_is_followed(tmp_path, monkeypatch, refused):
    """Whoever foresees the name and puts a link there gets an error, not a file written for him."""
    path, theirs = tmp_path / "new" / "a.txt", tmp_path / "theirs"
    with staged(path) as temporary:
        assert (temporary.is_file(), temporary.stat().st_size) == (True, 0)
        temporary.write_text("x")
    assert path.read_text() == "x"
    theirs.write_text("kept")
    monkeypatch.setattr(atomic_files.secrets, "token_hex", lambda _: "00")
    temporary.parent.joinpath(".a.txt.00.tmp.txt").symlink_to(theirs)
    with refused(error=TrignerError), staged(path) as temporary:
        temporary.write_text("y")
    assert (theirs.read_text(), path.read_text()) == ("kept", "x")


def failed_write(file):
    raise TrignerError(f"cannot write {file}: No space left on device")


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda file: write_text(file, "\ud800"), "{}: cannot be encoded as UTF-8: surrogates"),
        (failed_write, "cannot write {}: No space left on device"),
    ],
)
def test_what_fails_of_a_staged_file_is_told_of_the_one_it_becomes(tmp_path, write, message):
    path = tmp_path / "a.jsonl"
    with pytest.raises(TrignerError) as failed, staged(path) as temporary:
        write(temporary)
    assert str(failed.value).startswith(message.format(path))
    for other in (TrignerError("the model fails"), InputError("is bad", path="b.txt", line=2)):
        with pytest.raises(TrignerError) as failed, staged(path):
            raise other
        assert failed.value is other
    assert contents(tmp_path) == {}


def test_long_names_have_temporary_ones(tmp_path):
    name = "ä" * 126
    write_text(tmp_path / name, "x")
    assert contents(tmp_path) == {name: "x"}


def test_what_is_staged_has_the_ending_of_its_file(tmp_path):
    for name in ("a.parquet", "a", "a." + "x" * 250):
        with staged(tmp_path / name) as path:
            assert path.suffix == {"a.parquet": ".parquet"}.get(name, ".tmp")
            path.write_text("x")
            assert is_leftover(path)
        assert (tmp_path / name).read_text() == "x"


def test_what_could_be_read_without_end_is_refused(tmp_path, refused):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "socket"))
        for path in (*(tmp_path / name for name in ("fifo", "link", "socket")), Path("/dev/zero")):
            with refused() as raised:
                check_readable(path)
            assert raised.value.path == path
    for path in (tmp_path, tmp_path / "none", Path(__file__), Path("/dev/stdin")):
        check_readable(path)
    read, write = os.pipe()
    check_readable(Path(f"/dev/fd/{read}"))  # what a shell's <(command) is
    os.close(read)
    os.close(write)


def test_own_files_are_no_links_and_no_fifos(tmp_path, refused):
    (tmp_path / "theirs").write_text("theirs")
    for name, target in (("link", "theirs"), ("loop", "loop"), ("folder", "."), ("new", "none")):
        (tmp_path / name).symlink_to(target)
        with refused():
            check_own(tmp_path / name)
    os.mkfifo(tmp_path / "fifo")
    for name in ("link", "new", "fifo"):
        with refused(), open(tmp_path / name, "ab", opener=own_file):
            pass
    assert (tmp_path / "theirs").read_text() == "theirs"
    assert not (tmp_path / "none").exists()
    for text in ("one ", "two"):
        with open(tmp_path / "own", "a", opener=own_file) as file:
            file.write(text)
    assert (tmp_path / "own").read_text() == "one two"
    check_own(tmp_path)
    check_own(tmp_path / "absent")


def test_a_link_that_is_put_there_after_the_look_is_not_followed(tmp_path, monkeypatch, refused):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "link").symlink_to("theirs")
    monkeypatch.setattr(atomic_files, "check_own", lambda path: None)
    link = tmp_path / "link"
    with refused(error=OSError), open(link, "wb", opener=own_file):
        pass
    assert (tmp_path / "theirs").read_text() == "theirs"
