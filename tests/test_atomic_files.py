"""New files whole, old files as they were."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from itertools import count

import pytest

from trigner.atomic_files import atomic_write, partial_of, replace_together, write_text
from trigner.errors import InputError, TrignerError


def test_a_file_is_written_whole_into_new_folders(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_text(path, "a\r\n\U0001f635")
    assert path.read_bytes() == "a\r\n\U0001f635".encode()
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


def test_text_that_cannot_be_encoded_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(InputError, match="UTF-8"):
        write_text(path, "\ud800")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


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


def test_a_file_where_a_folder_should_be_is_told(tmp_path):
    (tmp_path / "a").write_text("x")
    with pytest.raises(TrignerError, match="cannot write"):
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
