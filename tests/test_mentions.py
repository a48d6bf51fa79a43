from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from random_documents import documents
from trigner.mentions import (
    Document,
    Entity,
    Mention,
    check_fragments,
    fragment_from,
    joined,
    shortened,
    surface_of,
    types_of,
)


@pytest.mark.parametrize("words", [(), (2, 1), (1, 1), (-1, 0)])
def test_words_of_a_mention_are_increasing(words, refused):
    with refused(error=ValueError):
        Mention(words, "ADR")


@pytest.mark.parametrize(
    ("words", "expected"), [((3,), False), ((1, 2, 3), False), ((0, 2), True), ((0, 1, 3), True)]
)
def test_discontinuous_mentions(words, expected):
    assert Mention(words, "ADR").is_discontinuous is expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((3,), ((3, 3),)),
        ((1, 2, 3), ((1, 3),)),
        ((0, 2), ((0, 0), (2, 2))),
        ((0, 1, 3, 6, 7), ((0, 1), (3, 3), (6, 7))),
    ],
)
def test_segments_of_a_mention(words, expected):
    assert Mention(words, "ADR").segments == expected


@given(st.sets(st.integers(0, 12), min_size=1))
def test_segments_are_the_words_and_do_not_touch(words):
    segments = Mention(tuple(sorted(words)), "ADR").segments
    assert [word for first, last in segments for word in range(first, last + 1)] == sorted(words)
    assert all(start > end + 1 for (_, end), (start, _) in pairwise(segments))


def entity(*fragments):
    return Entity("ADR", fragments, "")


TEXT = "pain \n in my legs , badly "


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        (((0, 4),), ((0, 4),)),
        (((0, 5),), ((0, 4),)),  # a trailing blank
        (((0, 4), (7, 9)), ((0, 9),)),  # only white space between
        (((7, 9), (0, 4)), ((0, 9),)),  # in any order
        (((0, 4), (10, 12)), ((0, 4), (10, 12))),
        (((0, 4), (4, 7)), ((0, 4),)),  # a fragment of blanks
        (((5, 7),), ()),
        (((7, 9), (9, 12)), ((7, 12),)),  # touching
        (((0, 9), (0, 4), (1, 3)), ((0, 9),)),  # one inside another
    ],
)
def test_merged_fragments(fragments, expected):
    assert Document("d", TEXT).merged(fragments) == expected
    assert Document("d", TEXT).key(entity(*fragments)) == ("ADR", expected)
    assert Document("d", TEXT).is_discontinuous(entity(*fragments)) is (len(expected) > 1)


def test_a_given_word_of_white_space_stands_between():
    document = Document("d", "a \xa0 b", words=((0, 1), (2, 3), (4, 5)))
    assert document.merged(((0, 1), (4, 5))) == ((0, 1), (4, 5))
    assert Document("d", "a \xa0 b").merged(((0, 1), (4, 5))) == ((0, 5),)


@given(st.text(alphabet="a ", max_size=12), st.data())
def test_given_words_between_fragments_are_found_by_bisection(text, data):
    bounds = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=10)))
    words = tuple(zip(bounds[::2], bounds[1::2], strict=False))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    between = any(start <= a and b <= end for a, b in words)
    expected = not text[start:end].strip() and not between
    for own in (words, tuple(list(word) for word in words)):
        assert Document("d", text, words=own)._only_blank(start, end) == expected


