from __future__ import annotations

import errno
import json
import os
from itertools import count

import pytest

from trigner.errors import TrignerError
from trigner.machine.atomic_files import replace_together
from trigner.models.folder import (
    DESCRIPTION,
    Description,
    check_files,
    describe_again,
    fingerprint,
    hash_of_file,
    need,
    read_description,
    save_model,
)

DESCRIBED = Description(system="w2ner", labels=("Ä", "B"), files={})
FILES = {"a": b"1", "deep/b": b"2"}


def writers(files):
    return {name: lambda path, own=own: path.write_bytes(own) for name, own in files.items()}


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def full(*_args, **_options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def folder(tmp_path):
    """A folder that was saved."""
    save_model(tmp_path / "model", DESCRIBED, writers(FILES))
    return tmp_path / "model"


def write(folder, description):
    (folder / "trigner.json").write_text(json.dumps(description), "utf-8")


def test_descriptions_come_back_with_the_hashes_of_their_files(tmp_path):
    described = Description.model_validate(
        {
            "system": "mine",
            "package": "own-system",
            "labels": ["Ä"],
            "model": {"window": 3},
            "state": {"known": ["é"]},
            "temperature": 1.5,
            "files": {},
            "provenance": {"settings": {"seed": [1, "é"]}, "of another version": {"kept": 1}},
            "of another version": "kept",
        }
    )
    saved = save_model(tmp_path, described, writers(FILES))
    assert {*saved.files} == {*FILES}
    assert saved.files["a"] == hash_of_file(tmp_path / "a")
    assert saved == described.model_copy(update={"files": saved.files})
    assert read_description(tmp_path) == saved
    assert saved.all_files == ("a", "deep/b", "trigner.json")
    assert not saved.is_exported
    assert sorted(contents(tmp_path)) == ["a", "deep/b", "trigner.json"]


def test_a_description_can_be_written_again(folder, monkeypatch):
    """A process that is killed at any moment leaves a whole one; what one left before goes."""
    before = read_description(folder)
    other = before.model_copy(update={"temperature": 2.0})
    replace = os.replace

    def watched(source, target):
        assert read_description(folder) == before
        replace(source, target)
        assert read_description(folder) == other

    (folder / ".trigner.json.0123456789abcdef.tmp").touch()
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", watched)
        describe_again(folder, other)
    assert read_description(folder) == other
    check_files(folder, other, FILES)
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(
    "content",
    [
        b"[]",
        b'{"model": "someone else\'s"}',
        b"{",
        b"\xff",
        b'{"format": 7, "format": 7}',
        b'{"format": 0}',
        b'{"format": 6, "trigner": "0.2.0"}',
        b'{"format": 2}',
        b'{"format": "1"}',
        b'{"format": 1.0}',
        b'{"format": 1}',
    ],
)
def test_what_is_not_a_description(tmp_path, content, refused):
    (tmp_path / "trigner.json").write_bytes(content)
    with refused(tmp_path / "trigner.json"):
        read_description(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"labels": "ADR"},
        {"labels": ["ADR", 3]},
        {"labels": []},
        {"labels": ["A", "A"]},
        {"labels": [""]},
        {"temperature": 0},
        {"temperature": float("nan")},
        {"provenance": 3},
        {"runtime": {}},
        {"files": {"../a": "1"}},
        {"files": {"/a": "1"}},
        {"files": {"trigner.json": "1"}},
    ],
)
def test_a_damaged_description_names_what_is_wrong(folder, changes, refused):
    write(folder, {**json.loads((folder / "trigner.json").read_text("utf-8")), **changes})
    with refused(folder / "trigner.json"):
        read_description(folder)


def test_folders_that_are_none(tmp_path, refused):
    with refused("none"):
        read_description(tmp_path / "none")
    with refused(tmp_path):
        read_description(tmp_path)


def test_files_that_are_missing_or_others(folder, refused):
    description = read_description(folder)
    check_files(folder, description, FILES)
    need(folder, ["a"])
    with refused("model"):
        need(folder, ["a", "c"])
    (folder / "c").write_bytes(b"3")
    with refused("trigner.json"):
        check_files(folder, description, ["a", "c"])
    (folder / "a").write_bytes(b"2")
    with refused("a"):
        check_files(folder, description)
    (folder / "deep" / "b").unlink()
    with refused("model"):
        check_files(folder, description)


