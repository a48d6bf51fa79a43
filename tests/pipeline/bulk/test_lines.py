"""What is held of a file of lines, and what is read of a damaged one."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
import zlib

import pytest

from trigner.pipeline.bulk.ranges import Ranges
from trigner.pipeline.bulk.reading import batches
from trigner.pipeline.bulk.shapes import Columns, look_at
from trigner.pipeline.bulk.sources import find_sources


def source_of(path):
    (source,), _ = find_sources([str(path)], out=path.parent / "out")
    return source


def read(source, **options):
    return batches(0, source, Columns("text", ()), Ranges(), **options)


@pytest.fixture
def short(monkeypatch):
    """Texts of 10 characters at most: 120 bytes of a line, 40 characters of a record."""
    monkeypatch.setattr("trigner.pipeline.bulk.lines.MOST_CHARACTERS", 10)
    return {"most_characters": 10}


def held_while(function):
    """What a function allocates at most, in bytes."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_quote_that_is_never_closed_holds_no_whole_file(tmp_path, short, refused):
    path = tmp_path / "a.csv"
    path.write_text('id,text\n0,no\n1,"pain\n' + "2,headache\n" * 500_000)
    source = source_of(path)
    found = []

    def reads():
        with refused():
            found.extend(read(source, **short))

    assert held_while(reads) < 3_000_000
    assert [batch.texts.to_pylist() for batch in found] == [["no"]]
    path.write_text("x" * 5_000_000)
    source = source_of(path)
    looked = []
    assert held_while(lambda: looked.extend(look_at([source], **short))) < 3_000_000
    assert "the row there has more than 40 characters" in str(looked[0])


def test_a_line_that_is_too_long_is_an_error_of_its_row(tmp_path, short):
    path = tmp_path / "a.jsonl"

    def lines():
        yield '{"text": "pain"}'
        yield '{"text": "%s"}' % ("\\ud83d\\udca9" * 8)  # which is no text that is too long
        for length in (119, 120, 121, 5_000_000):  # with the line's end one more
            yield '{"text": "no"}'.ljust(length, "x")
        yield '{"text": "hip"}'

    path.write_text("\n".join(lines()))
    found = []
    assert held_while(lambda: found.extend(read(source_of(path), **short))) < 3_000_000
    (batch,) = found
    expected = ["pain", "\N{PILE OF POO}" * 8, None, None, None, None, "hip"]
    assert batch.texts.to_pylist() == expected
    assert batch.unreadable.pop(2).startswith("the line is not JSON: Extra data")
    assert batch.unreadable == dict.fromkeys((3, 4, 5), "the line has more than 120 bytes")


def gzipped(path, data, *, spoiled):
    """A compressed file of which some bytes are other than they were."""
    packed = bytearray(gzip.compress(data))
    packed[spoiled] = bytes(len(packed[spoiled]))
    path.write_bytes(packed)
    return path


@pytest.mark.parametrize("rows", [50, 20_000])
def test_what_stands_before_damage_is_read(tmp_path, rows, refused):
    """Also of a small file; all of it where only the checksum is wrong, behind the last row."""
    letters = random.Random(1)
    texts = ["".join(letters.choices("abcdefgh ", k=99)) for _ in range(rows)]
    lines = b"".join(json.dumps({"text": text}).encode() + b"\n" for text in texts)
    whole = gzip.compress(lines)
    half = len(whole) // 2
    cells = b"text\n" + b"".join(f"{text}\n".encode() for text in texts)
    made = [
        (gzipped(tmp_path / "a.jsonl.gz", lines, spoiled=slice(-8, -4)), rows),
        (gzipped(tmp_path / "a.csv.gz", cells, spoiled=slice(-8, -4)), rows),
        (tmp_path / "cut.jsonl.gz", zlib.decompressobj(31).decompress(whole[:half]).count(b"\n")),
    ]
    made[-1][0].write_bytes(whole[:half])
    for path, whole_rows in made:
        source = source_of(path)
        (shape,) = look_at([source])
        assert [*shape.types] == ["text"]
        found = []
        with refused():
            found.extend(read(source))
        assert [text for b in found for text in b.texts.to_pylist()] == texts[:whole_rows]
        assert whole_rows > rows // 3
