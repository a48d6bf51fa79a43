"""The table of formats, and reading and writing through it."""

from __future__ import annotations

import json

import pytest

from trigner import corpora
from trigner.corpora import read, source, writable, write
from trigner.corpora.formats import FORMATS, WRITABLE, known, recognise
from trigner.corpora.reading import Notice, Reading
from trigner.corpora.words import document_of
from trigner.errors import TrignerError
from trigner.mentions import Document, Entity, Mention

ENTITY = Entity("ADR", ((0, 4), (8, 13)), "pain hands", id="T1")
DOCUMENT = Document("a", "pain in hands", (ENTITY,))
CONTINUOUS = Document("a", "pain in hands", (Entity("ADR", ((0, 4),), "pain", id="T1"),))
OF_ONE_PIECE = {
    "prodigy": "a.jsonl",
    "doccano": "a.jsonl",
    "gliner": "a.json",
    "conll": "a.conll",
    "hf-tokens": "a.jsonl",
}
"""Formats that cannot hold a discontinuous entity."""
NAMES = {
    "brat": "",
    "grid": "a.json",
    "inline": "a.txt",
    "bigbio": "a.json",
    "jsonl": "a.jsonl",
    "label-studio": "a.json",
    "csv": "a.csv",
    "parquet": "a.parquet",
    "spacy": "a.spacy",
    "cas": "",
} | OF_ONE_PIECE


def test_all_names_are_offered():
    assert all(hasattr(corpora, name) for name in corpora.__all__)
    assert all(name == format.name for name, format in FORMATS.items())
    assert set(NAMES) == {*WRITABLE}


@pytest.mark.parametrize("format", NAMES)
def test_what_a_format_writes_is_recognised_as_it(tmp_path, format):
    document = CONTINUOUS if format in OF_ONE_PIECE else DOCUMENT
    write([document], tmp_path / "out" / NAMES[format], format=format)
    for path in (tmp_path / "out" / NAMES[format], tmp_path / "out"):
        corpus = read(path)
        assert corpus.format == format
        assert sum(len(d.entities) for d in corpus.documents) == 1
        assert corpus.notices == ()


@pytest.mark.parametrize("format", [name for name in NAMES if name not in ("cas", "spacy")])
def test_what_is_written_twice_is_the_same(tmp_path, format):
    target = tmp_path / "out" / NAMES[format]
    write([DOCUMENT], target, format=format)
    first = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    write([DOCUMENT], str(target), format=format)
    assert {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()} == first


def test_unknown_names_list_the_known(tmp_path, refused):
    for call in (
        lambda: known("conllx"),
        lambda: read(tmp_path, format="conllx"),
    ):
        with refused():
            call()


def test_formats_that_are_only_read_say_so(tmp_path, refused):
    with refused():
        write([], tmp_path, format="cadec")


@pytest.mark.parametrize("format", ["grid", "inline", "bigbio", "jsonl"])
def test_a_folder_in_place_of_a_file_is_refused(tmp_path, monkeypatch, format, refused):
    monkeypatch.chdir(tmp_path)
    for target in (".", "/", str(tmp_path), ""):
        with refused():
            write([DOCUMENT], target, format=format)
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_a_folder_is_refused(tmp_path, refused):
    (tmp_path / "out").write_text("mine")
    with refused("out"):
        write([DOCUMENT], tmp_path / "out", format="brat")
    assert (tmp_path / "out").read_text() == "mine"


