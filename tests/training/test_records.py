from __future__ import annotations

import pytest

from trigner.errors import TrignerError
from trigner.training.records import (
    differences,
    finish_record,
    read_record,
    record_to_resume,
    write_record,
)


def test_a_record_comes_back(tmp_path):
    path = tmp_path / "deep" / "run.json"
    write_record(path, {"a": [1, None], "é": {"b": 0.1}})
    assert read_record(path) == {"a": [1, None], "é": {"b": 0.1}}
    assert [file.name for file in path.parent.iterdir()] == ["run.json"]


@pytest.mark.parametrize("text", ["", "{", "3", "[1]"])
def test_what_is_no_record_is_told(tmp_path, text, refused):
    (tmp_path / "run.json").write_text(text)
    with refused():
        read_record(tmp_path / "run.json")


def test_a_place_that_cannot_be_written(tmp_path, refused):
    (tmp_path / "file").write_text("")
    with refused(error=TrignerError):
        write_record(tmp_path / "file" / "run.json", {})


@pytest.mark.parametrize("lacking", ["finished", "history"])
def test_a_finished_training_has_its_history(tmp_path, lacking, refused):
    path = tmp_path / "run.json"
    write_record(path, {"settings": {"seed": 1}})
    finish_record(tmp_path, 2, [{"epoch": 2, "eval_f1": 0.5}])
    assert record_to_resume(tmp_path, {"settings": {"seed": 1}})["finished"] == 2
    write_record(path, {n: value for n, value in read_record(path).items() if n != lacking})
    with refused():
        record_to_resume(tmp_path, {"settings": {"seed": 1}})


def test_differences_are_named():
    before = {"seed": 1, "net": {"size": 2, "deep": {"x": 1}}, "old": None}
    now = {"seed": 1, "net": {"size": 3, "deep": {"x": 1, "y": 2}}, "new": [1]}
    assert differences(before, now) == {"net.size", "net.deep.y", "new"}
    assert differences(before, before) == set()
