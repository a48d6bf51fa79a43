"""CSV and Parquet: rows are documents, named columns theirs, and other columns are kept."""

from __future__ import annotations

import csv
import io
import json
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_documents import CHARACTERS, documents
from trigner.corpora import read, write
from trigner.corpora.reading import Reading
from trigner.corpora.tables import csv_rows, parquet_rows, write_csv, write_parquet
from trigner.mentions import Document, Entity

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `tables`)")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (extra `tables`)")

TEXT = "pain in my hands"
PAIN = {"label": "ADR", "fragments": [[0, 4], [11, 16]], "text": "pain hands"}
WRITERS = {"csv": write_csv, "parquet": write_parquet}


def table(root, content, name="a.csv"):
    path = root / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_columns_are_found_whatever_separates_them(tmp_path, mark, name):
    lines = [["patient", "text", "id"], ["p1", 'she said "pain, in\nhands; a\tb|c"', "x"]]
    out = io.StringIO()
    csv.writer(out, delimiter=mark).writerows(lines)
    corpus = read(table(tmp_path, "\ufeff" + out.getvalue(), name))
    assert (corpus.format, corpus.notices) == ("csv", ())
    (document,) = corpus.documents
    assert (document.id, document.text, document.fields) == ("x", lines[1][1], {"patient": "p1"})


@pytest.mark.parametrize("limit", [131_072, (1 << 31) - 1])
def test_the_limit_of_cells_is_raised_and_never_lowered(tmp_path, limit):
    path = table(tmp_path, f"id,text\nx,{'pain ' * 30_000}\n")
    before = csv.field_size_limit(limit)
    try:
        assert len(read(path).documents[0].text) == 150_000
        assert csv.field_size_limit() >= limit
    finally:
        csv.field_size_limit(before)


def test_columns_can_be_named(tmp_path):
    path = table(tmp_path, "case,narrative,age\r\n7,pain,\r\n8,none,30\r\n")
    first, second = read(path, text_column="narrative", id_column="case").documents
    assert (first.id, first.text, first.fields) == ("7", "pain", {})
    assert second.fields == {"age": "30"}
    (unnamed, _) = read(path, text_column="narrative").documents
    assert (unnamed.id, unnamed.fields) == ("a-1", {"case": "7"})


@pytest.mark.parametrize(
    ("content", "options"),
    [
        ("a,b\n1,2\n", {}),
        ("text\nx\n", {"id_column": "case"}),
        ("id,text\n1,x\n1,y\n", {}),
        ('text,a\n"x\ny",1\nz\n', {}),
        ("text,a,a\nx,1,2\n", {}),
        ('text,a\n"x,1\n', {}),
        ('text,entities\nx,"headache"\n', {}),
        ('text,entities\npain,"[{""start"": 0, ""end"": 4, ""label"": ""A"", ""end"": 3}]"\n', {}),
        ("text,n\nx,y\n", {"text_column": "n"}),
        ("id,text\n,x\n", {}),
        ("", {}),
    ],
)
def test_tables_that_cannot_be_read_say_why(tmp_path, content, options, refused):
    path = table(tmp_path, content)
    with refused("a.csv"):
        read(path, format="csv", **options)


def test_annotations_are_json_in_a_column(tmp_path, refused):
    bad = {"label": "ADR", "fragments": [[0, 99]]}
    cells = json.dumps([PAIN, bad, {"start": 0, "end": 4, "label": "X"}])
    out = io.StringIO()
    csv.writer(out).writerows([["text", "entities"], [TEXT, cells]])
    path = table(tmp_path, out.getvalue())
    with refused("a.csv", 2):
        read(path)
    corpus = read(path, skip_bad=True)
    assert corpus.left_out == 1
    assert [(e.label, e.fragments) for e in corpus.documents[0].entities] == [
        ("ADR", ((0, 4), (11, 16))),
        ("X", ((0, 4),)),
    ]


def test_parquet_has_types(tmp_path):
    rows = {
        "id": [1, 2],
        "text": [TEXT, "none"],
        "age": [30, None],
        "date": [date(2020, 1, 2), None],
        "dose": [Decimal("1.50"), None],
        "entities": [[PAIN], []],
    }
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    corpus = read(tmp_path)
    assert corpus.format == "parquet"
    first, second = corpus.documents
    assert (first.id, second.id) == ("1", "2")
    assert first.fields == {"age": 30, "date": "2020-01-02", "dose": "1.50"}
    assert second.fields == {}
    assert first.entities == (Entity.from_dict(PAIN, TEXT),)


