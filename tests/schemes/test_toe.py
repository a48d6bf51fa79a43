from __future__ import annotations

import time
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import toe_naive
from tiny_models import make_scheme
from trigner.mentions import Mention
from trigner.schemes.toe import Toe
from trigner.schemes.w2ner import W2ner

ONE = Toe(("ADR",))
LABELS = ("ADR", "Drug")
TWO = Toe(LABELS)


def words_of(decoding):
    return {scored.mention.words for scored in decoding.mentions}


def round_trip(*mentions, length, labels=("ADR",)):
    toe = Toe(labels)
    encoding = toe.encode([Mention(words, labels[0]) for words in mentions], length)
    assert encoding.lost == ()
    return words_of(toe.decode_tags(encoding.tags))


def tagged(toe, mentions, length):
    """Tag name -> its cells."""
    tags = toe.encode(mentions, length).tags
    assert tags.dtype == np.int8
    cells = {name: set() for name in toe.tags}
    for row, column, tag in np.argwhere(tags).tolist():
        cells[toe.tags[tag]].add((row, column))
    return {name: found for name, found in cells.items() if found}


@pytest.mark.parametrize(
    ("words", "cells"),
    [
        (
            (2, 3, 6),
            {
                "NNW": {(2, 3), (3, 6)},
                "PNW": {(3, 2), (6, 3)},
                "HTW-ADR": {(2, 6)},
                "THW-ADR": {(6, 2)},
                "SEG-NEXT": {(3, 6)},
                "DISC-SEG": {(3, 2), (6, 6)},
            },
        ),
        (
            (4, 5),
            {
                "NNW": {(4, 5)},
                "PNW": {(5, 4)},
                "HTW-ADR": {(4, 5)},
                "THW-ADR": {(5, 4)},
                "CONT-SPAN": {(5, 4)},
            },
        ),
        ((4,), {"HTW-ADR": {(4, 4)}, "THW-ADR": {(4, 4)}, "CONT-SPAN": {(4, 4)}}),
        (
            (0, 2, 3, 7),
            {
                "NNW": {(0, 2), (2, 3), (3, 7)},
                "PNW": {(2, 0), (3, 2), (7, 3)},
                "HTW-ADR": {(0, 7)},
                "THW-ADR": {(7, 0)},
                "SEG-NEXT": {(0, 2), (3, 7)},
                "DISC-SEG": {(0, 0), (3, 2), (7, 7)},
            },
        ),
    ],
)
def test_tags_of_one_mention(words, cells):
    assert tagged(ONE, [Mention(words, "ADR")], 8) == cells


def test_a_cell_has_the_tags_of_all_mentions_and_types_keep_apart():
    mentions = [Mention((1, 2), "ADR"), Mention((1, 2, 4), "Drug"), Mention((1, 2), "Drug")]
    found = tagged(TWO, mentions, 5)
    assert found["HTW-ADR"] == {(1, 2)}
    assert found["HTW-Drug"] == {(1, 2), (1, 4)}
    assert found["CONT-SPAN"] == found["DISC-SEG"] - {(4, 4)} == {(2, 1)}
    encoding = TWO.encode(mentions, 5)
    assert encoding.lost == ()
    assert {s.mention for s in TWO.decode_tags(encoding.tags).mentions} == set(mentions)


def test_names_and_groups():
    assert TWO.tags == (
        *("NNW", "PNW", "HTW-ADR", "HTW-Drug", "THW-ADR", "THW-Drug"),
        *("SEG-NEXT", "CONT-SPAN", "DISC-SEG"),
    )
    main, auxiliary = TWO.groups
    assert (main.start, main.stop, main.auxiliary) == (0, 6, False)
    assert (auxiliary.start, auxiliary.stop, auxiliary.auxiliary) == (6, 9, True)


def test_links_need_both_sides_and_ends_need_one():
    whole = ONE.encode([Mention((2, 3, 6), "ADR")], 8).tags
    for cell in ((2, 3, 0), (3, 2, 1), (3, 6, 0), (6, 3, 1)):
        tags = whole.copy()
        tags[cell] = 0
        assert words_of(ONE.decode_tags(tags)) == set()
    for cell in ((2, 6, 2), (6, 2, 3)):
        tags = whole.copy()
        tags[cell] = 0
        assert words_of(ONE.decode_tags(tags)) == {(2, 3, 6)}
    tags = whole.copy()
    tags[2, 6, 2] = tags[6, 2, 3] = 0
    assert words_of(ONE.decode_tags(tags)) == set()


def test_the_auxiliary_tags_are_not_decoded():
    tags = ONE.encode([Mention((2, 3, 6), "ADR")], 8).tags
    expected = ONE.decode_tags(tags)
    for value in (0, 1):
        tags[..., 4:] = value
        assert ONE.decode_tags(tags) == expected


def test_pain_and_cramping_sentence_is_exact():
    gold = {(0, 3, 4, 5), (0, 3, 4, 7, 8), (2, 3, 4, 7, 8), (2, 3, 4, 5)}
    assert round_trip(*gold, length=10) == gold


