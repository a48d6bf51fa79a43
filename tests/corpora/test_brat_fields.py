"""Own fields as brat's attributes and notes: they come back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given

from random_documents import documents
from trigner.corpora.brat import read, write
from trigner.corpora.brat_fields import fields_in
from trigner.corpora.reading import Reading
from trigner.mentions import Document, Entity, Extra

FIELDS = {"negated": True, "code": "C0030193", "sure": 0.5, "said": "two words", "of us": True}


def lines_written(folder, document):
    write([document], folder)
    return (folder / f"{document.id}.ann").read_text("utf-8").splitlines()


def test_attributes_where_they_can_be_and_notes_else(tmp_path):
    entity = Entity("ADR", ((0, 4),), "pain", id="T1", fields=FIELDS)
    document = Document("a", "pain", (entity,), fields={"patient": "p1"})
    assert lines_written(tmp_path, document) == [
        "T1\tADR 0 4\tpain",
        "A1\tnegated T1",
        "A2\tcode T1 C0030193",
        '#1\tFields T1\t{"sure": 0.5, "said": "two words", "of us": true}',
        '#2\tFields *\t{"patient": "p1"}',
    ]
    assert list(read(tmp_path, Reading())) == [document]


@given(documents(fields=True, extras=True))
def test_nothing_is_lost_in_a_round_trip(tmp_path_factory, made):
    folder = tmp_path_factory.mktemp("fields")
    report = write(made, folder)
    found = list(read(folder, Reading()))
    assert [d.fields for d in found] == [d.fields for d in made]
    assert [[e.fields for e in d.entities] for d in found] == [
        [e.fields for e in d.entities] for d in made
    ]
    assert [d.extras for d in found] == [d.extras for d in made]
    assert not any(
        kind.startswith(("fields", "extras")) and n for kind, n in report.dropped.items()
    )


@pytest.mark.parametrize("code", ["A15.0", "A15", "A1"])
def test_values_and_notes_that_look_like_attributes_are_none(tmp_path, code):
    """Codes of ICD-10 do."""
    text = "pain " * 16
    entities = [
        Entity("X", ((5 * n, 5 * n + 4),), "pain", id=f"T{n + 1}", fields={"negated": True})
        for n in range(15)
    ]
    entities.append(Entity("X", ((75, 79),), "pain", id="T16", fields={"code": code}))
    extras = (
        Extra("brat", f"#1\tAnnotatorNotes T1\tas {code} and A2 say"),
        Extra("brat", f"N1\tReference T1 ICD10:{code}\ttuberculosis A3"),
        Extra("brat", f"M1\tcode E1 {code}"),
    )
    document = Document("a", text, tuple(entities), extras=extras)
    write([document], tmp_path)
    assert list(read(tmp_path, Reading())) == [document]


@pytest.mark.parametrize(
    "line",
    [
        "#1\tAnnotatorNotes A1\twhy",
        '#1\tFields A1\t{"sure": 0.5}',
        "R1\tabout Arg1:A1 Arg2:T1",
        "E1\tX:T1 About:A1",
        "*\tEquiv A1 A2",
        "N1\tReference A1 ICD10:B15\tname",
        "A9\tnegated A1",
    ],
)
def test_an_attribute_that_a_line_refers_to_keeps_its_number(tmp_path, line):
    lines = ["A1\tnegated T1", line]
    assert fields_in(lines, {"T1"}, "text") == ({}, lines)
    # What is referred to need not be there: no other gets its number.
    entity = Entity("X", ((0, 4),), "pain", id="T1", fields={"negated": True})
    document = Document("a", "pain", (entity,), extras=(Extra("brat", line),))
    write([document], tmp_path)
    assert list(read(tmp_path, Reading())) == [document]


def test_numbers_of_kept_lines_are_not_used_again(tmp_path):
    extras = (Extra("brat", "A1\tSpeculation E1"), Extra("brat", "#1\tAnnotatorNotes T1\tx"))
    fields = {"negated": True, "sure": 0.5}
    document = Document("a", "pain", (Entity("X", ((0, 4),), "pain", id="T1", fields=fields),))
    document = Document("a", "pain", document.entities, extras=extras)
    assert lines_written(tmp_path, document)[1:] == [
        "A2\tnegated T1",
        '#2\tFields T1\t{"sure": 0.5}',
        "A1\tSpeculation E1",
        "#1\tAnnotatorNotes T1\tx",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ["A1\tNegated E1"],
        ["A1\tNegated T9"],
        ["A1\tlabel T1 other"],
        ["A1\tNegated T1 a b"],
        ["A1\tNegated T1", "#1\tAnnotatorNotes A1\twhy"],
        ["#1\tFields T1\t[1]"],
        ['#1\tFields T1\t{"a": }'],
        ['#1\tFields T1\t{"score": 2}'],
        ['#1\tFields *\t{"text": "x"}'],
        ['#1\tFields *\t{"spans": [{"start": 0, "end": 1}]}'],
        ["M1\tNegated T1"],
    ],
)
def test_what_says_no_field_stays_a_line(lines):
    assert fields_in(lines, {"T1"}, "text") == ({}, lines)


@pytest.mark.parametrize("value", ["NaN", "1e999"])
def test_numbers_that_are_not_finite_are_refused(tmp_path, value, refused):
    (tmp_path / "a.txt").write_text("pain")
    (tmp_path / "a.ann").write_text(f'T1\tX 0 4\tpain\n#1\tFields T1\t{{"sure": {value}}}\n')
    with refused("a.ann", 2):
        list(read(tmp_path, Reading()))


def test_a_second_value_stays_a_line():
    lines = ["A1\tcode T1 a", "A2\tcode T1 b", "A3\tcode T2 b"]
    assert fields_in(lines, {"T1", "T2"}, "text") == (
        {"T1": {"code": "a"}, "T2": {"code": "b"}},
        ["A2\tcode T1 b"],
    )


def test_lines_that_would_be_entities_are_counted_and_not_written(tmp_path):
    bad = ("T9\tX 0 1\tp", "#1 a\nT9\tX 0 1\tp", "junk", "", "#1\tx T1\ty\r", "\ufeff#1")
    document = Document("a", "pain", extras=tuple(Extra("brat", line) for line in bad))
    assert write([document], tmp_path).dropped["extras that are not lines of brat"] == len(bad)
    (found,) = read(tmp_path, Reading())
    assert (found.entities, found.extras) == ((), ())