def test_what_an_entity_lacks_is_empty_in_a_parquet_column(tmp_path):
    scored = {"label": "X", "fragments": [[0, 4]], "text": "pain", "score": 0.5, "id": "T1"}
    table = pa.table({"text": [TEXT], "entities": [[PAIN, scored]]})
    assert table.to_pylist()[0]["entities"][0]["score"] is None
    pq.write_table(table, tmp_path / "a.parquet")
    first, second = read(tmp_path).documents[0].entities
    assert (first.fields, second.fields) == ({}, {})
    assert (first.score, second.score, second.id) == (None, 0.5, "T1")


def test_endings_in_capitals(tmp_path):
    assert read(table(tmp_path, "text;n\npain;1\n", "a.CSV")).format == "csv"
    assert read(table(tmp_path, "n\ttext\n1\tpain\n", "b.TSV")).format == "csv"


def test_columns_are_separated_by_what_makes_the_wanted_one(tmp_path):
    (document,) = read(table(tmp_path, "text;a,b,c,d\npain;1,2,3,4\n")).documents
    assert (document.text, document.fields) == ("pain", {"a,b,c,d": "1,2,3,4"})


@pytest.mark.parametrize("name", ["a.csv", "a.tsv"])
def test_empty_lines_before_the_columns_do_not_matter(tmp_path, name, refused):
    path = table(tmp_path, "\r\n\r\ntext;n\npain;1\n", name)
    (document,) = read(path).documents
    assert (document.text, document.fields) == ("pain", {"n": "1"})
    with refused():
        read(table(tmp_path, "\n\ntext;n\npain\n", name))
    with refused():
        read(table(tmp_path, "\n\ntext;n;n\n", name))
    with refused("a.csv"):
        read(table(tmp_path, "\n\n", "a.csv"), format="csv")


@pytest.mark.parametrize("name", ["entities", "words", "extras"])
def test_a_key_twice_in_a_cell_is_refused(tmp_path, name, refused):
    pq.write_table(pa.table({"text": [TEXT], name: ['[{"a": 1, "a": 2}]']}), tmp_path / "a.parquet")
    with refused("a.parquet", 1):
        read(tmp_path, skip_bad=True)


def test_nan_is_an_empty_cell_and_what_no_field_holds_is_named_by_its_row(tmp_path, refused):
    rows = {"text": ["a", "b"], "age": [float("nan"), 3.0]}
    pq.write_table(pa.table(rows), tmp_path / "a.parquet")
    assert [document.fields for document in read(tmp_path).documents] == [{}, {"age": 3.0}]
    for value in (float("inf"), b"x"):
        pq.write_table(pa.table({"text": ["a", "b"], "x": [None, value]}), tmp_path / "a.parquet")
        with refused("a.parquet", 2):
            read(tmp_path)


def test_dates_that_are_out_of_range_are_named_by_their_row(tmp_path, refused):
    days = pa.array([0, 1, 10**8], pa.date32())
    pq.write_table(pa.table({"text": ["a", "b", "c"], "day": days}), tmp_path / "a.parquet")
    with refused("a.parquet", 3):
        read(tmp_path)


def test_lists_of_annotations_are_not_taken_for_fields(tmp_path, refused):
    spans = [[{"start": 0, "end": 4, "label": "ADR"}]]
    pq.write_table(pa.table({"text": [TEXT], "spans": spans}), tmp_path / "a.parquet")
    with refused("a.parquet", 1):
        read(tmp_path)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + bytes(40) + b"PAR1"])
def test_what_is_no_parquet_is_refused(tmp_path, content, refused):
    with refused("a.parquet"):
        read(table(tmp_path, content, "a.parquet"))


def test_texts_that_are_none_are_named(tmp_path, refused):
    pq.write_table(pa.table({"text": ["a", None]}), tmp_path / "a.parquet")
    with refused("a.parquet", 2):
        read(tmp_path)


@pytest.mark.parametrize("format", WRITERS)
@settings(deadline=None)
@given(made=documents(scored=True, extras=True))
def test_all_but_types_of_fields_comes_back(tmp_path_factory, format, made):
    path = tmp_path_factory.mktemp("rows") / f"a.{format}"
    report = write(made, path, format=format)
    assert not any(report.dropped.values())
    assert read(path).documents == tuple(made)


