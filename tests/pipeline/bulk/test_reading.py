from __future__ import annotations

import errno
import gzip
import random
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rows import write_rows
from trigner.errors import InputError
from trigner.pipeline.bulk import reading as room
from trigner.pipeline.bulk.failures import UnreadableError
from trigner.pipeline.bulk.ranges import Ranges
from trigner.pipeline.bulk.shapes import Columns, chosen_columns, look_at
from trigner.pipeline.bulk.sources import find_sources

NAMES = ("a.parquet", "a.jsonl", "a.jsonl.gz", "a.jsonl.zst", "a.csv", "a.csv.gz")
KEPT = Columns("text", (pa.field("id", pa.string()),))


def read(path, columns=KEPT, finished=None, **options):
    """The rows of a file as (row, id, text, why it is unreadable), and its batches."""
    (source,), _ = find_sources([str(path)], out=path / "out")
    found = list(room.batches(3, source, columns, finished or Ranges(), **options))
    assert all(batch.source == 3 for batch in found)
    rows = [
        (batch.first + n, kept, text, batch.unreadable.get(n))
        for batch in found
        for n, (kept, text) in enumerate(
            zip(
                batch.kept.column("id").to_pylist() if batch.kept.column_names else [None] * 999,
                batch.texts.to_pylist(),
                strict=bool(batch.kept.column_names),
            )
        )
    ]
    return rows, found


def rows_of(number, seed=0):
    mixed = random.Random(seed)
    words = ["pain", "no\r\nhip", 'a "b", c', "\N{PILE OF POO}", ""]
    return [
        {"id": f"n{mixed.randrange(9)}", "text": " ".join(mixed.choices(words, k=n % 9))}
        for n in range(number)
    ]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_every_row_that_is_not_finished_is_read_once(tmp_path, monkeypatch, name, seed):
    mixed = random.Random(seed)
    monkeypatch.setattr(room, "BYTES", mixed.choice([20, 60, 10_000]))
    rows = rows_of(53, seed)
    write = write_rows if not name.endswith("csv.gz") else write_gzipped_csv
    path = write(tmp_path / name, rows)
    finished = Ranges()
    done = set()
    for first in range(0, 53, 6):
        if mixed.random() < 0.5:
            end = min(53, first + mixed.randrange(1, 6))
            finished.add(first, end)
            done |= {*range(first, end)}
    found, batches = read(path, finished=finished, rows=mixed.choice([1, 4, 256]))
    expected = [(n, r["id"], r["text"], None) for n, r in enumerate(rows) if n not in done]
    assert found == expected
    shares = [batch.share for batch in batches]
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1


def write_gzipped_csv(path, rows):
    plain = write_rows(path.with_suffix(""), rows)
    path.write_bytes(gzip.compress(plain.read_bytes()))
    return path


def test_batches_are_of_few_rows_or_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "BYTES", 10)
    rows = [{"id": "", "text": text} for text in ["abc"] * 9 + ["x" * 30, "abc"]]
    for name in ("a.parquet", "a.jsonl", "a.csv"):
        _, batches = read(write_rows(tmp_path / name, rows), rows=5)
        assert max(batch.rows for batch in batches) == 3
        assert [batch.rows for batch in batches if "x" * 30 in batch.texts.to_pylist()] == [1]


def test_kept_values_count_in_the_size_of_a_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(room, "BYTES", 10)
    rows = [{"id": "x" * 5, "text": ""} for _ in range(6)]
    for name in ("a.jsonl", "a.csv", "a.parquet"):
        _, batches = read(write_rows(tmp_path / name, rows), rows=6)
        assert [batch.rows for batch in batches] == [2, 2, 2]