@given(st.text(alphabet="ab \n,", max_size=30), st.data())
def test_merging_keeps_every_character_that_is_not_blank(text, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    fragments = list(zip(cuts[::2], cuts[1::2], strict=False))
    merged = Document("d", text).merged(fragments)
    assert merged == Document("d", text).merged(merged)
    kept = {i for a, b in merged for i in range(a, b) if text[i].strip()}
    assert kept == {i for a, b in fragments for i in range(a, b) if text[i].strip()}
    for (_, end), (start, _) in pairwise(merged):
        assert text[end:start].strip()


def test_surface():
    assert Document("d", TEXT).surface(((0, 4), (13, 17))) == "pain legs"


def test_neighbouring_words_are_one_fragment():
    ranges = ((0, 2), (3, 7), (8, 8), (9, 13))
    assert joined((0, 1, 3), ranges) == ((0, 7), (9, 13))
    assert joined((1, 2, 3), ranges) == ((3, 13),)
    assert joined((), ranges) == ()
    with pytest.raises(IndexError):
        joined((4,), ranges)


@pytest.mark.parametrize(
    "fragments",
    [
        (),
        ((2, 2),),
        ((3, 2),),
        ((-1, 2),),
        ((0, 10),),
        ((0, 4), (3, 6)),
    ],
)
def test_invalid_fragments(fragments, refused):
    with refused(error=ValueError):
        check_fragments(fragments, 9)


def test_touching_fragments_are_fine():
    check_fragments(((0, 3), (3, 9)), 9)


def test_fragments_come_from_pairs_of_integers(refused):
    assert fragment_from([0, 4]) == (0, 4)
    for value in (None, 3, [1], [1, "2"], [1, 2.0], [0, True], [1, 2, 3]):
        with refused(error=ValueError):
            fragment_from(value)


def test_surfaces_are_checked_in_either_order_without_white_space(refused):
    given = [(8, 13), (0, 4)]
    for surface in (None, "pain  hands", "hands pain"):
        entity = Entity.in_text("pain in hands", "ADR", given, surface=surface)
        assert entity == Entity("ADR", ((0, 4), (8, 13)), "pain hands")
    for surface in ("pain", "", 3):
        with refused(error=ValueError):
            Entity.in_text("pain in hands", "ADR", given, surface=surface)


def test_surface_of_fragments():
    assert surface_of("pain in hands", [(0, 4), (8, 13)]) == "pain hands"


@given(documents(scored=True, extras=True))
def test_documents_come_back_from_json(made):
    for document in made:
        given_words = Document(document.id, document.text, words=((0, 0), (0, 1)))
        for one in (document, given_words, Document("e", "", words=())):
            assert Document.from_dict(json.loads(json.dumps(one.to_dict()))) == one


@given(documents(scored=True))
def test_entities_come_back_from_json(made):
    for document in made:
        for entity in document.entities:
            again = json.loads(json.dumps(entity.to_dict()))
            assert Entity.from_dict(again, document.text) == entity


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"text": "a"},
        {"id": True, "text": "a"},
        {"id": "d", "text": "a", "entities": [3]},
        {"id": "d", "text": "a", "entities": [{"label": "", "fragments": [[0, 1]]}]},
        {"id": "d", "text": "a", "words": [[0, 2]]},
        {"id": "d", "text": "a", "words": [[-1, 1]]},
        {"id": "d", "text": "a", "extras": [{}]},
    ],
)
def test_what_is_not_a_document(value, refused):
    with refused(error=ValueError):
        Document.from_dict(value)


def test_invalid_entities_are_skipped_where_asked(refused):
    good = {"label": "ADR", "fragments": [[0, 4]]}
    value = {"id": "d", "text": "pain", "entities": [good, {**good, "score": 2}, good]}
    with refused(error=ValueError):
        Document.from_dict(value)
    skipped = []
    document = Document.from_dict(value, skip=skipped.append)
    assert document.entities == (Entity("ADR", ((0, 4),), "pain"),) * 2
    assert skipped == ["score 2 is not a number in [0, 1]"]


@pytest.mark.parametrize("score", [True, -0.5, 1.5, "0.5", float("nan")])
def test_what_is_no_score_is_refused(score, refused):
    with refused(error=ValueError):
        Entity.from_dict({"label": "ADR", "fragments": [[0, 4]], "score": score}, "pain")


def test_whole_numbers_are_scores_and_ids_of_documents():
    entity = {"label": "ADR", "fragments": [[0, 4]], "score": 1}
    found = Document.from_dict({"id": 0, "text": "pain", "entities": [entity]})
    assert found.id == "0"
    assert type(found.entities[0].score) is float


def test_fields_have_other_names_than_the_parts_of_what_they_are_of(refused):
    value = {"id": "d", "text": "pain", "label": "x", "score": 2}
    assert Document.from_dict(value).fields == {"label": "x", "score": 2}
    with refused(error=ValueError):
        Document("d", "pain", fields={"words": 3})
    with refused(error=ValueError):
        Entity("ADR", ((0, 4),), "pain", fields={"score": 3})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "None"),
        ("a" * 80, repr("a" * 80)),
        ("a" * 12_345, f"'{'a' * 79} ... (12,345 characters)"),
        ([1] * 25 + [111], f"{[1] * 25 + [111]}"),
        ([1] * 27, f"{[1] * 27}"[:80] + " ... (81 characters)"),
    ],
)
def test_long_values_are_quoted_by_their_beginning_and_length(value, shown):
    assert shortened(value) == shown


def test_types_are_told_once_and_sorted():
    first, second = (Entity(label, ((0, 1),), "a") for label in ("Sign", "ADR"))
    made = [Document("a", "a", (first, second)), Document("b", "a", (first,))]
    assert types_of(made) == ("ADR", "Sign")
