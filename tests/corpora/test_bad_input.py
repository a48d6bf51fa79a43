"""Input that once ended with a traceback, hung, passed in silence or filled the terminal."""

from __future__ import annotations

import json
import os

import pytest

from trigner.corpora import read, source, write
from trigner.corpora.folders import folders_below, walk
from trigner.errors import LONGEST, InputError
from trigner.mentions import Document, Extra

LABEL = (
    '<Label drug="X" track="TAC2017_ADR"><Text><Section id="S1" name="adverse reactions">pain'
    "</Section></Text><Mentions/><Relations>{}</Relations></Label>"
)


def test_xml_of_any_depth(tmp_path, refused):
    for depth in (500, 100_000):
        (tmp_path / "a.xml").write_text(LABEL.format("<a>" * depth + "</a>" * depth))
        with refused("a.xml", 1):
            read(tmp_path)
    (tmp_path / "a.xml").write_text(LABEL.format("<a>" * 90 + "</a>" * 90))
    assert len(read(tmp_path).documents[0].extras) == 1


def posts(root, *lines):
    for folder in ("text", "original"):
        (root / folder).mkdir()
    (root / "text" / "A.1.txt").write_text("pain in hands")
    (root / "original" / "A.1.ann").write_text("".join(line + "\n" for line in lines))
    return root


@pytest.mark.parametrize(
    "line",
    [
        "pain in my hands",
        "TT ADR 0 4",
        "\tADR 0 4\tpain",
        "X1\tADR 0 4\tpain",
        "T1\tADR 8 13\thands",
    ],
)
def test_cadecs_lines_are_entities_or_notes_of_brat(tmp_path, line, refused):
    posts(tmp_path, "T1\tADR 0 4\tpain", line, "#1\tAnnotatorNotes T1\tx")
    with refused("A.1.ann", 2):
        read(tmp_path, format="cadec")
    corpus = read(tmp_path, format="cadec", skip_bad=True)
    (document,) = corpus.documents
    assert [e.id for e in document.entities] == ["T1"]
    assert [e.content for e in document.extras] == ["#1\tAnnotatorNotes T1\tx"]
    assert corpus.left_out == 1


TWICE = '{"a": 1, "a": 2}'


@pytest.mark.parametrize("format", ["brat", "cadec"])
def test_a_key_twice_in_brats_notes_of_fields(tmp_path, format, refused):
    free = f"#1\tAnnotatorNotes T1\t{TWICE}"  # which is a text
    posts(tmp_path, "T1\tADR 0 4\tpain", free, f"#2\tFields T1\t{TWICE}", f"#3\tFields *\t{TWICE}")
    if format == "brat":
        (tmp_path / "text" / "A.1.txt").rename(tmp_path / "original" / "A.1.txt")
    root = tmp_path / "original" if format == "brat" else tmp_path
    with refused("A.1.ann", 3):
        read(root, format=format)
    corpus = read(root, format=format, skip_bad=True)
    assert [(notice.line, notice.left_out) for notice in corpus.notices[:2]] == [
        (3, True),
        (4, True),
    ]
    (document,) = corpus.documents
    assert [extra.content for extra in document.extras] == [free]


def test_notes_that_brat_would_refuse_are_counted_and_not_written(tmp_path):
    document = Document("a", "pain", extras=(Extra("brat", f"#1\tFields *\t{TWICE}"),))
    report = write([document], tmp_path, format="brat")
    assert report.dropped["extras that are not lines of brat"] == 1
    assert read(tmp_path).documents == (Document("a", "pain"),)


def test_a_pipe_is_refused_before_it_is_opened(tmp_path, refused):
    os.mkfifo(tmp_path / "pipe.jsonl")
    for format in (None, "jsonl", "brat"):
        with refused("pipe.jsonl"):
            source(tmp_path / "pipe.jsonl", format=format)
    (tmp_path / "a.txt").write_text("pain")
    assert [d.id for d in read(tmp_path).documents] == ["a"]


