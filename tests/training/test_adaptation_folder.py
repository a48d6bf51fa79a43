from __future__ import annotations

import pytest

from trigner.errors import InputError
from trigner.training.adaptation_folder import prepare
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
