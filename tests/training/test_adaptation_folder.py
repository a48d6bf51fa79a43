from __future__ import annotations

import pytest

from trigner.errors import InputError
from trigner.training.adaptation_folder import prepare, write
from trigner.training.records import write_record

IDENTITY = {"encoder": "minilm", "settings": {"epochs": 1}, "data": "abc"}


def test_a_new_folder_is_ready_and_a_full_one_refused(tmp_path):
    assert prepare(tmp_path / "new", IDENTITY, False) is None
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("")
    with pytest.raises(InputError):
        prepare(tmp_path / "full", IDENTITY, False)


def test_resuming_with_other_settings_is_refused(tmp_path):
    run = tmp_path / "a" / "checkpoints" / "run.json"
    write_record(run, IDENTITY)
    assert prepare(tmp_path / "a", IDENTITY, True) is None
    with pytest.raises(InputError):
        prepare(tmp_path / "a", {**IDENTITY, "data": "other"}, True)


@pytest.mark.parametrize("name", ["partial", "checkpoints"])
@pytest.mark.parametrize("resume", [False, True])
def test_a_link_where_it_works_is_refused(tmp_path, name, resume):
    for folder in ("theirs", "out"):
        (tmp_path / folder).mkdir()
    (tmp_path / "theirs" / "config.json").write_text("theirs")
    (tmp_path / "out" / name).symlink_to(tmp_path / "theirs")
    with pytest.raises(InputError, match=f"out/{name}: is a link"):
        prepare(tmp_path / "out", IDENTITY, resume)
    assert (tmp_path / "theirs" / "config.json").read_text() == "theirs"


def test_a_link_that_appears_meanwhile_is_refused(tmp_path):
    for folder in ("theirs", "out"):
        (tmp_path / folder).mkdir()
    (tmp_path / "out" / "partial").symlink_to(tmp_path / "theirs")
    with pytest.raises(InputError, match="out/partial: is a link"):
        write(tmp_path / "out", None, None)
