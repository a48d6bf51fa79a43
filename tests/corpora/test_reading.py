"""Exact decoding, strictness, whole files or none."""

from __future__ import annotations

from contextlib import suppress

import pytest

from trigner.corpora.reading import (
    Reading,
    WriteReport,
    decoded_lines,
    fault,
    opened,
    partial_of,
    read_text,
    write_text,
    written,
)
from trigner.errors import InputError, TrignerError


def test_text_is_read_as_it_stands(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffa\r\nb\rc\u2028\n".encode())
    assert read_text(path) == "\ufeffa\r\nb\rc\u2028\n"


def test_bytes_that_are_no_utf8_are_named_with_their_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\ncaf\xe9\n")
    with pytest.raises(InputError, match=r"a\.txt:3: byte 11 is not UTF-8"):
        read_text(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"gone\.txt: cannot be read"):
        read_text(tmp_path / "gone.txt")


def test_strict_reading_stops(tmp_path):
    with pytest.raises(InputError, match="x:4: no good"):
        Reading().bad("no good", path="x", line=4)


def test_skipped_annotations_are_listed(tmp_path):
    reading = Reading(skip_bad=True)
    reading.bad("no good", path=tmp_path, line=4)
    reading.note("odd", path=tmp_path)
    assert [str(n) for n in reading.notices] == [
        f"{tmp_path}:4: left out: no good",
        f"{tmp_path}: odd",
    ]


def test_a_file_is_written_whole_into_new_folders(tmp_path):
    path = tmp_path / "new" / "a.txt"
    write_text(path, "a\r\n\U0001f635")
    assert path.read_bytes() == "a\r\n\U0001f635".encode()
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


def test_text_that_cannot_be_encoded_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(InputError, match="UTF-8"):
        write_text(path, "\ud800")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_gets_its_name_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "a.txt"
    with written(path, keep=True) as put:
        put("one\n")
        assert not path.exists()
        put("two")
    assert path.read_text() == "one\ntwo"
    assert [p.name for p in path.parent.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, InputError("bad")])
def test_what_was_written_before_an_error_is_kept_where_asked(tmp_path, error):
    path = tmp_path / "a.txt"
    for keep, first, left in ((True, "one", True), (True, "", False), (False, "one", False)):
        with suppress(KeyboardInterrupt, InputError), written(path, keep=keep) as put:
            put(first)
            raise error
        assert partial_of(path).exists() is left
        assert not path.exists()
        partial_of(path).unlink(missing_ok=True)


def test_an_error_of_what_is_written_is_not_the_disks(tmp_path):
    with pytest.raises(FileNotFoundError), written(tmp_path / "a.txt"):
        raise FileNotFoundError("of the reader")


def test_lines_keep_their_characters_and_numbers(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("a\r\n\n\u2028b\u0085c".encode())
    with opened(path) as file:
        assert list(decoded_lines(file, path)) == [(1, "a\r"), (2, ""), (3, "\u2028b\u0085c")]
    with pytest.raises(InputError, match="x:2: byte 4 is not UTF-8"):
        list(decoded_lines([b"ab\n", b"c\xff"], "x"))
    with pytest.raises(InputError, match="cannot be read"), opened(tmp_path / "absent"):
        pass


def test_a_file_where_a_folder_should_be_is_told(tmp_path):
    (tmp_path / "a").write_text("x")
    with pytest.raises(TrignerError, match="cannot write"):
        write_text(tmp_path / "a" / "b.txt", "x")


@pytest.mark.parametrize(
    ("fragments", "message"),
    [
        ((), "at least one"),
        (((2, 2),), "does not end behind its start"),
        (((3, 2),), "does not end behind its start"),
        (((-1, 2),), "outside"),
        (((0, 10),), "outside the text of 9"),
        (((0, 4), (3, 6)), "overlap"),
    ],
)
def test_faults(fragments, message):
    assert message in fault(fragments, 9)


def test_touching_fragments_are_fine():
    assert fault(((0, 3), (3, 9)), 9) is None


def test_a_report_tells_only_what_was_lost():
    assert WriteReport(1, {"scores": 2, "entity ids": 0}).notices() == [
        "2 scores not written: the format has no place"
    ]
