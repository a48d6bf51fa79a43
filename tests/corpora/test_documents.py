"""JSON with lines, and ids that are unique across files."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.corpora import read
from trigner.corpora.documents import (
    files,
    has_key,
    name_below,
    peek,
    place,
    read_files,
    values,
    values_of_lines,
    write_list,
)
from trigner.corpora.reading import Reading
from trigner.mentions import Document


def write(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


VALUES = st.recursive(
    st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.just("k"), inner),
    max_leaves=5,
)


@given(st.lists(VALUES, max_size=4), st.sampled_from([None, 0, 2]), st.booleans())
def test_lists_are_what_the_json_module_reads(tmp_path_factory, items, indent, escaped):
    path = tmp_path_factory.getbasetemp() / "list.json"
    write(path, json.dumps(items, indent=indent, ensure_ascii=escaped))
    found = list(values(path, Reading()))
    assert [value for _, value in found] == items
    if indent is not None and all(isinstance(v, int | None) for v in items):
        assert [line for line, _ in found] == list(range(2, len(items) + 2))


def test_lines_are_counted_in_lists(tmp_path):
    path = write(tmp_path / "a.json", '\n[\n{"a":\n1},\n\n{"b": 2}, {"c": 3}\n]\n')
    assert list(values(path, Reading())) == [(3, {"a": 1}), (6, {"b": 2}), (6, {"c": 3})]


def test_json_lines_keep_their_numbers(tmp_path):
    path = write(tmp_path / "a.jsonl", '\ufeff{"a": 1}\r\n\r\n{"b": "\u2028"}\n')
    assert list(values(path, Reading())) == [(1, {"a": 1}), (3, {"b": "\u2028"})]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", [0, 2])
def test_objects_over_several_lines_are_read(tmp_path, indent, end):
    items = [{"a": [1, {"b": "x"}]}, {"c": {}}]
    text = "\n".join(json.dumps(item, indent=indent) for item in items) + "\n"
    path = write(tmp_path / "a.json", "\ufeff\n" + text.replace("\n", end))
    found = list(values(path, Reading()))
    assert [value for _, value in found] == items
    assert [line for line, _ in found] == [2, 10]
    (whole,) = values(write(path, '{"a": 1,\n"b": 2}'), Reading())
    assert whole == (1, {"a": 1, "b": 2})


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", None),
        ("\ufeff \n", None),
        ("[1,\n2,\n", 3),
        ("[1,\n2\n3]", 3),
        ("[1,\n]", 2),
        ("[1,\n2]\n[3]", 2),
        ('[\n{"a":\nb}]', 3),
        ('{"a": 1}\n{"b"\n', 2),
        ('{"a": 1} {"b": 1}\n', 1),
        ('{\n"a": 1\n', 3),
        ('{\n"a": 1\n}\n{\n"b"}', 5),
        ('{\n"a": NaN\n}', 1),
        ('{"a": 1\n{"a": 2}\n', 1),
        ("[" * 100_000, 1),
        ("[1,\n" + "9" * 5000 + "]", 2),
        ('{"a": 1}\n{"b": [1e999]}', 2),
        ('{"a": 1}\n{"b": -1e999}', 2),
        ('[1,\n{"b": NaN}]', 2),
        ('[1,\n{"b": -Infinity}]', 2),
        (f"[1,\n{'9' * 400}.0]", 2),
        ('{"a": 1}\n{"b": "\\ud83d"}', 2),
        ('[1,\n{"b": "\\ud83d"}]', 2),
        ('{"a":\n1}\n{"b":\n"\\ud83d"}', 3),
        (b"[\n\xff]", 2),
    ],
)
def test_what_is_no_json_is_named_with_its_line(tmp_path, text, line, refused):
    path = write(tmp_path / "a.json", text)
    with refused(path, line):
        list(values(path, Reading()))


def test_lines_are_read_as_they_are_asked_for():
    taken = []
    lines = (taken.append(n) or b'{"a": 1}\n' for n in range(9))
    assert next(values_of_lines(lines, "x", Reading())) == (1, {"a": 1})
    assert taken == [0]


@pytest.mark.parametrize("items", [[], ["1"], ["1", '{"a": 2}']])
def test_lists_are_written_as_their_items_come(tmp_path, items):
    path = tmp_path / "a.json"
    write_list(iter(items), path)
    assert json.loads(path.read_text()) == [json.loads(item) for item in items]
    assert len(path.read_text().splitlines()) == (len(items) + 2 if items else 1)


def test_escaped_pairs_are_one_character(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"a": "\\ud83d\\ude35"}')
    assert list(values(path, Reading())) == [(1, {"a": "\U0001f635"})]


def test_a_string_is_no_key():
    assert has_key('{"text" : 1}', "text")
    assert not has_key(json.dumps(["text", '"text": 1']), "text")


def test_peeking_survives_bytes(tmp_path):
    assert peek(write(tmp_path / "a", b"\xef\xbb\xbfab\xff"), 5) == "ab"


def test_files_are_searched_below_in_order(tmp_path):
    (tmp_path / "b").mkdir()
    for name in ("b/x.json", "a.json", "c.md"):
        write(tmp_path / name, "")
    assert [name_below(f, tmp_path) for f in files(tmp_path, (".json",))] == ["a", "b/x"]
    assert files(tmp_path / "c.md", (".json",)) == [tmp_path / "c.md"]
    assert name_below(tmp_path / "a.b.json", tmp_path / "a.b.json") == "a.b"


def test_places_are_named_where_the_line_says_too_little():
    assert place(3, 3) == ""
    assert place(3, 1) == "item 3: "


def documents_of(file, name, reading):
    for line, id in enumerate(file.read_text().split(), 1):
        yield line, Document(id, "")


def test_ids_stay_as_they_are_when_unique(tmp_path):
    write(tmp_path / "a.x", "1\n2")
    write(tmp_path / "b.x", "3")
    assert [d.id for d in read_files(tmp_path, (".x",), Reading(), documents_of)] == ["1", "2", "3"]


def test_ids_get_their_files_name_when_files_share_one(tmp_path):
    write(tmp_path / "a.x", "1\n2")
    write(tmp_path / "b.x", "1")
    assert [d.id for d in read_files(tmp_path, (".x",), Reading(), documents_of)] == [
        "a/1",
        "a/2",
        "b/1",
    ]


def test_files_that_differ_by_their_endings_keep_them_in_ids_that_are_made(tmp_path):
    for name in ("a.csv", "a.tsv", "b.csv"):
        write(tmp_path / name, "text\tx\npain\t1\n")
    found = read(tmp_path).documents
    assert [d.id for d in found] == ["a.csv-1", "a.tsv-1", "b-1"]
    for name in ("a.csv", "a.tsv"):
        write(tmp_path / name, "id\ttext\n7\tpain\n")
    found = read(tmp_path).documents
    assert [d.id for d in found] == ["a.csv/7", "a.tsv/7", "b/b-1"]


def test_notices_of_files_that_are_read_twice_come_once(tmp_path):
    write(tmp_path / "a.x", "1")
    write(tmp_path / "b.x", "2")

    def noting(file, name, reading):
        reading.note("odd", path=file)
        yield from documents_of(file, name, reading)

    reading = Reading()
    assert len(list(read_files(tmp_path, (".x",), reading, noting))) == 2
    assert [notice.path.name for notice in reading.notices] == ["a.x", "b.x"]


def test_an_id_twice_in_a_file_is_named_with_its_line(tmp_path, refused):
    write(tmp_path / "a.x", "1\n2\n1")
    with refused("a.x", 3):
        list(read_files(tmp_path, (".x",), Reading(), documents_of))


def test_a_folder_without_such_files_is_told(tmp_path, refused):
    with refused(tmp_path):
        list(read_files(tmp_path, (".x", ".y"), Reading(), documents_of))


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"b": {"a": 1, "c": 0, "a": 1}}'])
def test_a_key_twice_in_an_object_is_refused(tmp_path, text, refused):
    for content in (f'{{"c": 1}}\n{text}\n', f'[{{"c": 1}},\n{text}]'):
        path = write(tmp_path / "a.json", content)
        with refused("a.json", 2):
            list(values(path, Reading()))


def test_a_file_whose_name_is_not_utf8_is_refused_before_the_work(tmp_path, refused):
    (tmp_path / os.fsdecode(b"a\xff.txt")).write_text("my pain")
    with refused("a\udcff.txt"):
        read(tmp_path)
