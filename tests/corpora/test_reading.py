"""Exact decoding, strictness, what is left out."""

from __future__ import annotations

from pathlib import Path

from trigner.corpora.reading import Reading, WriteReport, decoded_lines, opened, read_text


def test_text_is_read_as_it_stands(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffa\r\nb\rc\u2028\n".encode())
    assert read_text(path) == "\ufeffa\r\nb\rc\u2028\n"


def test_bytes_that_are_no_utf8_are_named_with_their_line(tmp_path, refused):
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\ntwo\ncaf\xe9\n")
    with refused("a.txt", 3):
        read_text(path)


def test_a_missing_file_is_named(tmp_path, refused):
    with refused("gone.txt"):
        read_text(tmp_path / "gone.txt")


def test_strict_reading_stops(tmp_path, refused):
    with refused("x", 4):
        Reading().bad("no good", path="x", line=4)


def test_skipped_annotations_are_listed(tmp_path):
    reading = Reading(skip_bad=True)
    reading.bad("no good", path=tmp_path, line=4)
    reading.note("odd", path=tmp_path)
    assert [str(n) for n in reading.notices] == [
        f"{tmp_path}:4: left out: no good",
        f"{tmp_path}: odd",
    ]


def test_lines_keep_their_characters_and_numbers(tmp_path, refused):
    path = tmp_path / "a.txt"
    path.write_bytes("a\r\n\n\u2028b\u0085c".encode())
    with opened(path) as file:
        assert list(decoded_lines(file, path, Reading())) == [
            (1, "a\r"),
            (2, ""),
            (3, "\u2028b\u0085c"),
        ]
    with refused("x", 2):
        list(decoded_lines([b"ab\n", b"c\xff"], Path("x"), Reading()))
    with refused("absent"), opened(tmp_path / "absent"):
        pass


def test_a_report_tells_only_what_was_lost():
    assert WriteReport(1, {"scores": 2, "entity ids": 0}).notices() == [
        "scores not written, as the format cannot hold them: 2"
    ]


def test_one_text_without_annotations_is_one_text(tmp_path):
    reading = Reading()
    reading.missing([tmp_path / "a.txt"], of=1, root=tmp_path)
    assert "no .ann for 1 of 1 text, such as a.txt" in str(reading.notices[0])
