from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import fragments_naive
from trigner.families.spans.fragments import FragmentFormat, Relation, SpanScores
from trigner.mentions import Mention

LABELS = ("ADR", "Drug")
CLIQUES = FragmentFormat(LABELS)
STARS = FragmentFormat(LABELS, reading="stars")
ALIKE = FragmentFormat(LABELS, roles=False)

CHAIN = {(0, 2), (2, 4), (4, 6)}
PRODUCT = {(0, 4), (0, 6), (2, 4), (2, 6)}


def back(format, *words, length=10):
    found, complete = format.round_trip([Mention(own, "ADR") for own in words], length)
    assert complete
    return {mention.words for mention in found}


def made_up(seed, spans, types, kept):
    """Scores of some spans of 6 words."""
    random = np.random.default_rng(seed)
    every = [(a, b) for a in range(6) for b in range(a, 6)]
    chosen = sorted(random.choice(len(every), spans, replace=False).tolist())
    return SpanScores(
        np.array([every[n] for n in chosen]).reshape(-1, 2),
        random.normal(0.5, 1, (spans, types)),
        random.permutation(spans)[:kept],
        random.normal(0.5, 1.5, (kept, kept, 2)),
    )


def test_fragments_and_relations_of_two_mentions():
    gold = [Mention((0, 1, 4), "ADR"), Mention((1, 2), "Drug")]
    found = CLIQUES.encode(gold, 6)
    assert found.spans.tolist() == [[0, 1], [1, 2], [4, 4]]
    whole_adr, whole_drug, part_adr, part_drug = np.eye(4, dtype=bool).tolist()
    assert found.classes.tolist() == [part_adr, whole_drug, part_adr]
    alike = ALIKE.encode(gold, 6)
    assert alike.classes.tolist() == [[True, False], [False, True], [True, False]]
    assert (alike.spans.tolist(), alike.relations.tolist()) == (
        found.spans.tolist(),
        found.relations.tolist(),
    )
    assert CLIQUES.encode([Mention((3, 5), "Drug")], 6).classes.tolist() == [part_drug] * 2
    assert CLIQUES.encode([Mention((3,), "ADR")], 6).classes.tolist() == [whole_adr]
    none, combined, overlap = Relation
    assert found.relations.tolist() == [
        [none, overlap, combined],
        [overlap, none, none],
        [combined, none, none],
    ]


def test_cliques_and_stars():
    """Specification, section G, test 6."""
    both = {(0, 2), (0, 4)}
    assert back(CLIQUES, *both) == back(STARS, *both) == both
    assert back(CLIQUES, *CHAIN) == CHAIN
    assert back(STARS, *CHAIN) == CHAIN - {(2, 4)}
    assert back(CLIQUES, *PRODUCT) == PRODUCT
    assert back(STARS, *PRODUCT) == set()


def test_a_mention_that_is_a_fragment_of_another_needs_roles():
    assert back(CLIQUES, (0, 1), (0, 1, 3)) == {(0, 1), (0, 1, 3)}
    assert back(ALIKE, (0, 1), (0, 1, 3)) == {(0, 1, 3)}


@pytest.mark.parametrize("reading", ["cliques", "stars"])
def test_a_part_without_others_is_no_mention(reading):
    spans, none = np.array([(0, 0), (2, 2)]), np.zeros((2, 2, 2))
    parts = np.full((2, 4), -3.0)
    parts[:, 2] = 3.0
    scores = SpanScores(spans, parts, np.arange(2), none - 2)
    assert FragmentFormat(LABELS, reading=reading).decode(scores).mentions == ()
    combined = replace(scores, relations=none + [2.0, -2.0])
    [found] = FragmentFormat(LABELS, reading=reading).decode(combined).mentions
    assert found.mention == Mention((0, 2), "ADR")
    alike = replace(scores, fragments=parts[:, 2:])
    assert len(FragmentFormat(LABELS, reading=reading, roles=False).decode(alike).mentions) == 2


def test_a_whole_fragment_that_is_not_kept_is_no_bound():
    spans, relations = np.array([(0, 0), (2, 2)]), np.zeros((1, 1, 2))
    whole = np.array([[2.0, -2, -2, -2], [-2, 2, -2, -2]])
    assert CLIQUES.decode(SpanScores(spans, whole, np.array([0]), relations)).complete
    part = np.array([[2.0, -2, -2, -2], [-2, -2, -2, 2]])
    assert not CLIQUES.decode(SpanScores(spans, part, np.array([0]), relations)).complete


def test_three_that_are_pairwise_combined_are_read_as_one():
    assert back(CLIQUES, (0, 2), (2, 4), (0, 4)) == {(0, 2, 4)}


