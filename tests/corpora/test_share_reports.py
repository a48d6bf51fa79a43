from __future__ import annotations

from trigner.corpora.published import Counts
from trigner.corpora.reading import Reading
from trigner.corpora.share_reports import (
    WHOLE_TRAINING,
    ReportPart,
    check_report,
    pairs,
    pipe_reader,
    read,
    recognises,
    same_report,
)
from trigner.mentions import Entity, Extra

PUBLISHED = {
    None: Counts(None, 4, 0),
    WHOLE_TRAINING: Counts(None, 3, 0),
    "test": Counts(None, 1, 0),
}


def sign(line, report, text):
    """An annotation format of these tests: `start end` a line."""
    return Entity.in_text(text, "Sign", pairs(line.split()))


words = pipe_reader(sign, "test", header="start")
PARTS = {
    "train": ReportPart(
        ("Corpus/train_texts", "train/text"), ("train_gold",), (".pipe.txt",), words
    ),
    "test": ReportPart(("Corpus/test_texts",), ("test_gold",), (".txt",), words),
}


def unpack(root):
    files = {
        "Corpus/train_texts/r-1.txt": "cough and fever",
        "Corpus/train_texts/r-2.txt": "fever only",
        "Corpus/train_texts/r-3.txt": "rash",
        "train_gold/r-1.pipe.txt": "0 5\n10 15\n",
        "train_gold/r-2.pipe.txt": "0 5\n",
        "train_gold/r-3.pipe.txt": "",
        "Corpus/test_texts/r-4.txt": "pain",
        "gold/test_gold/r-4.txt": "0 4\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def split_lists(root, **lists):
    (root / "splits").mkdir()
    for part, names in lists.items():
        (root / "splits" / f"{part}.txt").write_text("\n".join(names))


def ids(root, split=None, reading=None):
    return [d.id for d in read(root, reading or Reading(), split, PARTS, PUBLISHED)]


def test_both_parts_make_the_corpus(tmp_path):
    reading = Reading()
    found = list(read(unpack(tmp_path), reading, None, PARTS, PUBLISHED))
    assert [document.id for document in found] == ["r-1", "r-2", "r-3", "r-4"]
    assert [e.text for e in found[0].entities] == ["cough", "fever"]
    assert found[2].entities == ()
    assert reading.notices == []


def test_parts_as_unpacked(tmp_path):
    unpack(tmp_path)
    reading = Reading()
    assert ids(tmp_path, "train", reading) == ["r-1", "r-2", "r-3"]
    assert ids(tmp_path, "test", reading) == ["r-4"]
    assert reading.notices == []


def test_dev_needs_a_list(tmp_path, refused):
    with refused("y"):
        ids(unpack(tmp_path / "x" / "y"), "dev")


def test_a_list_of_dev_takes_from_training(tmp_path):
    split_lists(unpack(tmp_path), dev=["r-2.txt"])
    assert ids(tmp_path, "dev") == ["r-2"]
    assert ids(tmp_path, "train") == ["r-1", "r-3"]
    assert ids(tmp_path, "test") == ["r-4"]


def test_lists_go_before_folders(tmp_path):
    split_lists(unpack(tmp_path), train=["r-4", "r-1"], test=["r-2"])
    reading = Reading()
    assert ids(tmp_path, "train", reading) == ["r-1", "r-4"]
    assert any("1 document in no list: r-3" in str(notice) for notice in reading.notices)
    assert ids(tmp_path, "test") == ["r-2"]


def test_one_part_is_enough_and_the_other_is_told(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / "Corpus/test_texts").rename(tmp_path / "elsewhere")
    (tmp_path / "gold/test_gold").rename(tmp_path / "gold/other")
    reading = Reading()
    assert ids(tmp_path, None, reading) == ["r-1", "r-2", "r-3"]
    assert "holds no test part: looked for test: Corpus/test_texts, and test_gold" in str(
        reading.notices[0]
    )
    with refused(tmp_path):
        ids(tmp_path, "test")


def test_half_a_part_says_what_was_looked_for(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / "train_gold").rename(tmp_path / "mine")
    with refused(tmp_path):
        ids(tmp_path)
    (tmp_path / "mine").rename(tmp_path / "train_gold")
    (tmp_path / "Corpus/train_texts").rename(tmp_path / "mine")
    with refused(tmp_path):
        ids(tmp_path)


def test_nothing_there_says_what_was_looked_for(tmp_path, refused):
    with refused(tmp_path):
        ids(tmp_path)
    (tmp_path / "a").write_text("")
    with refused("a"):
        ids(tmp_path / "a")


def test_unknown_parts_are_refused(tmp_path, refused):
    with refused(tmp_path):
        ids(unpack(tmp_path), "validation")


def test_annotations_of_a_report_that_is_not_there(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / "train_gold" / "r-9.pipe.txt").write_text("0 1\n")
    with refused("r-9.pipe.txt"):
        ids(tmp_path)


def test_two_files_on_one_report_are_refused(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / "train_gold" / "r-1.txt.pipe.txt").write_text("0 1\n")
    with refused("r-1.txt.pipe.txt"):
        ids(tmp_path)


def test_a_report_in_two_parts_is_refused(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / "Corpus/test_texts/r-1.txt").write_text("cough")
    with refused("r-1.txt"):
        ids(tmp_path)


def test_reports_without_annotations_are_counted(tmp_path):
    unpack(tmp_path)
    (tmp_path / "train_gold" / "r-3.pipe.txt").unlink()
    reading = Reading()
    assert "r-3" in ids(tmp_path, None, reading)
    assert "1 reports have no annotation file" in str(reading.notices[0])


def test_counts_are_held_against_the_published(tmp_path):
    unpack(tmp_path)
    (tmp_path / "train_gold" / "r-3.pipe.txt").write_text("0 4\n")
    reading = Reading()
    ids(tmp_path, "train", reading)
    assert [notice.message for notice in reading.notices] == [
        "read 4 mentions; the paper reports 3"
    ]


def test_recognised_by_the_first_names_only(tmp_path):
    assert not recognises(tmp_path, PARTS)
    assert recognises(unpack(tmp_path), PARTS)
    assert not recognises(tmp_path / "Corpus/train_texts/r-1.txt", PARTS)


def test_lines_are_annotations_and_kept(tmp_path):
    file = tmp_path / "a.pipe"
    file.write_bytes(b"\xef\xbb\xbfstart end\r\n\r\n  \n0 5\nstart")
    reading = Reading(skip_bad=True)
    entities, extras = words(file, tmp_path / "r-1.txt", "cough", reading)
    assert entities == [Entity("Sign", ((0, 5),), "cough")]
    assert extras == [Extra("test", "0 5")]
    assert [notice.line for notice in reading.notices] == [5]


def test_reports_are_the_same_with_and_without_ending():
    assert same_report(" r-1.txt", "r-1")
    assert same_report("r-1", "r-1.txt")
    assert not same_report("r-1", "r-10.txt")


def test_annotations_of_another_report_are_refused(refused):
    check_report("r-1.txt", "r-1")
    with refused(error=ValueError):
        check_report("r-2", "r-1.txt")


def test_numbers_are_starts_and_ends_in_turn():
    assert pairs(["0", "5", "6", "9"]) == ((0, 5), (6, 9))
