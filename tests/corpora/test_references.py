"""What names entities that were left out."""

from __future__ import annotations

import json

import pytest

from trigner.corpora import read, with_types, write
from trigner.corpora.references import count_of, say_labels, without_dangling
from trigner.mentions import Document, Entity, Extra

TEXT = "Aspirin caused a rash."
DRUG = Entity("Drug", ((0, 7),), "Aspirin", id="T1")
RASH = Entity("ADR", ((17, 21),), "rash", id="T2")

OF_RASH = ("N1\tReference T2 UMLS:C0015230\trash", "#1\tAnnotatorNotes T2\tT1, T9 and R9")
OF_DRUG = (
    "R1\tCauses Arg1:T1 Arg2:T2",
    "E1\tDrug:T1 Theme:T2",
    "E2\tADR:T2 Cause:E1",
    "A1\tSpeculation E2",
    "A2\tNegation R1",
    "*\tEquiv T1 T2",
    "#2\tAnnotatorNotes A1\tsure?",
)


def of_brat(*lines: str) -> Document:
    extras = tuple(Extra("brat", line) for line in lines)
    return Document("d", TEXT, (DRUG, RASH), extras=extras)


def test_lines_of_brat_go_with_their_entities_and_with_each_other():
    document = of_brat(*OF_DRUG, *OF_RASH)
    assert without_dangling(document) == document
    (left,) = with_types([document], ["ADR"])
    assert [extra.content for extra in left.extras] == [*OF_RASH]
    assert (count_of([document]), count_of([left])) == (9, 2)


def test_what_names_nothing_stays_where_nothing_is_left_out():
    document = of_brat("R1\tCauses Arg1:T1 Arg2:T9")
    assert with_types([document], ["ADR", "Drug"]) == with_types([document], None) == (document,)


def test_a_long_chain_is_followed_to_its_end():
    chain = [f"E{n}\tADR:T2 Cause:E{n - 1}" for n in range(20_000, 1, -1)]
    (left,) = with_types([of_brat(*chain, "E1\tDrug:T1")], ["ADR"])
    assert left.extras == ()


RELATION = {"arg1_id": "T1", "arg2_id": "T2", "type": "causes"}
EVENT = {"type": "ADR", "trigger": {"text": ["rash"], "offsets": [[17, 21]]}}
PLACE = {"head": 0, "child": 3, "label": "CAUSES"}
AT_DRUG, AT_RASH = {"start": 0, "end": 7, "label": "Drug"}, {"start": 17, "end": 21, "label": "ADR"}


@pytest.mark.parametrize(
    ("format", "given", "left"),
    [
        (
            "bigbio",
            {
                "relations": [
                    RELATION,
                    {**RELATION, "arg1_id": "e2"},
                    {**RELATION, "arg1_id": "e1"},
                ],
                "events": [
                    {**EVENT, "id": "e1", "arguments": [{"role": "Cause", "ref_id": "T1"}]},
                    {**EVENT, "id": "e2", "arguments": [{"role": "Theme", "ref_id": "T2"}]},
                ],
                "coreferences": [{"entity_ids": ["T1", "T2"]}],
                "passages": [1],
            },
            {
                "passages": [1],
                "relations": [{**RELATION, "arg1_id": "e2"}],
                "events": [{**EVENT, "id": "e2", "arguments": [{"role": "Theme", "ref_id": "T2"}]}],
            },
        ),
        # Relations have ids of their own, which are not those of entities.
        ("doccano", {"relations": [{"id": "T1", "from_id": "T1", "to_id": "T2"}]}, None),
        (
            "label-studio",
            {
                "result": [
                    {"type": "relation", "from_id": "T1", "to_id": "T2"},
                    {"type": "choices", "id": "x", "value": {"choices": ["good"]}},
                ]
            },
            {"result": [{"type": "choices", "id": "x", "value": {"choices": ["good"]}}]},
        ),
        (
            "prodigy",
            {
                "tokens": [1],
                "relations": [
                    {**PLACE, "head_span": AT_DRUG, "child_span": AT_RASH},
                    {**PLACE, "head_span": {**AT_DRUG, "label": None}, "child_span": AT_RASH},
                    PLACE,
                ],
            },
            {
                "tokens": [1],
                "relations": [
                    {**PLACE, "head_span": {**AT_DRUG, "label": None}, "child_span": AT_RASH},
                    PLACE,
                ],
            },
        ),
    ],
)
def test_entries_of_json_formats_go_with_their_entities(format, given, left):
    document = Document("d", TEXT, (DRUG, RASH), extras=(Extra(format, json.dumps(given)),))
    assert without_dangling(document) == document
    (found,) = with_types([document], ["ADR"])
    assert [json.loads(extra.content) for extra in found.extras] == ([left] if left else [])
    assert count_of([document]) > count_of([found])