def test_all_files_are_replaced_or_none(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    replace_together({path: lambda to: to.write_text("old") for path in paths})

    def fail(to):
        to.write_text("half")
        raise OSError

    with pytest.raises(OSError):  # noqa: PT011
        replace_together({paths[0]: lambda to: to.write_text("new"), paths[1]: fail})
    assert [path.read_text() for path in paths] == ["old", "old"]
    assert sorted(tmp_path.iterdir()) == paths


OTHERS = {"a": b"other 1", "deep/b": b"other 2", "c": b"other 3"}


def test_a_disk_that_fills_up_while_renaming_leaves_the_old_model(folder, monkeypatch):
    """Whichever renaming it is that fails, until there is none left to fail."""
    before, rename = contents(folder), os.replace
    for failing in count():
        numbers = count()

        def call(*args, failing=failing, numbers=numbers):
            return full() if next(numbers) == failing else rename(*args)

        monkeypatch.setattr(os, "replace", call)
        try:
            save_model(folder, DESCRIBED, writers(OTHERS))
        except TrignerError as error:
            failed = str(error)
        else:
            break
        assert "No space left on device" in failed
        assert contents(folder) == before
    assert {**OTHERS, "trigner.json": b""}.keys() == contents(folder).keys()
    assert contents(folder)["c"] == b"other 3"


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("stop", [full, KeyboardInterrupt])
def test_what_ends_while_writing_leaves_the_old_model(folder, name, stop):
    before = contents(folder)

    def half(path):
        path.write_bytes(b"half of it")
        raise stop() if stop is KeyboardInterrupt else full()

    expected = KeyboardInterrupt if stop is KeyboardInterrupt else TrignerError
    with pytest.raises(expected):
        save_model(folder, DESCRIBED, {**writers(OTHERS), name: half})
    assert contents(folder) == before


def test_a_disk_that_is_full_leaves_no_part_of_a_first_model(tmp_path, refused):
    with refused(error=TrignerError):
        save_model(tmp_path / "new", DESCRIBED, {**writers(FILES), "c": full})
    assert contents(tmp_path / "new") == {}


def test_a_place_that_cannot_be_written(tmp_path, refused):
    (tmp_path / "file").write_text("in the way", "utf-8")
    with refused(error=TrignerError):
        save_model(tmp_path / "file", DESCRIBED, writers(FILES))
    with refused(error=TrignerError):
        describe_again(tmp_path / "file", DESCRIBED)
    assert (tmp_path / "file").read_text("utf-8") == "in the way"


def test_other_files_of_the_folder_are_left_alone(folder):
    (folder / "notes.txt").write_text("mine", "utf-8")
    save_model(folder, DESCRIBED, writers(OTHERS))
    assert sorted(contents(folder)) == ["a", "c", "deep/b", "notes.txt", "trigner.json"]


@pytest.mark.parametrize("name", ["*", ".git/config", "a/../b", "/etc/x", "C:/x", "", "README.md"])
def test_files_that_are_not_a_models_are_refused(folder, name, refused):
    path = folder / DESCRIPTION
    content = json.loads(path.read_text())
    content["files"] = {**content["files"], name: "0"}
    path.write_text(json.dumps(content))
    with refused("trigner.json"):
        read_description(folder)


def test_a_fingerprint_is_that_of_all_files(tmp_path, refused):
    for folder in (tmp_path / "one", tmp_path / "other"):
        save_model(folder, DESCRIBED, writers(FILES))
    before = fingerprint(tmp_path / "one")
    assert fingerprint(tmp_path / "other") == before
    (tmp_path / "other/deep/b").write_bytes(b"3")
    assert fingerprint(tmp_path / "other") != before
    (tmp_path / "other/a").unlink()
    with refused("other"):
        fingerprint(tmp_path / "other")


def test_a_description_says_what_the_model_knows():
    def about(**provenance):
        return Description(
            system="w2ner", labels=("ADR", "Drug"), files={}, provenance=provenance
        ).about

    assert about() == "The model looks for ADR, Drug."
    data = "drug labels: SPL, 2018; A. et al.; posts: PsyTAR; and others"
    assert "and was trained on drug labels and posts: on other texts" in about(data=data)
    assert "and was trained on notes: on other texts" in about(data="notes")
    assert "and was trained on 1,200 documents: on other texts" in about(train={"documents": 1200})
    many = Description(system="w2ner", labels=tuple(map(str, range(12))), files={})
    assert many.about.endswith("8, 9 ....")
