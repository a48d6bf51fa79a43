"""Files of a folder are replaced together, and not before all of the new ones are there."""

from __future__ import annotations

import os

import pytest

from trigner.cli.staged_folder import staged_folder
from trigner.errors import InputError, TrignerError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "train").mkdir()
    for name in ("a.txt", "b.txt", "train/c.txt"):
        (tmp_path / name).write_text("old")
    return tmp_path


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in folder.rglob("*")
        if path.is_file()
    }


def replace(folder, *names):
    old = [path for path in folder.rglob("*") if path.is_file()]
    with staged_folder(folder, old) as new:
        for name in names:
            (new / name).parent.mkdir(exist_ok=True)
            (new / name).write_text("new")


def test_what_was_not_written_again_goes_with_its_folders(folder):
    replace(folder, "a.txt", "test/d.txt")
    assert files(folder) == {"a.txt": "new", "test/d.txt": "new"}
    assert sorted(path.name for path in folder.iterdir()) == ["a.txt", "test"]


@pytest.mark.parametrize("error", [InputError("bad"), TrignerError("full"), KeyboardInterrupt()])
def test_nothing_changes_when_writing_fails(folder, error):
    before = files(folder)

    def fail():
        with staged_folder(folder, [folder / "a.txt"]) as new:
            (new / "a.txt").write_text("new")
            raise error

    with pytest.raises(type(error)):
        fail()
    assert files(folder) == before
    assert len(list(folder.iterdir())) == 3


def test_errors_name_the_places_of_files(folder, refused):
    with pytest.raises(InputError) as raised, staged_folder(folder, []) as new:
        raise InputError("bad", path=new / "a.txt", line=3)
    assert str(raised.value) == f"{folder / 'a.txt'}:3: bad"
    with pytest.raises(TrignerError) as failed, staged_folder(folder, []) as new:
        raise TrignerError(f"cannot write {new / 'a.txt'}: full")
    assert str(failed.value) == f"cannot write {folder / 'a.txt'}: full"
    with refused("other"), staged_folder(folder, []):
        raise InputError("bad", path="other")


def test_a_file_in_the_way_of_a_folder_goes_and_a_folder_is_left(folder, refused):
    replace(folder, "a.txt/d.txt")
    assert files(folder) == {"a.txt/d.txt": "new"}
    with refused("a.txt"):
        replace(folder, "a.txt")
    assert files(folder) == {"a.txt/d.txt": "new"}


def test_a_folder_that_cannot_be_written_is_found_before_anything_is_replaced(
    folder, monkeypatch, refused
):
    before = files(folder)
    monkeypatch.setattr(os, "access", lambda path, _: path.name != "train")
    with refused("train"):
        replace(folder, "a.txt", "train/c.txt")
    assert files(folder) == before


def test_a_link_is_replaced_and_what_it_leads_to_is_kept(folder, tmp_path_factory):
    theirs = tmp_path_factory.mktemp("theirs") / "a.txt"
    theirs.write_text("theirs")
    (folder / "a.txt").unlink()
    (folder / "a.txt").symlink_to(theirs)
    replace(folder, "a.txt")
    assert files(folder) == {"a.txt": "new"}
    assert theirs.read_text() == "theirs"


def test_two_names_of_one_file_are_one_file(folder):
    """As where names that differ in case are the same."""
    with staged_folder(folder, [folder / "b.txt"]) as new:
        (new / "a.txt").write_text("new")
        (folder / "b.txt").unlink()
        (folder / "b.txt").hardlink_to(new / "a.txt")
    assert files(folder)["b.txt"] == "new"
