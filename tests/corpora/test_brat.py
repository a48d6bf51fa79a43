"""brat: what is read, what is refused, and that nothing is lost on the way back."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from random_documents import documents
from trigner.corpora import brat
from trigner.corpora.brat import parse_entity, read, recognises, write
from trigner.corpora.reading import Reading
from trigner.mentions import Document, Entity, Extra

PUBLISHED = Path(__file__).resolve().parents[2].parent / "shared" / "data"
TEXT = "pain in hands\r\nand legs \U0001f635 ok"


def folder_of(root, annotations, text=TEXT):
    (root / "a.txt").write_bytes(text.encode())
    data = annotations if isinstance(annotations, bytes) else annotations.encode()
    (root / "a.ann").write_bytes(data)
    return root


def only(root, reading=None):
    (document,) = read(root, reading or Reading())
    return document


def test_fragments_are_sorted_and_offsets_count_characters(tmp_path):
    document = only(folder_of(tmp_path, "T3\tADR 24 25;0 4\t\U0001f635 pain \r\n"))
    assert document.text == TEXT
    assert document.entities == (Entity("ADR", ((0, 4), (24, 25)), "pain \U0001f635", id="T3"),)


def test_other_lines_are_kept_in_order(tmp_path):
    lines = ["R1\tq Arg1:T1 Arg2:T1\t", "#1\tAnnotatorNotes T1\tsee  here", "*\tEquiv T1 T1"]
    lines += ["E1\tX:T1", "A1\tNegated E1", "M1\tNegated E1", "N1\tReference T1 D:1\tpain"]
    document = only(folder_of(tmp_path, "\n".join(["T1\tADR 0 4\tpain", *lines, "", ""])))
    assert document.extras == tuple(Extra("brat", line) for line in lines)
    write([document], tmp_path / "out")
    written = (tmp_path / "out" / "a.ann").read_bytes().decode()
    assert written == "\n".join(["T1\tADR 0 4\tpain", *lines, ""])


def test_the_same_thing_twice_is_kept(tmp_path):
    document = only(folder_of(tmp_path, "T1\tADR 0 4\tpain\nT2\tADR 0 4\tpain\n"))
    assert [e.id for e in document.entities] == ["T1", "T2"]


@pytest.mark.parametrize(
    "line",
    [
        "T2\tADR 0 400\tpain",
        "T2\tADR -3 4\tpain",
        "T2\tADR 4 4\t",
        "T2\tADR 4 0\tpain",
        "T2\tADR 0 4;3 6\tpain n i",
        "T2\tADR 0 4.0\tpain",
        "T2\tADR  0 4\tpain",
        "T2\tADR 0 " + "9" * 5000 + "\tpain",
        "T2\tADR 0 \u0664\tpain",
        "T2\tADR 0 4\tpains",
        "T2\tADR 0 4",
        "T2 ADR 0 4 pain",
        "T2\t0 4\tpain",
        "T\tADR 0 4\tpain",
        "T1\tADR 5 7\tin",
        "2\tADR 0 4\tpain",
        "and the rest of a surface",
    ],
)
def test_a_bad_annotation_stops_or_is_listed(tmp_path, line, refused):
    folder_of(tmp_path, f"T1\tADR 0 4\tpain\n \n{line}\nT9\tADR 8 13\thands\n")
    with refused(tmp_path / "a.ann", 3):
        only(tmp_path)
    reading = Reading(skip_bad=True)
    assert [e.id for e in only(tmp_path, reading).entities] == ["T1", "T9"]
    assert [n.line for n in reading.notices] == [3]


def test_white_space_in_surfaces_does_not_matter(tmp_path):
    reading = Reading()
    document = only(folder_of(tmp_path, "T1\tADR 8 18\thands  and \nT2\tX 0 5\tpain"), reading)
    assert document.entities[0].text == "hands\r\nand"
    assert document.entities[1].text == "pain "
    assert reading.notices == []


def test_tabs_are_part_of_a_surface_and_a_byte_order_mark_of_nothing(tmp_path):
    document = only(folder_of(tmp_path, "\ufeffT1\tDose 0 4\t10\tL\n", "10\tL"))
    assert document.entities == (Entity("Dose", ((0, 4),), "10\tL", id="T1"),)


def test_bytes_are_named_with_file_and_line(tmp_path, refused):
    folder_of(tmp_path, b"T1\tADR 0 4\tpain\n#1\tNote T1\tcaf\xe9\n")
    with refused("a.ann", 2):
        only(tmp_path)


def test_texts_without_annotations_are_documents_without_entities(tmp_path, refused):
    folder_of(tmp_path, "T1\tADR 0 4\tpain\n")
    (tmp_path / "b.txt").write_text("raw")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.txt").write_text("raw")
    reading = Reading()
    found = {d.id: len(d.entities) for d in read(tmp_path, reading)}
    assert found == {"a": 1, "b": 0, "deep/c": 0}
    assert [str(n) for n in reading.notices] == [
        f"{tmp_path}: no .ann for 2 of 3 texts, such as b.txt: read as documents without entities"
    ]
    with refused(tmp_path):
        list(read(tmp_path, Reading(missing_annotations="error")))


def test_no_annotations_at_all_are_no_missing_ones(tmp_path):
    (tmp_path / "b.txt").write_text("raw")
    assert len(list(read(tmp_path, Reading(missing_annotations="error")))) == 1


def test_a_folder_of_texts_alone_has_nothing_to_tell(tmp_path):
    (tmp_path / "b.txt").write_text("raw")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.txt").write_text("")
    reading = Reading()
    assert [(d.id, d.text) for d in read(tmp_path, reading)] == [("b", "raw"), ("deep/c", "")]
    assert reading.notices == []


@pytest.mark.parametrize("name", ["a.txt", "a.ann"])
def test_either_file_stands_for_the_pair(tmp_path, name):
    folder_of(tmp_path, "T1\tADR 0 4\tpain\n")
    document = only(tmp_path / name)
    assert (document.id, len(document.entities)) == ("a", 1)


@pytest.mark.parametrize("name", ["", "b.ann"])
def test_annotations_without_text_are_refused(tmp_path, name, refused):
    (tmp_path / "b.ann").write_text("T1\tADR 0 4\tpain\n")
    with refused("b.ann"):
        only(tmp_path / name)


@pytest.mark.parametrize("ending", ["a1", "a2"])
def test_annotations_in_another_dialect_are_refused(tmp_path, ending, refused):
    (tmp_path / "a.txt").write_text("pain")
    (tmp_path / f"a.{ending}").write_text("T1\tADR 0 4\tpain\n")
    with refused():
        only(tmp_path)


def test_an_empty_folder_is_told(tmp_path, refused):
    assert not recognises(tmp_path)
    with refused(tmp_path):
        list(read(tmp_path, Reading()))


def test_recognised_by_names(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.txt").write_text("x")
    assert recognises(tmp_path)
    assert recognises(tmp_path / "deep" / "a.txt")
    assert not recognises(tmp_path / "deep" / "a.json")


def test_an_entity_line_may_be_parsed_without_its_surface():
    assert parse_entity("T1\tADR 0 4", TEXT) == Entity("ADR", ((0, 4),), "pain", id="T1")


@given(documents(extras=True))
def test_nothing_is_lost_in_a_round_trip(tmp_path_factory, made):
    root = tmp_path_factory.mktemp("brat")
    report = write(made, root)
    found = tuple(read(root, Reading()))
    assert report.files == 2 * len(made)
    assert not any(report.dropped.values())
    for before, after in zip(made, found, strict=True):
        assert (after.id, after.text, after.extras) == (before.id, before.text, before.extras)
        assert [e.id for e in after.entities] == [e.id for e in before.entities]
        keys = [before.key(e) for e in before.entities]
        assert [after.key(e) for e in after.entities] == keys
        for one, other in zip(before.entities, after.entities, strict=True):
            if not set(one.text) & set("\r\n"):
                assert other == one
    again = root / "again"
    write(found, again)
    for document in made:
        for ending in (".txt", ".ann"):
            name = document.id + ending
            assert (again / name).read_bytes() == (root / name).read_bytes()


def test_a_writing_that_is_cut_off_leaves_nothing_that_looks_complete(
    tmp_path, monkeypatch, refused
):
    whole = brat.write_text
    written = []

    def cut_off(path, text):
        if written:
            raise KeyboardInterrupt
        written.append(path)
        whole(path, text)

    monkeypatch.setattr(brat, "write_text", cut_off)
    with pytest.raises(KeyboardInterrupt):
        write([Document("a", "pain", (Entity("ADR", ((0, 4),), "pain"),))], tmp_path)
    with refused("a.ann"):
        list(read(tmp_path, Reading()))


def test_a_fragment_over_lines_is_written_line_by_line(tmp_path):
    text = "left\r\n\nleg\n"
    entity = Entity("X", ((0, 11),), text)
    blank = (Entity("X", ((10, 11),), "\n"), Entity("X", ((4, 6),), "\r\n"))
    write([Document("a", text, (entity, *blank))], tmp_path)
    assert (tmp_path / "a.ann").read_bytes().decode() == (
        "T1\tX 0 4;7 10\tleft leg\nT2\tX 10 11\t \nT3\tX 4 6\t  \n"
    )


def test_blanks_in_surfaces_are_written_as_they_stand(tmp_path):
    text = "10  9  per\tL"
    write([Document("a", text, (Entity("X", ((0, 12),), text),))], tmp_path)
    assert (tmp_path / "a.ann").read_text() == "T1\tX 0 12\t10  9  per L\n"


def test_new_ids_are_ones_that_nothing_refers_to(tmp_path):
    entity = Entity("X", ((0, 1),), "a")
    named = [replace(entity, id=name) for name in (None, "T2", "T2", "17", None)]
    extras = (Extra("brat", "R1\tq Arg1:T1 Arg2:T2"), Extra("other", "T3"))
    report = write([Document("a", "a", tuple(named), extras=extras)], tmp_path)
    lines = (tmp_path / "a.ann").read_text().splitlines()
    assert [line.split("\t")[0] for line in lines] == ["T3", "T2", "T4", "T5", "T6", "R1"]
    assert report.dropped["entity ids"] == 2
    assert report.dropped["extras of other formats"] == 1


def test_what_brat_cannot_hold_is_counted(tmp_path):
    one = Entity("adverse  event", ((0, 1),), "a", 0.5, "T1")
    entities = (one, replace(one, score=0.0, id="T2"), Entity("X", ((0, 1),), "a"))
    report = write([Document("a", "a", entities, words=((0, 1),))], tmp_path)
    lost = {kind: n for kind, n in report.dropped.items() if n}
    assert lost == {"scores": 2, "blanks in labels": 2, "given word boundaries": 1}
    assert "\tadverse_event 0 1\t" in (tmp_path / "a.ann").read_text()


@pytest.mark.parametrize("id", ["", "../a", "/a", "b/../../a", "b//a", ".", "a/", "a\0", "b/../a"])
def test_ids_that_are_no_file_names_are_refused_before_anything_is_written(tmp_path, id, refused):
    with refused("out"):
        write([Document("good", "x"), Document(id, "x")], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ids", [("a", "a.txt/b"), ("c/a.ann/b/d", "c/a"), ("a", "a.ann/b")])
def test_files_where_others_need_folders_are_refused_before_anything_is_written(
    tmp_path, ids, refused
):
    for order in (ids, reversed(ids)):
        with refused("out"):
            write([Document(id, "x") for id in order], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    others = {"a", "a/b", "a.tx/c", "a.txt"}
    write([Document(id, "x") for id in others], tmp_path)
    assert {d.id for d in read(tmp_path, Reading())} == others


def test_a_stream_is_written_up_to_what_is_refused(tmp_path, refused):
    with refused(tmp_path):
        write(iter([Document("a", "x"), Document("a", "y")]), tmp_path)
    assert (tmp_path / "a.txt").read_text() == "x"


@pytest.mark.parametrize("id", [".a", "b/.a", ".b/a", "__MACOSX/a"])
def test_ids_that_would_be_hidden_files_are_refused(tmp_path, id, refused):
    with refused("out"):
        write([Document(id, "x")], tmp_path / "out")


def test_endings_in_capitals_do_as_well(tmp_path):
    (tmp_path / "a.TXT").write_text("pain")
    (tmp_path / "a.Ann").write_text("T1\tADR 0 4\tpain\n")
    (tmp_path / "b.TXT").write_text("pain")
    (tmp_path / "b.ANN").write_text("T1\tADR 0 4\tpain\n")
    assert recognises(tmp_path)
    found = list(read(tmp_path, Reading()))
    assert [(d.id, len(d.entities)) for d in found] == [("a", 1), ("b", 1)]
    for name in ("b.TXT", "b.ANN"):
        assert recognises(tmp_path / name)
        assert only(tmp_path / name) == found[1]


def test_two_files_of_one_name_are_refused(tmp_path, refused):
    for name in ("a.txt", "a.TXT"):
        (tmp_path / name).write_text(name)
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("names differ in more than their case here")
    with refused("a.txt"):
        list(read(tmp_path, Reading()))


def test_hidden_files_are_not_read(tmp_path):
    folder_of(tmp_path, "T1\tADR 0 4\tpain\n")
    (tmp_path / "._a.ann").write_bytes(b"\x00\xff")
    (tmp_path / ".ipynb_checkpoints").mkdir()
    (tmp_path / ".ipynb_checkpoints" / "a-checkpoint.txt").write_text("old")
    assert only(tmp_path).id == "a"


def test_a_link_out_of_the_folder_is_refused(tmp_path, refused):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deep").symlink_to(tmp_path)
    with refused("out"):
        write([Document("deep/a", "x")], tmp_path / "out")


def test_an_id_twice_is_refused(tmp_path, refused):
    with refused(tmp_path):
        write([Document("a", "x"), Document("a", "y")], tmp_path)


@pytest.mark.parametrize(
    "entity",
    [
        Entity("", ((0, 1),), "a"),
        Entity(" ", ((0, 1),), "a"),
        Entity("X", (), ""),
        Entity("X", ((0, 2),), "a"),
    ],
)
def test_entities_that_could_not_be_read_again_are_refused(tmp_path, entity, refused):
    with refused(tmp_path):
        write([Document("a", "a", (entity,))], tmp_path)


@pytest.mark.parametrize("name", ["a.b", "a.txt", "a.ann", "ü \U0001f635", "x/y.z/a."])
def test_ids_survive_as_file_names(tmp_path, name):
    write([Document(name, "x")], tmp_path)
    assert [d.id for d in read(tmp_path, Reading())] == [name]


COUNTS = {
    "spl-adr/train": (163, 9467, 684),
    "spl-adr/dev": (28, 1472, 108),
    "spl-adr/test": (48, 2488, 160),
}


def published(name):
    folder = PUBLISHED / name
    if not folder.is_dir():
        pytest.skip(f"the open corpora are not next to the checkout: no {folder.name}")
    return folder


def sizes(found):
    count = sum(len(d.entities) for d in found)
    return len(found), count, sum(d.is_discontinuous(e) for d in found for e in d.entities)


def lines_of(path):
    return Counter(path.read_bytes().decode().split("\n"))


@pytest.mark.corpora
@pytest.mark.parametrize("name", COUNTS)
def test_spl_adr_comes_back_line_by_line(tmp_path, name):
    folder = published(name)
    reading = Reading()
    found = list(read(folder, reading))
    assert sizes(found) == COUNTS[name]
    assert reading.notices == []
    write(found, tmp_path)
    for path in folder.iterdir():
        if path.suffix == ".txt":
            assert (tmp_path / path.name).read_bytes() == path.read_bytes()
        else:
            assert lines_of(tmp_path / path.name) == lines_of(path)


def normal(line):
    """An entity's line with fragments in order and without blanks that surround its surface."""
    if not line.startswith("T"):
        return line
    name, what, _ = line.split("\t")
    label, offsets = what.split(" ", 1)
    pairs = sorted(tuple(map(int, pair.split())) for pair in offsets.split(";"))
    return name, label, tuple(pairs)


@pytest.mark.corpora
def test_pgxcorpus_comes_back_with_fragments_in_order(tmp_path):
    total = [0, 0, 0]
    for part, count in (("train", 661), ("dev", 93), ("test", 191)):
        folder = published(f"pgxcorpus/{part}")
        reading = Reading()
        found = list(read(folder, reading))
        assert len(found) == count
        assert reading.notices == []
        total = [a + b for a, b in zip(total, sizes(found), strict=True)]
        write(found, tmp_path / part)
        assert list(read(tmp_path / part, Reading())) == found
        for path in folder.glob("*.ann"):
            before, after = lines_of(path), lines_of(tmp_path / part / path.name)
            before.pop("", None), after.pop("", None)
            assert Counter(map(normal, before)) == Counter(map(normal, after))
    assert total == [945, 6761, 407]