@pytest.mark.parametrize(
    ("mentions", "extra"),
    [
        ([(0, 1, 2), (0, 2, 4)], {(0, 1, 2, 4), (0, 2)}),
        ([(0, 1, 3, 4, 6), (0, 2, 3, 5, 6)], {(0, 1, 3, 5, 6), (0, 2, 3, 4, 6)}),
    ],
)
def test_ambiguous_mentions_decode_to_the_known_supersets(mentions, extra):
    assert round_trip(*mentions, length=7) == {*mentions, *extra}


@given(st.sets(st.sets(st.integers(0, 8), min_size=1).map(lambda s: tuple(sorted(s))), max_size=5))
@settings(max_examples=200)
def test_of_certain_tags_it_reads_what_w2ner_reads(mentions):
    encoded = W2ner(("ADR",)).encode([Mention(words, "ADR") for words in mentions], 9)
    found = round_trip(*mentions, length=9)
    assert found == words_of(W2ner(("ADR",)).decode_tags(encoded.tags)) >= mentions


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=200)
def test_decoding_equals_the_definition(length, seed):
    scores = np.random.default_rng(seed).normal(size=(length, length, 9))
    decoding = TWO.decode(scores)
    found = {(s.mention.words, s.mention.label): s.score for s in decoding.mentions}
    assert set(found) == toe_naive.decode(scores, LABELS)
    assert len(found) == len(decoding.mentions)
    for (words, label), score in found.items():
        assert score == pytest.approx(toe_naive.score(words, label, scores, LABELS))
        assert score > 0.5 ** len(words)
    ordered = [s.score for s in decoding.mentions]
    assert ordered == sorted(ordered, reverse=True)


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=50)
def test_a_score_is_the_product_of_its_evidence(length, seed):
    scores = np.random.default_rng(seed).normal(size=(length, length, 9))
    probabilities = 1 / (1 + np.exp(-scores))
    found = TWO.decode(scores).mentions
    evidence = TWO.evidence([scored.mention for scored in found], scores)
    for scored, cells in zip(found, evidence, strict=True):
        assert len(set(cells)) == len(scored.mention.words)
        assert prod(probabilities[cell] for cell in cells) == pytest.approx(scored.score)


@given(st.integers(3, 7), st.integers(0, 2**32 - 1), st.integers(1, 10))
@settings(max_examples=100)
def test_the_bound_keeps_the_best(length, seed, limit):
    scores = np.random.default_rng(seed).normal(size=(length, length, 9)) + 0.5
    everything = Toe(LABELS, max_mentions=None).decode(scores)
    assert everything.complete
    bounded = Toe(LABELS, max_mentions=limit).decode(scores)
    assert [s.score for s in bounded.mentions] == pytest.approx(
        [s.score for s in everything.mentions[:limit]]
    )
    assert bounded.complete == (len(everything.mentions) <= limit)


def test_a_temperature_changes_scores_and_no_mention():
    scores = np.random.default_rng(3).normal(size=(8, 8, 9))
    cold, warm = TWO.decode(scores), TWO.decode(scores / 4)
    assert {s.mention for s in cold.mentions} == {s.mention for s in warm.mentions} != set()
    assert max(s.score for s in warm.mentions) < max(s.score for s in cold.mentions)


def test_links_have_no_type_so_that_types_of_equal_ends_mix():
    gold = [Mention((0, 1, 3), "ADR"), Mention((0, 2, 3), "Drug")]
    encoding = TWO.encode(gold, 4)
    assert encoding.lost == ()
    found = {scored.mention for scored in TWO.decode_tags(encoding.tags).mentions}
    assert found == {Mention(m.words, label) for m in gold for label in LABELS}


def test_unknown_label_and_word_outside_are_errors(refused):
    with refused(error=ValueError):
        ONE.encode([Mention((0,), "Disease")], 2)
    with refused(error=ValueError):
        ONE.encode([Mention((2,), "ADR")], 2)


def test_empty_sentence():
    assert ONE.encode([], 0).tags.shape == (0, 0, 7)
    assert ONE.decode(np.zeros((0, 0, 7))).mentions == ()


def test_a_long_sentence_is_decoded_at_once():
    """400 words with 60 mentions among scores below 0."""
    generator = np.random.default_rng(0)
    mentions = [
        Mention(tuple(sorted(generator.choice(12, 4, replace=False) + start)), LABELS[start % 2])
        for start in range(0, 380, 6)
    ]
    tags = TWO.encode(mentions, 400).tags
    scores = (tags * 8 - 4 + generator.normal(size=tags.shape)).astype(np.float32)
    taken = []
    for _ in range(3):
        started = time.process_time()
        decoding = TWO.decode(scores)
        taken.append(time.process_time() - started)
    assert {s.mention for s in decoding.mentions} >= set(mentions)
    assert min(taken) < 0.05


def test_a_fully_linked_long_sentence_stays_bounded():
    scores = np.ones((400, 400, 9), dtype=np.float32)
    started = time.process_time()
    decoding = make_scheme("toe", LABELS).decode(scores)
    assert len(decoding.mentions) == TWO.max_mentions
    assert not decoding.complete
    assert time.process_time() - started < 5