@pytest.mark.parametrize("content", ["no JSON", "[]", '{"relations": 1}', '{"relations": [1, {}]}'])
def test_what_has_another_form_stays_for_writers_to_judge(content):
    extras = tuple(Extra(format, content) for format in ("bigbio", "grid"))
    document = Document("d", TEXT, (DRUG,), extras=extras)
    (left,) = with_types([document], ["ADR"])
    assert left.extras == extras
    assert not say_labels([document], ["ADR"])


def test_choices_about_a_region_go_with_it_and_are_counted():
    at_drug = {"id": "T1", "value": {"start": 0, "end": 7, "choices": ["a"]}, "type": "choices"}
    without_label = {"id": "x", "value": {"start": 8, "end": 14, "labels": []}, "type": "labels"}
    about_it = {"id": "x", "value": {"start": 8, "end": 14, "text": ["?"]}, "type": "textarea"}
    given = {"result": [at_drug, {**at_drug, "type": "rating"}, without_label, about_it]}
    extras = (Extra("label-studio", json.dumps(given)),)
    document = Document("d", TEXT, (DRUG, RASH), extras=extras)
    assert without_dangling(document) == document
    (left,) = with_types([document], ["ADR"])
    assert json.loads(left.extras[0].content) == {"result": [without_label, about_it]}
    assert (count_of([document]), count_of([left])) == (4, 2)


def test_a_span_is_named_by_its_place_and_label():
    other = Entity("Brand", DRUG.fragments, "Aspirin")
    relation = {**PLACE, "head_span": AT_DRUG, "child_span": AT_RASH}
    extras = (Extra("prodigy", json.dumps({"relations": [relation]})),)
    document = Document("d", TEXT, (DRUG, other, RASH), extras=extras)
    assert with_types([document], ["Drug", "ADR"])[0].extras == extras
    assert with_types([document], ["Brand", "ADR"])[0].extras == ()


def test_labels_in_events_and_spans():
    relation = {"head_span": AT_DRUG, "child_span": AT_RASH, "type": "Sign"}
    documents = [
        of_brat("E1\tADR:T2", "R1\tDrug Arg1:T1 Arg2:T2"),
        Document("d", TEXT, extras=(Extra("bigbio", json.dumps({"events": [EVENT]})),)),
        Document("d", TEXT, extras=(Extra("prodigy", json.dumps({"relations": [relation]})),)),
    ]
    assert [say_labels([d], ["ADR"]) for d in documents] == [True, True, True]
    assert [say_labels([d], ["Drug"]) for d in documents] == [False, False, True]
    assert not say_labels(documents, ["Sign"])


def test_what_names_skipped_annotations_is_skipped_and_counted(tmp_path):
    for name in ("a", "b"):
        document = of_brat(*OF_DRUG, *OF_RASH)
        write(
            [Document(name, TEXT, document.entities, extras=document.extras)],
            tmp_path,
            format="brat",
        )
    path = tmp_path / "a.ann"
    path.write_text(path.read_text().replace("T1\tDrug 0 7", "T1\tDrug 0 6"))
    corpus = read(tmp_path, skip_bad=True)
    assert [len(document.extras) for document in corpus.documents] == [2, 9]
    assert [str(notice) for notice in corpus.notices[1:]] == [
        f"{tmp_path}: relations, events or notes left out, as they name annotations that are: 7"
    ]