NAMES = st.text(CHARACTERS, max_size=4).map(lambda name: f"_{name}")
CELLS = {
    "csv": st.text(CHARACTERS, max_size=6),
    "parquet": st.text(CHARACTERS, max_size=6) | st.integers() | st.booleans() | st.floats(0, 1),
}


@pytest.mark.parametrize("format", WRITERS)
@settings(deadline=None)
@given(data=st.data())
def test_fields_come_back_or_are_counted(tmp_path_factory, format, data):
    names = data.draw(st.lists(NAMES, max_size=3, unique=True))
    rows = [{name: data.draw(CELLS[format]) for name in names} for _ in range(2)]
    made = tuple(Document(str(n), "a", fields=row) for n, row in enumerate(rows))
    path = tmp_path_factory.mktemp("rows") / f"a.{format}"
    report = write(made, path, format=format)
    again = read(path).documents
    same = sum(
        type(a.fields[n]) is type(b.fields.get(n)) and a.fields[n] == b.fields[n]
        for a, b in zip(made, again, strict=True)
        for n in names
    )
    assert sum(report.dropped.values()) >= 2 * len(names) - same
    if format == "csv" or all(len({type(row[n]) for row in rows}) == 1 for n in names):
        big = any(isinstance(v, int) and abs(v) >> 63 for row in rows for v in row.values())
        empty = sum(value == "" for row in rows for value in row.values()) * (format == "csv")
        assert big or same == 2 * len(names) - empty


def test_an_empty_cell_is_no_field(tmp_path, refused):
    path = tmp_path / "a.csv"
    path.write_text("id,text,age,sex\n1,,,f\n2,pain,30,\n")
    assert [(d.text, d.fields) for d in read(path).documents] == [
        ("", {"sex": "f"}),
        ("pain", {"age": "30"}),
    ]
    path.write_text("case,note,age\n1,pain,\n")
    (document,) = read(path, text_column="note", id_column="case").documents
    assert (document.id, document.text, document.fields) == ("1", "pain", {})
    path.write_text("case,text,entities\n,pain,\n")
    with refused("a.csv", 2):
        read(path, id_column="case")
    path.write_text("case,text,entities,words\n1,pain,,\n")
    (document,) = read(path, id_column="case").documents
    assert (document.id, document.entities, document.words) == ("1", (), None)
    documents = [Document("d", "pain", fields={"sex": "", "age": "30"})]
    dropped = write(documents, path, format="csv").dropped
    assert dropped["fields that are empty texts"] == 1
    assert read(path).documents[0].fields == {"age": "30"}


@pytest.mark.parametrize("cell", ["[[0, NaN]]", "[1e999]"])
def test_numbers_of_annotations_in_cells_are_finite(tmp_path, cell, refused):
    (tmp_path / "a.csv").write_text(f'text,entities\npain,"{cell}"\n')
    with refused("a.csv", 2):
        read(tmp_path)


def test_row_groups_without_the_rows_of_their_file_are_damage(tmp_path, refused):
    from rows import short_parquet  # needs pyarrow

    short_parquet(tmp_path / "a.parquet")
    with refused("a.parquet"):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize(("write", "rows"), [(write_csv, csv_rows), (write_parquet, parquet_rows)])
def test_rows_of_other_columns_are_one_table(tmp_path, write, rows):
    path = tmp_path / "a.x"
    changed = write([{"a": "x"}, {"b": 3, "c": None}], path, columns=("a",))
    found = [row for _, row in rows(path, Reading())]
    empty, three = ("", "3") if write is write_csv else (None, 3)
    assert [row["b"] for row in found] == [empty, three]
    assert [row["a"] for row in found] == ["x", empty]
    assert sum(changed.values()) == (2 if write is write_csv else 1)


@pytest.mark.parametrize("bound", [(1 << 63) - 1, 1 << 63, 1 - (1 << 63), -(1 << 63) - 1])
def test_whole_numbers_of_any_size_are_written_to_parquet(tmp_path, bound):
    path = tmp_path / "a.parquet"
    rows = [{"a": 0, "b": bound}, {"a": None, "b": None}]
    changed = write_parquet(rows, path, columns=())
    kept = abs(bound) < 1 << 63
    found = [row for _, row in parquet_rows(path, Reading())]
    assert found == [{"a": 0, "b": bound if kept else str(bound)}, {"a": None, "b": None}]
    assert changed["types of fields"] == (2 if kept else 3)


def test_parquet_without_its_package_says_what_to_install(tmp_path, monkeypatch, refused):
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "a.parquet")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with refused(error=Exception):
        read(tmp_path)