def test_a_star_holds_fragments_that_overlap():
    """Released code: any relation makes a clique, Overlap included."""
    gold = {(0, 3, 4), (0, 4, 5)}
    assert back(CLIQUES, *gold) == gold
    assert back(STARS, *gold) == {*gold, (0, 3, 4, 5)}


def test_wide_fragments_are_lost_and_counted():
    narrow = FragmentFormat(LABELS, max_width=2)
    wide, kept = Mention((0, 1, 2, 4), "ADR"), Mention((0, 1, 4), "ADR")
    found = narrow.encode([wide, kept], 6)
    assert found.lost == (wide,)
    assert narrow.round_trip([wide, kept], 6) == ([kept], True)


def test_unknown_labels_and_words_are_refused(refused):
    with refused(error=ValueError):
        CLIQUES.encode([Mention((0,), "other")], 1)
    with refused(error=ValueError):
        CLIQUES.encode([Mention((1,), "ADR")], 1)


mentions = st.builds(
    lambda words, label: Mention(tuple(sorted(words)), label),
    st.sets(st.integers(0, 7), min_size=1, max_size=5),
    st.sampled_from(LABELS),
)


formats = st.sampled_from([CLIQUES, ALIKE])


@given(st.lists(mentions, max_size=5, unique=True), formats)
def test_what_shares_no_word_comes_back(gold, format):
    taken: set[int] = set()
    apart = []
    for mention in gold:
        if taken.isdisjoint(mention.words):
            apart.append(mention)
            taken |= set(mention.words)
    found, complete = format.round_trip(apart, 8)
    assert complete
    assert set(found) == set(apart)


@given(st.lists(mentions, max_size=5, unique=True), formats)
def test_every_gold_mention_is_within_what_comes_back(gold, format):
    """Its fragments are a clique: what is lost became part of a larger one."""
    found, _ = format.round_trip(gold, 8)
    for mention in gold:
        assert any(m.label == mention.label and set(m.words) >= set(mention.words) for m in found)


@settings(max_examples=80)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 7),
    st.integers(0, 7),
    st.sampled_from(["cliques", "stars"]),
    st.booleans(),
)
def test_as_the_oracle(seed, spans, kept, reading, roles):
    kept = min(spans, kept)
    format = FragmentFormat(LABELS, reading=reading, roles=roles)
    scores = made_up(seed, spans, format.classes, kept)
    decoding = format.decode(scores)
    found = {(m.mention.words, m.mention.label): m.score for m in decoding.mentions}
    assert found == pytest.approx(fragments_naive.decode(scores, LABELS, reading, roles))
    assert [m.score for m in decoding.mentions] == sorted(found.values(), reverse=True)
    parts = scores.fragments[:, 2:] if roles else scores.fragments
    fragments = set(np.flatnonzero((parts > 0).any(axis=1)).tolist())
    assert decoding.complete == (fragments <= set(scores.kept.tolist()))


def test_the_best_are_kept_and_the_bound_told():
    scores = made_up(3, 15, 2, 0)
    few = FragmentFormat(LABELS, roles=False, max_mentions=3)
    every = ALIKE.decode(scores).mentions
    assert len(every) > 3
    assert few.decode(scores).mentions == every[:3]


def test_the_search_for_cliques_is_bounded():
    """15 groups of 3 fragments, each combined with all of the other groups: 3^15 cliques."""
    count = 45
    group = np.arange(count) // 3
    combined = group[:, None] != group
    scores = SpanScores(
        np.stack([np.arange(count) * 2] * 2, axis=1),
        np.full((count, 1), 2.0) * [-1, 1],
        np.arange(count),
        np.where(combined[..., None], [3.0, -3.0], -3.0),
    )
    start = time.monotonic()
    decoding = FragmentFormat(("ADR",)).decode(scores)
    assert time.monotonic() - start < 20
    assert not decoding.complete
    assert 0 < len(decoding.mentions) <= 1000
    alike = FragmentFormat(("ADR",), roles=False)
    same = alike.decode(replace(scores, fragments=scores.fragments[:, 1:]))
    assert same.mentions == decoding.mentions


def test_400_words_of_which_every_span_is_a_fragment():
    spans = np.array([(a, b) for a in range(400) for b in range(a, min(400, a + 16))])
    kept = np.arange(0, 3200, 16)
    scores = SpanScores(
        spans, np.ones((len(spans), 4)), kept, np.ones((len(kept), len(kept), 2)) * [2, 0]
    )
    start = time.monotonic()
    decoding = CLIQUES.decode(scores)
    assert time.monotonic() - start < 30
    assert not decoding.complete
    assert len(decoding.mentions) == 1000
