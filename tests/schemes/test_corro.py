from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import automaton_naive
from trigner.mentions import Mention
from trigner.schemes.corro import Corro

LABELS = ("ADR", "Drug")
ONE = Corro(("A",))
TWO = Corro(LABELS)

MENTIONS = st.lists(
    st.builds(
        lambda words, label: Mention(tuple(sorted(words)), label),
        st.sets(st.integers(0, 8), min_size=1, max_size=4),
        st.sampled_from(LABELS),
    ),
    max_size=5,
)


def mentions(*words, label="A"):
    return [Mention(own, label) for own in words]


def found(decoding):
    return {scored.mention for scored in decoding.mentions}


def words(decoding):
    return {scored.mention.words for scored in decoding.mentions}


def names(tags):
    return " ".join(ONE.tags[tag].removesuffix("-A") for tag in tags)


@pytest.mark.parametrize(
    ("length", "gold", "tags"),
    [
        (7, [(0, 1, 2, 3), (0, 1, 5)], "DB-Bx DI-Ix DI-By DI-Iy DI-O DI-By O"),
        (3, [(0, 2)], "DB-Bx DI-O DI-By"),
        (5, [(0, 1, 2), (0, 1, 4)], "DB-Bx DI-Ix DI-By DI-O DI-By"),
        (4, [(0,), (1, 3)], "CB DB-Bx DI-O DI-By"),
        (6, [(0, 1), (2, 3), (5,)], "CB CI CB CI O CB"),
        (3, [(0, 1), (1, 2)], "DB-Bx DI-By DI-Bx"),
    ],
)
def test_vectors(length, gold, tags):
    encoding = ONE.encode(mentions(*gold), length)
    assert names(encoding.tags) == tags
    assert encoding.lost == ()
    assert words(ONE.decode_tags(encoding.tags)) == set(gold)


def test_three_components_are_not_to_be_expressed():
    gold = mentions((1, 2, 4, 6))
    encoding = ONE.encode(gold, 7)
    assert not encoding.tags.any()
    assert encoding.lost == tuple(gold)


def test_of_three_columns_two_mentions_stay():
    gold = mentions((0, 3, 4, 5), (0, 3, 4, 7, 8), (2, 3, 4, 7, 8), (2, 3, 4, 5))
    encoding = ONE.encode(gold, 10)
    assert words(ONE.decode_tags(encoding.tags)) == {(0, 3, 4, 5), (2, 3, 4, 5)}
    assert encoding.lost == (gold[1], gold[2])


@pytest.mark.parametrize(
    ("length", "gold", "kept"),
    [
        (3, [(0, 1, 2), (1,)], {(0, 1, 2)}),  # nested: of as many and as discontinuous, the first
        (3, [(0, 2), (1,)], {(0, 2)}),  # in a gap
        (5, [(0, 2), (0, 4), (2, 4)], {(0, 2), (0, 4)}),  # a product that lacks no pair
        (7, [(0, 6), (1,), (3,)], {(1,), (3,)}),  # more mentions before more discontinuous ones
        (6, [(0, 2), (1, 3)], {(0, 2)}),
    ],
)
def test_what_stays_of_mentions_that_cannot_stand_together(length, gold, kept):
    encoding = ONE.encode(mentions(*gold), length)
    assert words(ONE.decode_tags(encoding.tags)) == kept
    assert {m.words for m in encoding.lost} == set(gold) - kept


def test_types_that_overlap_do_not_mix():
    gold = [Mention((0, 1), "ADR"), Mention((1, 2), "ADR"), Mention((1, 3), "Drug")]
    encoding = TWO.encode(gold, 4)
    assert encoding.lost == (gold[2],)
    assert found(TWO.decode_tags(encoding.tags)) == set(gold[:2])
    beside = [Mention((0, 2), "ADR"), Mention((3, 5), "Drug"), Mention((6,), "ADR")]
    encoding = TWO.encode(beside, 7)
    assert found(TWO.decode_tags(encoding.tags)) == set(beside)


@given(MENTIONS)
@settings(max_examples=300, deadline=None)
def test_what_is_not_lost_comes_back_and_nothing_else(gold):
    encoding = TWO.encode(gold, 9)
    assert TWO.grammar.automaton.accepts(encoding.tags)
    assert found(TWO.decode_tags(encoding.tags)) == set(gold) - set(encoding.lost)
    assert TWO.encode(gold[::-1], 9).tags.tolist() == encoding.tags.tolist()


@pytest.mark.parametrize("length", range(1, 7))
def test_tags_come_back_up_to_the_names_of_components(length):
    """And every set of mentions with k sets has 2^k sequences, none of them another's."""
    sequences: dict[frozenset[Mention], int] = {}
    for tags, _ in automaton_naive.accepted(ONE.grammar.automaton, length):
        gold = found(ONE.decode_tags(np.array(tags)))
        encoding = ONE.encode(sorted(gold), length)
        assert encoding.lost == ()
        assert encoding.tags.tolist() == first_is_x(tags)
        sequences[frozenset(gold)] = sequences.get(frozenset(gold), 0) + 1
    assert len(sequences) == {1: 2, 2: 5, 3: 17, 4: 75, 5: 360, 6: 1720}[length]
    for gold, number in sequences.items():
        sets = np.isin(ONE.encode(sorted(gold), length).tags, ONE.grammar.opening).sum()
        assert number == 2**sets


