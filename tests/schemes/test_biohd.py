from __future__ import annotations

import random
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import automaton_naive
from trigner.mentions import Mention
from trigner.schemes.biohd import Biohd

ONE = Biohd(("A",))
DIGITS = Biohd(("A",), digits=True)
BOTH = pytest.mark.parametrize("kind", [Biohd, partial(Biohd, digits=True)])


def mentions(*words, label="A"):
    return [Mention(own, label) for own in words]


def words(decoding):
    return {scored.mention.words for scored in decoding.mentions}


def names(scheme, tags):
    return " ".join(scheme.tags[tag].removesuffix("-A") for tag in tags)


def round_trip(scheme, length, *gold):
    return words(scheme.decode_tags(scheme.encode(mentions(*gold), length).tags))


COLUMNS = [(0, 3, 4, 5), (0, 3, 4, 7, 8), (2, 3, 4, 7, 8), (2, 3, 4, 5)]


@pytest.mark.parametrize(
    ("length", "gold", "tags", "decoded"),
    [
        (3, [(0, 2)], "DB O DB", None),
        (7, [(0, 1, 2, 3), (0, 1, 5)], "HB HI DB DI O DB O", None),
        (4, [(1, 2)], "O B I O", None),
        (5, [(0, 1), (3, 4)], "B I O B I", None),
        (5, [(0, 2), (1, 4)], "DB DB DB O DB", {(0, 1, 2, 4)}),
        (10, COLUMNS, "HB O HB HB HI HB O HB HI O", {(0,), (2,), (3, 4), (5,), (7, 8)}),
        (4, [(0, 1, 2), (1,)], "DB HB DB O", {(0, 1), (1, 2)}),
    ],
)
def test_vectors(length, gold, tags, decoded):
    encoding = ONE.encode(mentions(*gold), length)
    assert names(ONE, encoding.tags) == tags
    found = words(ONE.decode_tags(encoding.tags))
    assert found == (decoded or set(gold))
    assert {mention.words for mention in encoding.lost} == set(gold) - found


@pytest.mark.parametrize(
    ("length", "gold", "tags"),
    [
        (3, [(0, 2)], "D4B O D3B"),
        (7, [(0, 1, 2, 3), (0, 1, 5)], "HB HI D1B D1I O D1B O"),
        (8, [(0, 2, 7), (4, 7)], "D2B O D2B O D2B O O HB"),
        (6, [(0, 2), (3, 5)], "D4B O D3B D4B O D3B"),
        (4, [(1, 2)], "O B I O"),
        (5, [(0, 3), (1, 4)], "D3B D3B O D3B D3B"),  # no digit points home: 3 without a head
    ],
)
def test_vectors_of_digits(length, gold, tags):
    assert names(DIGITS, DIGITS.encode(mentions(*gold), length).tags) == tags


def test_digits_keep_apart_what_biohd_joins():
    gold = {(0, 2), (3, 5)}
    assert round_trip(ONE, 6, *gold) == {(0, 2, 3, 5)}
    assert round_trip(DIGITS, 6, *gold) == gold


@BOTH
@given(st.data())
@settings(max_examples=80, deadline=None)
def test_continuous_mentions_that_share_nothing_are_exact(kind, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, 12), min_size=2)))
    spans = [tuple(range(a, b)) for a, b in pairwise(cuts)]
    gold = data.draw(st.sets(st.sampled_from(spans)))
    scheme = kind(("A",))
    encoding = scheme.encode(mentions(*gold), 12)
    assert words(scheme.decode_tags(encoding.tags)) == gold
    assert encoding.lost == ()
    assert {scheme.tags[tag] for tag in encoding.tags} <= {"O", "B-A", "I-A"}


@BOTH
@given(st.sets(st.integers(0, 14), min_size=1))
@settings(max_examples=80, deadline=None)
def test_one_mention_is_exact_in_any_number_of_segments(kind, own):
    gold = tuple(sorted(own))
    assert round_trip(kind(("A",)), 15, gold) == {gold}


@BOTH
@pytest.mark.parametrize("tails", range(2, 6))
def test_one_prefix_with_several_tails_is_exact(kind, tails):
    gold = {(0, 1, 3 + 2 * n) for n in range(tails)}
    assert round_trip(kind(("A",)), 20, *gold) == gold


@BOTH
def test_the_order_of_mentions_and_duplicates_change_nothing(kind):
    scheme = kind(("A", "B"))
    rng = random.Random(0)
    gold = [
        Mention(tuple(sorted(rng.sample(range(9), rng.randint(1, 4)))), rng.choice("AB"))
        for _ in range(6)
    ]
    expected = scheme.encode(gold, 9).tags.tolist()
    for _ in range(10):
        rng.shuffle(gold)
        assert scheme.encode([*gold, gold[0]], 9).tags.tolist() == expected


