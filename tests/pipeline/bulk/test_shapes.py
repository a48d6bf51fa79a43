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


def test_json_lines_may_lack_what_is_kept(tmp_path):
    lines = [{"text": "x"}, {"text": "x", "year": 1999}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "b.jsonl").write_text('{"text": "x"}\n')
    assert chosen(tmp_path, keep=["year"]) == ["year: string"]
    with pytest.raises(InputError, match=r"`yaer` in its first 100 lines \(there are: text, y"):
        chosen(tmp_path, keep=["yaer"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"text": "body"}, r"a\.parquet: has no column `body` \(there are: id, text, n\)"),
        ({"text": "n"}, r"a\.parquet: column `n` has the type int64: texts are strings"),
        ({"keep": ["m"]}, r"a\.parquet: has no column `m`"),
        ({"id": "m"}, r"a\.parquet: has no column `m`"),
        ({"keep": ["n"]}, r"b\.parquet: column `n` has the type double, and int64 in .*a\.parquet"),
        ({"keep": ["row"]}, "`row` is a column that annotate adds: rename yours first"),
    ],
)
def test_wrong_columns_are_told_before_the_work(tmp_path, options, message):
    for name, value in (("a", 1), ("b", 1.5)):
        table = pa.table({"id": ["1"], "text": ["x"], "n": [value]})
        pq.write_table(table, tmp_path / f"{name}.parquet")
    with pytest.raises(InputError, match=message):
        chosen(tmp_path, **options)


def test_a_column_that_is_there_twice(tmp_path):
    (tmp_path / "a.csv").write_text("id,text,by,by,,\n1,a,b,c,,\n")
    assert chosen(tmp_path) == ["id: string"]
    with pytest.raises(InputError, match=r"a\.csv: has several columns `by`"):
        chosen(tmp_path, keep=["by"])
    pq.write_table(pa.table([["x"], ["y"]], names=["text", "text"]), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: has several columns `text`"):
        chosen(tmp_path)


def test_ids_of_several_types_are_strings_unless_they_are_asked_for(tmp_path):
    write_rows(tmp_path / "a.csv", [{"id": "1", "text": "x"}])
    pq.write_table(pa.table({"id": [1], "text": ["x"]}), tmp_path / "b.parquet")
    assert chosen(tmp_path) == ["id: string"]
    with pytest.raises(InputError, match="column `id` has the type int64, and string in"):
        chosen(tmp_path, id="id")
    pq.write_table(pa.table({"id": [[1]], "text": ["x"]}), tmp_path / "c.parquet")
    assert chosen(tmp_path) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"id;text\n1;x\n", "separated by commas; this header seems to use ';'"),
        (b"id\ttext\n1\tx\n", "separated by commas; this header seems to use tabs"),
        ("id,text\n1,x\n".encode("utf-16"), "header is not UTF-8, but seems to be UTF-16"),
        ("id,text,größe\n1,x,y\n".encode("latin-1"), "cannot be read: its header is not UTF-8"),
    ],
)
def test_csv_of_other_kinds_is_told(tmp_path, content, message):
    (tmp_path / "a.csv").write_bytes(content)
    sources, _ = find_sources([str(tmp_path)], out=tmp_path / "out")
    (shape,) = look_at(sources)
    with pytest.raises(InputError, match=message):
        raise shape if isinstance(shape, InputError) else AssertionError(chosen(tmp_path))


def test_row_groups_without_the_rows_of_their_file_are_damage(tmp_path):
    short_parquet(tmp_path / "a.parquet")
    sources, _ = find_sources([str(tmp_path)], out=tmp_path / "out")
    [error] = look_at(sources)
    assert isinstance(error, InputError)
    assert str(error).endswith("the file is damaged: its row groups have 1 row, the file 3")