def test_a_missing_path_is_named(tmp_path, refused):
    with refused("gone"):
        read(tmp_path / "gone")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "a\tb"),
        ("a.json", '{"a": 1}'),
        ("a.json", "[]"),
        ("a.jsonl", '{"a": 1}'),
        ("a.json", "\udcff"),
    ],
)
def test_unknown_content_is_not_guessed(tmp_path, name, content, refused):
    (tmp_path / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    for path in (tmp_path, tmp_path / name):
        with refused(path):
            read(path)


def test_a_file_that_one_format_could_read_is_told_what_is_wrong_in_it(tmp_path, refused):
    (tmp_path / "a.conll").write_text("pain B-ADR\nlegs X-ADR\n")
    with refused("a.conll", 2):
        read(tmp_path / "a.conll")


def test_an_empty_folder_is_not_guessed(tmp_path, refused):
    with refused(tmp_path):
        recognise(tmp_path)


def test_a_folder_of_several_formats_is_not_guessed(tmp_path, refused):
    write([DOCUMENT], tmp_path, format="brat")
    write([DOCUMENT], tmp_path / "b.jsonl", format="jsonl")
    with refused(tmp_path):
        read(tmp_path)
    assert len(read(tmp_path, format="jsonl").documents) == 1


def test_tables_beside_a_corpus_are_not_the_corpus(tmp_path):
    write([DOCUMENT], tmp_path, format="brat")
    (tmp_path / "patients.csv").write_text("patient,age\np1,30\n")
    corpus = read(tmp_path)
    assert corpus.format == "brat"
    assert [notice.message for notice in corpus.notices] == [
        "1 file skipped that brat does not read, and --from csv does, such as patients.csv"
    ]


def test_files_that_are_not_read_are_counted(tmp_path):
    write([DOCUMENT], tmp_path, format="brat")
    assert read(tmp_path).notices == ()
    (tmp_path / "b.json").write_text("{}")  # no format's, or two formats' together
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.JSONL").write_text("{}")
    (tmp_path / "readme.md").write_text("what this is")
    (tmp_path / "._a.ann").write_text("")
    (tmp_path / ".cache").mkdir()
    (tmp_path / ".cache" / "a.txt").write_text("")
    (tmp_path / ".cache" / "a.json").write_text("")
    write([DOCUMENT], tmp_path / "e.jsonl", format="jsonl")
    write([DOCUMENT], tmp_path / "f.spacy", format="spacy")
    assert [str(notice) for notice in read(tmp_path, format="brat").notices] == [
        f"{tmp_path}: 2 hidden files skipped, such as ._a.ann",
        f"{tmp_path}: 1 file skipped that brat does not read, and --from jsonl does, such as"
        " e.jsonl",
        f"{tmp_path}: 1 file skipped that brat does not read, and --from spacy does, such as"
        " f.spacy",
        f"{tmp_path}: 3 files skipped, in no known format, such as b.json",
    ]
    assert read(tmp_path / "a.txt").notices == ()


@pytest.mark.parametrize("format", ["grid", "inline", "bigbio", "jsonl"])
def test_endings_in_capitals_do_as_well(tmp_path, format):
    write([DOCUMENT], tmp_path / "out" / NAMES[format].upper(), format=format)
    for path in (tmp_path / "out", tmp_path / "out" / NAMES[format].upper()):
        assert read(path).format == format


def test_a_folder_laid_out_as_two_corpora_is_not_guessed(tmp_path, refused):
    for folder, file in (
        *(("text", "a.txt"), ("original", "a.ann")),
        ("labels", "a.xml"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_text("<Label drug='x'>" if file == "a.xml" else "")
    with refused(tmp_path):
        read(tmp_path)
    with refused(tmp_path):
        read(tmp_path, split="train")


def test_splits_are_folders_or_files(tmp_path, refused):
    write([DOCUMENT], tmp_path / "dev", format="brat")
    write([DOCUMENT], tmp_path / "train.json", format="grid")
    assert read(tmp_path, split="dev").format == "brat"
    assert read(tmp_path, split="train").format == "grid"
    with refused(tmp_path):
        read(tmp_path, split="test")
    (tmp_path / "train").mkdir()
    with refused(tmp_path):
        read(tmp_path, split="train")


def test_a_part_may_be_a_file_of_any_format(tmp_path, refused):
    (tmp_path / "train.conll").write_text("pain\tB-X\n")
    (tmp_path / "test.txt").write_text("pain")
    (tmp_path / "test.ann").write_text("T1\tX 0 4\tpain\n")
    assert read(tmp_path, split="train").format == "conll"
    assert read(tmp_path, split="test").format == "brat"
    # A table next to it is no second part, unless it is asked for.
    (tmp_path / "train.csv").write_text("text\npain\n")
    assert read(tmp_path, split="train").format == "conll"
    assert read(tmp_path, split="train", format="csv").format == "csv"
    (tmp_path / "v1.0").mkdir()
    (tmp_path / "v1.0/a.inline").write_text("pain\n")
    (tmp_path / "v1.0.csv").write_text("text\npain\n")
    assert read(tmp_path, split="v1.0", format="inline").format == "inline"
    with refused(tmp_path):
        read(tmp_path, split="dev")


def test_skipped_annotations_are_in_the_notices(tmp_path, refused):
    bad = {"index": [7], "type": "X"}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"sentence": ["a"], "ner": [bad]}]))
    with refused("a.json", 1):
        read(path)
    (notice,) = read(path, skip_bad=True).notices
    assert notice == Notice(path, 1, "left out: word 7 is outside a sentence of 1 words", True)


def test_one_id_twice_is_refused(tmp_path, refused):
    (tmp_path / "a.jsonl").write_text('{"id": "x", "text": "a"}\n{"id": "x", "text": "b"}\n')
    with refused("a.jsonl", 2):
        read(tmp_path)


@pytest.mark.parametrize("format", ["grid", "jsonl", "bigbio", "inline"])
def test_files_without_an_ending_are_recognised_by_what_they_hold(tmp_path, format):
    document = document_of("s", ["my", "leg", "hurt"], [Mention((1, 2), "ADR")])
    write([document], tmp_path / "found", format=format)
    corpus = read(tmp_path / "found")
    assert corpus.format == format
    assert len(corpus.documents[0].entities) == 1


def test_a_source_is_read_one_document_at_a_time_and_again(tmp_path, refused):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.txt").write_text(name)
    found = source(tmp_path)
    assert found.format.name == "brat"
    documents = found.documents(Reading())
    assert next(documents).id == "a"
    (tmp_path / "c.txt").write_bytes(b"\xff")
    assert next(documents).id == "b"
    with refused("c.txt", 1):
        next(documents)
    (tmp_path / "c.txt").write_text("c")
    assert [d.id for d in found.documents(Reading())] == ["a", "b", "c"]


def test_what_can_be_written_where(tmp_path, refused):
    assert writable("jsonl", tmp_path / "a").name == "jsonl"
    for format in ("conllx", "cadec"):
        with refused():
            writable(format, tmp_path / "a")
    with refused(tmp_path):
        writable("jsonl", tmp_path)


@pytest.mark.parametrize(
    ("format", "name", "extra"),
    [
        ("parquet", "a.parquet", "tables"),
        ("parquet", "a", "tables"),
        ("hf-tokens", "a.parquet", "tables"),
        ("spacy", "a.spacy", "spacy"),
        ("cas", "a", "cas"),
    ],
)
def test_what_a_format_needs_is_asked_for_before_the_work(
    format, name, extra, tmp_path, monkeypatch, refused
):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert writable("hf-tokens", tmp_path / "a.jsonl").name == "hf-tokens"
    with refused(error=TrignerError):
        writable(format, tmp_path / name)