@BOTH
@given(st.data())
@settings(max_examples=100, deadline=None)
def test_any_well_formed_tags_are_read(kind, data):
    scheme = kind(("A", "B"))
    seed, length = data.draw(st.integers(0, 2**32 - 1)), data.draw(st.integers(1, 12))
    scores = np.random.default_rng(seed).normal(size=(length, len(scheme.tags))) * 3
    tags = scheme.grammar.automaton.best(scores).tags
    decoding = scheme.decode(scores)
    assert words(decoding) == words(scheme.decode_tags(tags))
    assert len({s.mention for s in decoding.mentions}) == len(decoding.mentions)
    covered = {word for own in words(decoding) for word in own}
    assert covered == set(np.flatnonzero(tags).tolist())
    again = scheme.encode([s.mention for s in decoding.mentions], length)
    assert scheme.grammar.automaton.accepts(again.tags)


@pytest.mark.parametrize(
    ("scheme", "length", "same", "all_"),
    [
        (ONE, 1, 2, 4),
        (ONE, 2, 5, 19),
        (ONE, 3, 18, 91),
        (ONE, 4, 88, 436),
        (DIGITS, 1, 2, 7),
        (DIGITS, 2, 5, 55),
        (DIGITS, 3, 18, 433),
    ],
)
def test_how_many_sequences_come_back_as_they_were(scheme, length, same, all_):
    """Reading is no inverse of encoding: most well-formed sequences are no set's own."""
    sequences = [tags for tags, _ in automaton_naive.accepted(scheme.grammar.automaton, length)]
    assert len(sequences) == all_
    assert sum(encoded_again(scheme, tags) == tags for tags in sequences) == same


def encoded_again(scheme, tags):
    gold = [scored.mention for scored in scheme.decode_tags(np.array(tags)).mentions]
    return tuple(scheme.encode(gold, len(tags)).tags.tolist())


@BOTH
@given(
    st.lists(
        st.builds(
            lambda own, label: Mention(tuple(sorted(own)), label),
            st.sets(st.integers(0, 8), min_size=1, max_size=4),
            st.sampled_from("AB"),
        ),
        max_size=5,
    )
)
@settings(max_examples=150, deadline=None)
def test_lost_is_what_does_not_come_back(kind, gold):
    scheme = kind(("A", "B"))
    encoding = scheme.encode(gold, 9)
    assert scheme.grammar.automaton.accepts(encoding.tags)
    back = {scored.mention for scored in scheme.decode_tags(encoding.tags).mentions}
    assert set(encoding.lost) == set(gold) - back


@BOTH
def test_types_are_merged_separately(kind):
    scheme = kind(("A", "B"))
    gold = [Mention((0, 2), "A"), Mention((1, 3), "B"), Mention((4,), "B")]
    encoding = scheme.encode(gold, 5)
    assert {s.mention for s in scheme.decode_tags(encoding.tags).mentions} == set(gold)
    clash = [Mention((0, 1), "A"), Mention((1, 2, 3), "B")]
    assert scheme.encode(clash, 4).lost == (clash[0],)


def test_of_two_equally_near_heads_the_left_one_is_joined():
    tags = np.array([ONE.tags.index(f"{name}-A") for name in ("HB", "DB", "HB")])
    assert words(ONE.decode_tags(tags)) == {(0, 1), (2,)}


def test_the_number_of_mentions_is_bounded():
    tags = np.array([ONE.tags.index(f"{name}-A") for name in ("HB", "DB")] * 40)
    scheme = Biohd(("A",), max_mentions=30)
    decoding = scheme.decode(np.eye(7)[tags] * 10)
    assert not decoding.complete
    assert len(decoding.mentions) == 30
    assert not scheme.decode_tags(tags).complete
    assert ONE.decode_tags(tags).complete


def test_stray_tags_begin_segments():
    tags = np.array([ONE.tags.index(name) for name in ("I-A", "O", "DI-A", "O", "DI-A")])
    assert words(ONE.decode_tags(tags)) == {(0,), (2, 4)}


@BOTH
def test_bad_mentions_and_empty_sentences(kind, refused):
    scheme = kind(("A",))
    with refused(error=ValueError):
        scheme.encode([Mention((0,), "B")], 2)
    with refused(error=ValueError):
        scheme.encode(mentions((2,)), 2)
    assert scheme.decode(np.zeros((0, len(scheme.tags)))).mentions == ()
    assert (len(ONE.tags), len(DIGITS.tags)) == (7, 13)