def test_lines_that_are_no_rows_have_a_reason(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = [
        '\ufeff{"id": "a", "text": "pain"}',
        "",
        "pain",
        "[1]",
        '{"id": 7}',
        '{"id": {"x": 1}, "text": 5}',
        '{"id": "\\ud83d", "text": "pain"}',
        '{"id": "b", "text": "pain \\ud83d"}',
        '{"text": null}',
        '{"text": "headache", "text": "no"}',
    ]
    path.write_bytes("\n".join(lines).encode() + b'\n{"text": "\xff"}\n' + b"[" * 100_000)
    rows, _ = read(path)
    assert [(row, id, text) for row, id, text, _ in rows] == [
        (0, "a", "pain"),
        *((1, None, None), (2, None, None)),
        *((3, "7", None), (4, '{"x": 1}', None)),
        *((5, None, None), (6, "b", None)),
        *((n, None, None) for n in range(7, 11)),
    ]
    reasons = [why or "" for *_, why in rows]
    starts = [
        "",
        "the line is not JSON: ",
        "the line is not an object: [1]",
        "the line has no `text`",
        "the text is of type int, not a string",
        "`id` has a lone surrogate",
        "the text has a lone surrogate",
        "",
        "the line has the key 'text' twice",
        "the line is not JSON: 'utf-8' codec",
        "the line is not JSON: ",
    ]
    assert all(why.startswith(start) for why, start in zip(reasons, starts, strict=True))
    assert (reasons[0], reasons[7]) == ("", "")


def test_rows_of_csv_that_are_not_like_the_header_have_a_reason(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(
        b'\xef\xbb\xbfid,text\n1,"a\nb"\n\n2\n3,x,y\n4,\xff\n' + b"5," + b"x" * 200_000
    )
    rows, _ = read(path)
    assert [(row, id) for row, id, _, _ in rows] == [(n, str(n + 1)) for n in range(5)]
    assert [text and len(text) for _, _, text, _ in rows] == [3, None, None, None, 200_000]
    assert [why and why[:17] for *_, why in rows] == [
        *(None, "the row has 1 cel", "the row has 3 cel", "the text is not U", None)
    ]


def test_text_files_are_rows(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfpain\r\n")
    (tmp_path / "deep/b.txt").write_bytes(b"pa\xff")
    (tmp_path / "c.TXT").write_bytes(b"")
    rows, _ = read(tmp_path)
    why = f"{tmp_path}/deep/b.txt: byte 2 is not UTF-8"
    assert rows == [(0, "a", "pain\r\n", None), (1, "c", "", None), (2, "deep/b", None, why)]


def test_a_text_file_that_cannot_be_opened_has_a_reason(tmp_path):
    for name in ("a", "b", "d"):
        (tmp_path / f"{name}.txt").write_text("pain")
    (tmp_path / "c.txt").symlink_to(tmp_path / "nowhere")
    (source,), _ = find_sources([str(tmp_path)], out=tmp_path / "out")
    (tmp_path / "b.txt").unlink()
    (batch,) = room.batches(0, source, KEPT, Ranges())
    assert batch.texts.to_pylist() == ["pain", None, None, "pain"]
    why = f"{tmp_path}/%s.txt: cannot be read: No such file or directory"
    assert batch.unreadable == {1: why % "b", 2: why % "c"}


def test_what_was_read_comes_before_what_ends_the_reading(tmp_path, refused):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text("pain")
    (source,), _ = find_sources([str(tmp_path)], out=tmp_path / "out")
    far = replace(source.files[1], system=Unreachable())
    source = replace(source, files=(source.files[0], far, source.files[2]))
    found = []
    with refused(error=UnreadableError) as raised:
        found.extend(room.batches(0, source, KEPT, Ranges()))
    assert [batch.texts.to_pylist() for batch in found] == [["pain"]]
    assert raised.value.missing == 2


def test_what_the_next_file_would_meet_too_ends_the_reading(tmp_path, monkeypatch, refused):
    (tmp_path / "a.txt").write_text("pain")
    (source,), _ = find_sources([str(tmp_path)], out=tmp_path / "out")

    def fails(*_):
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(room, "_beginning", fails)
    with refused(error=UnreadableError):
        list(room.batches(0, source, KEPT, Ranges()))


class Unreachable:
    """A file system behind a URL that does not answer."""

    protocol = "far"

    def open(self, path, mode):
        raise TimeoutError("no answer")

    def unstrip_protocol(self, path):
        return f"far://{path}"


def test_parquet_keeps_types(tmp_path):
    table = pa.table(
        {
            "text": pa.array(["a", "b"]).dictionary_encode(),
            "at": pa.array([1, 2], pa.timestamp("ns")),
            "list": [[{"x": 1}], None],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    sources, _ = find_sources([str(tmp_path)], out=tmp_path / "out")
    (shape,) = look_at(sources)
    columns = chosen_columns([(sources[0], shape)], text="text", id=None, keep=["at", "list"])
    (batch,) = room.batches(0, sources[0], columns, Ranges())
    assert batch.kept == table.select(["at", "list"])
    assert batch.texts.to_pylist() == ["a", "b"]


def cut(path):
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def damage(path):
    """Bytes in the middle of the pages, while the footer stays."""
    data = bytearray(path.read_bytes())
    data[100:3000] = bytes(2900)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "spoil"),
    [("a.parquet", damage), ("a.jsonl.gz", cut), ("a.jsonl.zst", cut), ("a.csv.gz", cut)],
)
def test_a_damaged_file_is_told_with_its_name(tmp_path, name, spoil, refused):
    letters = random.Random(1)
    rows = [{"id": "", "text": "".join(letters.choices("abcdefgh ", k=99))} for _ in range(500)]
    write = write_rows if not name.endswith("csv.gz") else write_gzipped_csv
    path = write(tmp_path / name, rows)
    spoil(path)
    with refused():
        read(path)


def test_row_groups_behind_damage_are_read(tmp_path, refused):
    letters = random.Random(1)
    texts = ["".join(letters.choices("abcdefgh ", k=99)) for _ in range(500)]
    path = tmp_path / "a.parquet"
    table = pa.table({"id": [str(n) for n in range(500)], "text": texts})
    pq.write_table(table, path, row_group_size=100, use_dictionary=False)
    about = pq.read_metadata(path).row_group(1).column(1)
    data = bytearray(path.read_bytes())
    data[about.data_page_offset : about.data_page_offset + about.total_compressed_size] = bytes(
        about.total_compressed_size
    )
    path.write_bytes(data)
    (source,), _ = find_sources([str(path)], out=tmp_path / "out")
    found = []
    with refused() as raised:
        found.extend(room.batches(0, source, KEPT, Ranges()))
    assert sum(batch.rows for batch in found) == 400
    assert raised.value.missing == 100
    finished = Ranges()
    finished.add(0, 130)
    with pytest.raises(InputError) as raised:
        list(room.batches(0, source, KEPT, finished))
    assert raised.value.missing == 70


def test_a_quote_that_is_never_closed_is_told(tmp_path, refused):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n0,no\n1,"pain in leg\n2,headache\n3,nausea')
    (source,), _ = find_sources([str(path)], out=tmp_path / "out")
    found = []
    with refused():
        found.extend(room.batches(0, source, KEPT, Ranges()))
    assert [batch.texts.to_pylist() for batch in found] == [["no"]]
    path.write_text('id,"text\n0,no\n')
    (shape,) = look_at([source])
    assert "is never closed" in str(shape)
    path.write_text('id,text\n0,"no"\n1,a "b" c')
    assert [text for _, _, text, _ in read(path)[0]] == ["no", 'a "b" c']


def test_a_stray_quotation_mark_merges_no_rows(tmp_path, refused):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n0,no\n1,"Pain in hips\n2,"Headache today\n3,Nausea\n')
    (source,), _ = find_sources([str(path)], out=tmp_path / "out")
    found = []
    with refused():
        found.extend(room.batches(0, source, KEPT, Ranges()))
    assert [batch.texts.to_pylist() for batch in found] == [["no"]]


def test_a_text_file_that_is_too_long_is_not_read(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + "\N{PILE OF POO}".encode() * 10)
    (tmp_path / "b.txt").write_bytes(b"x" * 5_000_000)
    (tmp_path / "c.txt").write_text("x" * 11)
    assert read(tmp_path, most_characters=10)[0] == [
        (0, "a", "\N{PILE OF POO}" * 10, None),
        (1, "b", None, "the text has more than 10 characters"),
        (2, "c", "x" * 11, None),  # an error of its row when it is annotated
    ]


def test_nor_is_one_whose_size_nobody_knows(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 5_000_000)
    (source,), _ = find_sources([str(tmp_path)], out=tmp_path / "out")
    unknown = replace(source, files=tuple(replace(file, size=0) for file in source.files))
    (batch,) = room.batches(0, unknown, KEPT, Ranges(), most_characters=10)
    assert batch.unreadable == {0: "the text has more than 10 characters"}


def test_ids_of_parquet_that_are_not_utf_8_have_a_reason(tmp_path):
    ids = pa.array([b"a", b"\xff", None]).view(pa.string())
    pq.write_table(pa.table({"id": ids, "text": ["x"] * 3}), tmp_path / "a.parquet")
    rows, _ = read(tmp_path / "a.parquet")
    assert rows == [
        (0, "a", "x", None),
        (1, None, None, "`id` is not UTF-8"),
        (2, None, "x", None),
    ]


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_file_has_no_rows_or_is_damaged(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"")
    sources, _ = find_sources([str(path)], out=tmp_path / "out")
    (shape,) = look_at(sources)
    if name.endswith((".jsonl", ".csv")):
        assert shape.rows == 0
        assert read(path)[0] == []
    else:
        assert isinstance(shape, InputError) or shape.rows == 0
