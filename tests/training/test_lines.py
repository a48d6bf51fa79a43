from __future__ import annotations

import os
from pathlib import Path

import pytest

from trigner.errors import InputError
from trigner.training.lines import read_yaml, yaml_value


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


LAUGHS = "a: &n0 [x, x]\n" + "".join(
    f"n{n}: &n{n} [{', '.join([f'*n{n - 1}'] * 10)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\na: 2\n", 2),
        ("a:\n  b: 1\n  c: [\n", 4),
        ("- 1\n", 1),
        ("a: 1\nb: 2001-99-99\n", 2),
        ("a: 2001-01-01\n", 1),
        ("a: !!python/name:os.system x\n", 1),
        (f"a: {'9' * 5000}\n", 1),
        ("a: !!int x\n", 1),
        ("a: !!float ''\n", 1),
        ("a: !!bool ''\n", 1),
        ("? [b]\n: 1\n", 1),
        ("a: &a [*a]\n", 1),
        (LAUGHS, 1),
        ("a: " + "[" * 5000, None),
    ],
)
def test_what_cannot_be(tmp_path, text, line, refused):
    with refused() as caught:
        located(tmp_path, text)
    assert caught.value.line == line


def test_an_empty_file_has_nothing_in_it(tmp_path):
    assert located(tmp_path, "# later\n").data == {}


@pytest.mark.parametrize(
    ("text", "value"), [("", None), ("[1, a]", [1, "a"]), ("{b: 0.5}", {"b": 0.5}), ("x", "x")]
)
def test_single_values(text, value):
    assert yaml_value(text) == value


@pytest.mark.parametrize("text", ["[", "2001-99-99", "&a [*a]", "!!int x", "[" * 3000, "{[a]: 1}"])
def test_what_is_no_value(text):
    with pytest.raises(InputError) as caught:
        yaml_value(text)
    assert caught.value.path is None


def test_a_file_of_another_encoding_is_named_with_what_to_do(tmp_path, refused):
    (tmp_path / "a.yaml").write_bytes(b"a: 1\nb: 2 # \xff")
    with refused():
        read_yaml(tmp_path / "a.yaml")


def test_settings_may_come_from_a_command_and_not_from_a_fifo(tmp_path, refused):
    os.mkfifo(tmp_path / "a.yaml")
    with refused():
        read_yaml(tmp_path / "a.yaml")
    read, write = os.pipe()
    os.write(write, b"a: 1")
    os.close(write)
    assert read_yaml(Path(f"/dev/fd/{read}")).data == {"a": 1}
    os.close(read)