def test_links_that_lead_to_themselves_end(tmp_path, refused):
    inner = tmp_path / "corpus" / "deep"
    inner.mkdir(parents=True)
    (inner / "a.txt").write_text("pain")
    (inner / "loop").symlink_to("loop")
    (inner / "self").symlink_to(".")
    (inner / "up").symlink_to("../..")
    (tmp_path / "other").mkdir()
    (inner / "other").symlink_to(tmp_path / "other")
    (tmp_path / "other" / "back").symlink_to(inner)
    corpus = read(tmp_path / "corpus")
    assert [d.id for d in corpus.documents] == ["deep/a"]
    assert [d.name for d in folders_below(tmp_path / "corpus")] == ["deep", "other"]
    assert [f.name for f in walk(tmp_path, (".txt", ".ann"))] == ["a.txt"]
    (inner / "a.ann").symlink_to("a.ann")
    with refused("a.ann"):
        read(tmp_path / "corpus")


def test_links_to_data_that_was_not_fetched_are_errors(tmp_path, refused):
    (tmp_path / "a.txt").write_text("pain")
    (tmp_path / "notes.md").symlink_to("nowhere")  # nothing that would be read
    assert read(tmp_path).documents == (Document("a", "pain"),)
    (tmp_path / "a.ann").symlink_to(".git/annex/objects/a.ann")
    with refused("a.ann"):
        read(tmp_path)
    (tmp_path / "a.txt").unlink()
    for path in (tmp_path, tmp_path / "a.ann"):
        with refused("a.ann"):
            read(path)


def test_a_link_to_a_folder_elsewhere_is_followed_by_corpora(tmp_path):
    posts(tmp_path, "T1\tADR 0 4\tpain")
    (tmp_path / "there").mkdir()
    (tmp_path / "original").rename(tmp_path / "there" / "original")
    (tmp_path / "text").rename(tmp_path / "there" / "text")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "cadec").symlink_to(tmp_path / "there")
    assert len(read(tmp_path / "mine").documents) == 1


LONG = "y" * 10_000_000


@pytest.mark.parametrize(
    "entity",
    [
        {"label": "X", "fragments": [[0, 4]], "text": LONG},
        {"label": "X", "fragments": [[0, LONG]]},
        {"label": "X", "fragments": LONG},
        {"label": "X", "fragments": [[0, 4]], "score": LONG},
        LONG,
    ],
)
def test_input_of_any_length_is_quoted_in_a_line(tmp_path, entity, refused):
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "pain", "entities": [entity]}))
    with refused("a.jsonl", 1) as raised:
        read(tmp_path)
    assert len(str(raised.value)) < 500
    (notice,) = read(tmp_path, skip_bad=True).notices
    assert len(str(notice)) < 500


def test_no_message_is_longer_than_a_page():
    assert len(str(InputError(LONG, path="a"))) < LONGEST + 100
    assert str(InputError("x" * LONGEST, path="a")) == f"a: {'x' * LONGEST}"


def test_long_lines_of_brat_are_quoted_in_a_line(tmp_path):
    (tmp_path / "a.txt").write_text("pain")
    for line in (LONG, f"T1\tX 0 4\t{LONG}", f"T{LONG}\tX 0 9\tpain", f"T1\t{LONG} 0 9\tpain"):
        (tmp_path / "a.ann").write_text(line)
        with pytest.raises(InputError) as raised:
            read(tmp_path)
        assert len(str(raised.value)) < 500


def test_ids_too_long_for_the_name_of_a_file_are_told_before_anything_is_written(tmp_path, refused):
    documents = [Document("a", "pain"), Document("é" * 101, "pain")]
    with refused("out"):
        write(documents, tmp_path / "out", format="brat")
    assert not (tmp_path / "out").exists()
    write([Document("b/" + "x" * 200, "pain")], tmp_path / "out", format="brat")


def test_a_pipe_in_place_of_annotations_is_refused(tmp_path, refused):
    (tmp_path / "a.txt").write_text("pain")
    os.mkfifo(tmp_path / "a.ann")
    for format in (None, "brat"):
        with refused("a.ann"):
            read(tmp_path, format=format)
    (tmp_path / "a.ann").rename(tmp_path / ".a.ann")
    assert [d.id for d in read(tmp_path).documents] == ["a"]
