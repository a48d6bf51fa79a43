from __future__ import annotations

import pytest

from trigner.errors import InputError
from trigner.studies.lines import read_yaml


def located(tmp_path, text):
    (tmp_path / "a.yaml").write_text(text)
    return read_yaml(tmp_path / "a.yaml")


def test_values_and_their_lines(tmp_path):
    found = located(tmp_path, "# first\na: 1\nb:\n  c: [none, 0.5,\n    true]\n  'd.e': x\n")
    assert found.data == {"a": 1, "b": {"c": ["none", 0.5, True], "d.e": "x"}}
    assert found.lines[("b",)] == 3
    assert found.lines[("b", "c", 2)] == 5
    assert found.lines[("b", "d.e")] == 6
    assert str(found.error("wrong", ("b", "c"))).endswith("a.yaml:4: wrong")
    assert found.error("wrong", ("b", "zzz", "y")).line == 3
    assert found.error("wrong", ("zzz",)).line == 1


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\na: 2\n", 2, "duplicate key 'a'"),
        ("a:\n  b: 1\n  c: [\n", 4, "is not valid YAML"),
        ("- 1\n", 1, "must be a mapping"),
        ("", 1, "must be a mapping"),
    ],
)
def test_what_cannot_be(tmp_path, text, line, message):
    with pytest.raises(InputError, match=message) as caught:
        located(tmp_path, text)
    assert caught.value.line == line