def first_is_x(tags):
    """With the types of each set exchanged where its first component is y."""
    renamed, exchange = [], False
    for tag in tags:
        if tag in ONE.grammar.opening:
            exchange = ONE.tags[tag] == "DB-By-A"
        renamed.append(ONE.grammar.exchanged[tag] if exchange else tag)
    return renamed


@given(st.integers(1, 4), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_the_score_of_a_discontinuous_mention_is_its_probability(length, seed):
    scores = np.random.default_rng(seed).normal(size=(length, 10)) * 1.5
    for scored in ONE.decode(scores).mentions:
        expected = automaton_naive.probability(
            ONE.grammar.automaton,
            scores,
            lambda tags, own=scored.mention: own in found(ONE.decode_tags(np.array(tags))),
        )
        if scored.mention.is_discontinuous:
            assert scored.score == pytest.approx(expected)
        else:
            assert scored.score <= expected + 1e-9


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
@settings(max_examples=50, deadline=None)
def test_decoding_reads_the_best_tags_and_orders_by_score(length, seed):
    scores = (np.random.default_rng(seed).normal(size=(length, 19)) * 3).astype(np.float32)
    decoding = TWO.decode(scores)
    tags = TWO.grammar.automaton.best(scores).tags
    assert found(decoding) == found(TWO.decode_tags(tags))
    ordered = [scored.score for scored in decoding.mentions]
    assert ordered == sorted(ordered, reverse=True)
    assert all(0 <= score <= 1 for score in ordered)


def alternating(length):
    """Scores sure of x and y in turn, with a gap in between."""
    kinds = ["DI-Bx-A", "DI-O-A", "DI-By-A", "DI-O-A"] * (length // 4)
    tags = [ONE.tags.index(kind) for kind in kinds[: length - 1]]
    tags[0] = ONE.tags.index("DB-Bx-A")
    return np.array(tags)


def test_a_dense_set_is_bounded_and_reported():
    tags = alternating(400)
    scores = np.eye(10)[tags] * 10
    scores[2, tags[2]] = 11
    ONE.decode(scores)
    started = time.thread_time()
    decoding = ONE.decode(scores)
    assert time.thread_time() - started < 0.25  # it takes a fifth of that
    assert not decoding.complete
    assert len(words(decoding)) == len(decoding.mentions) == ONE.max_mentions
    # The surest word stays.
    assert any(2 in own for own in words(decoding))
    assert not ONE.decode_tags(tags).complete
    assert Corro(("A",), max_mentions=100 * 100).decode_tags(tags).complete


def test_the_bound_keeps_the_likeliest():
    tags = alternating(24)
    scores = np.eye(10)[tags] * 6
    scores[[0, 6, 10], tags[[0, 6, 10]]] += 3
    assert ONE.decode(scores).complete
    bounded = Corro(("A",), max_mentions=2).decode(scores)
    assert words(bounded) == {(0, 6), (0, 10)}


def test_many_overlapping_mentions_take_little_time():
    rng = np.random.default_rng(0)
    pairs = [sorted(rng.choice(40, size=2, replace=False).tolist()) for _ in range(60)]
    gold = [Mention(tuple(pair), "A") for pair in pairs]
    started = time.process_time()
    encoding = ONE.encode(gold, 40)
    assert time.process_time() - started < 5
    kept = set(gold) - set(encoding.lost)
    assert kept
    assert found(ONE.decode_tags(encoding.tags)) == kept


@pytest.mark.parametrize("inner", [3, 11, 12, 20])
def test_of_many_overlapping_mentions_as_many_as_possible_stay(inner):
    """Whether all their sub-groups are tried or not."""
    outer = Mention((0, 50), "A")
    within = [Mention((2 * place + 1,), "A") for place in range(inner)]
    assert ONE.encode([outer, *within], 51).lost == (outer,)


def test_ill_formed_tags_are_refused(refused):
    tags = np.array([ONE.tags.index(f"{name}-A") for name in ("CB", "DI-O", "CI")])
    with refused(error=ValueError):
        ONE.decode_tags(tags)


def test_duplicates_unknown_labels_and_words_outside(refused):
    gold = mentions((0, 2), (0, 2))
    assert ONE.encode(gold, 3).lost == ()
    with refused(error=ValueError):
        ONE.encode([Mention((0,), "B")], 2)
    with refused(error=ValueError):
        ONE.encode(mentions((2,)), 2)


def test_an_empty_sentence():
    assert ONE.encode([], 0).tags.shape == (0,)
    assert ONE.decode(np.zeros((0, 10))).mentions == ()
