from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rows import short_parquet, write_rows
from trigner.errors import InputError
from trigner.pipeline.bulk.shapes import chosen_columns, look_at
from trigner.pipeline.bulk.sources import find_sources


def chosen(folder, *, text="text", id=None, keep=()):
    sources, _ = find_sources([str(folder)], out=folder / "out")
    pairs = list(zip(sources, look_at(sources), strict=True))
    found = chosen_columns(pairs, text=text, id=id, keep=keep)
    return [f"{own.name}: {own.type}" for own in found.kept]


def test_the_id_is_kept_where_all_have_one(tmp_path):
    write_rows(tmp_path / "a.csv", [{"id": "1", "text": "x", "n": "2"}])
    assert chosen(tmp_path) == ["id: string"]
    assert chosen(tmp_path, keep=["n", "id"]) == ["id: string", "n: string"]
    assert chosen(tmp_path, id="n") == ["n: string"]
    (tmp_path / "b.txt").write_text("x")
    assert chosen(tmp_path) == ["id: string"]
    write_rows(tmp_path / "c.csv", [{"text": "x"}])
    assert chosen(tmp_path) == []
    (tmp_path / "d.csv").write_bytes(b"")  # says nothing about columns
    assert chosen(tmp_path) == []


def test_types_are_those_of_parquet_whatever_their_storage(tmp_path):
    for name, kind in (("a", pa.string()), ("b", pa.large_string())):
        table = pa.table({"text": pa.array(["x"], kind), "by": pa.array(["x"], kind), "n": [1]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    assert chosen(tmp_path, keep=["by", "n"]) == ["by: string", "n: int64"]


def test_json_lines_may_lack_what_is_kept(tmp_path, refused):
    lines = [{"text": "x"}, {"text": "x", "year": 1999}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "b.jsonl").write_text('{"text": "x"}\n')
    assert chosen(tmp_path, keep=["year"]) == ["year: string"]
    with refused():
        chosen(tmp_path, keep=["yaer"])


@pytest.mark.parametrize(
    "options",
    [
        {"text": "body"},
        {"text": "n"},
        {"keep": ["m"]},
        {"id": "m"},
        {"keep": ["n"]},
        {"keep": ["row"]},
    ],
)
def test_wrong_columns_are_told_before_the_work(tmp_path, options, refused):
    for name, value in (("a", 1), ("b", 1.5)):
        table = pa.table({"id": ["1"], "text": ["x"], "n": [value]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    with refused():
        chosen(tmp_path, **options)


def test_a_column_that_is_there_twice(tmp_path, refused):
    (tmp_path / "a.csv").write_text("id,text,by,by,,\n1,a,b,c,,\n")
    assert chosen(tmp_path) == ["id: string"]
    with refused():
        chosen(tmp_path, keep=["by"])
    pq.write_table(pa.table([["x"], ["y"]], names=["text", "text"]), tmp_path / "a.parquet")
    with refused():
        chosen(tmp_path)


def test_ids_of_several_types_are_strings_unless_they_are_asked_for(tmp_path, refused):
    write_rows(tmp_path / "a.csv", [{"id": "1", "text": "x"}])
    pq.write_table(pa.table({"id": [1], "text": ["x"]}), tmp_path / "b.parquet")
    assert chosen(tmp_path) == ["id: string"]
    with refused():
        chosen(tmp_path, id="id")
    pq.write_table(pa.table({"id": [[1]], "text": ["x"]}), tmp_path / "c.parquet")
    assert chosen(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [
        b"id;text\n1;x\n",
        b"id\ttext\n1\tx\n",
        "id,text\n1,x\n".encode("utf-16"),
        "id,text,größe\n1,x,y\n".encode("latin-1"),
    ],
)
def test_csv_of_other_kinds_is_told(tmp_path, content, refused):
    (tmp_path / "a.csv").write_bytes(content)
    sources, _ = find_sources([str(tmp_path)], out=tmp_path / "out")
    (shape,) = look_at(sources)
    with refused():
        raise shape if isinstance(shape, InputError) else AssertionError(chosen(tmp_path))


def test_row_groups_without_the_rows_of_their_file_are_damage(tmp_path):
    short_parquet(tmp_path / "a.parquet")
    sources, _ = find_sources([str(tmp_path)], out=tmp_path / "out")
    [error] = look_at(sources)
    assert isinstance(error, InputError)
    assert str(error).endswith("the file is damaged: its row groups have 1 row, the file 3")
