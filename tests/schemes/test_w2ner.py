from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import w2ner_naive
from trigner.mentions import Mention
from trigner.schemes.w2ner import W2ner

LABELS = ("ADR", "Drug")
W2NER = W2ner(LABELS)


def words_of(decoding):
    return {scored.mention.words for scored in decoding.mentions}


def round_trip(*mentions, length):
    encoding = W2NER.encode([Mention(words, "ADR") for words in mentions], length)
    return words_of(W2NER.decode_tags(encoding.tags))


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


def test_tags_of_one_mention():
    tags = W2NER.encode([Mention((1, 3), "Drug"), Mention((2,), "ADR")], 4).tags
    assert tags.tolist() == [[0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0], [0, 3, 0, 0]]
    assert W2NER.tags == ("NONE", "NNW", "THW-ADR", "THW-Drug")


def test_cells_in_the_wrong_triangle_are_ignored():
    tags = np.zeros((4, 4), dtype=np.int64)
    tags[0, 2] = 2  # tail-head above the diagonal
    tags[3, 1] = 1  # link below it
    assert words_of(W2NER.decode_tags(tags)) == set()


def test_lone_corner_emits_one_word_only_on_the_diagonal():
    tags = np.zeros((4, 4), dtype=np.int64)
    tags[3, 1] = 2
    assert words_of(W2NER.decode_tags(tags)) == set()
    tags[2, 2] = 3
    assert words_of(W2NER.decode_tags(tags)) == {(2,)}


@pytest.mark.parametrize("size", range(2, 9))
def test_fully_linked_words_give_every_path_and_the_bound_triggers(size):
    tags = np.triu(np.ones((size, size), dtype=np.int64), 1)
    tags[size - 1, 0] = 2
    paths = 2 ** (size - 2)
    assert len(W2NER.decode_tags(tags).mentions) == paths
    assert W2ner(LABELS, max_mentions=paths).decode_tags(tags).complete
    bounded = W2ner(LABELS, max_mentions=max(1, paths - 1)).decode_tags(tags)
    assert bounded.complete == (paths == 1)
    assert len(bounded.mentions) == max(1, paths - 1)


def test_equally_good_paths_without_number_are_bounded_too():
    layer = np.arange(120) // 4
    tags = (layer[None] - layer[:, None] == 1).astype(np.int64)
    tags[-1, 0] = 2
    bounded = W2NER.decode_tags(tags)
    assert not bounded.complete
    assert len(words_of(bounded)) == len(bounded.mentions) == W2NER.max_mentions
    assert {len(words) for words in words_of(bounded)} == {30}


def test_same_corner_with_two_types_loses_the_earlier_and_says_so():
    first, second = Mention((0, 2), "ADR"), Mention((0, 1, 2), "Drug")
    assert W2NER.encode([first, second], 3).lost == (first,)
    assert W2NER.encode([first, Mention((0, 1, 2), "ADR")], 3).lost == ()


def test_a_type_that_comes_back_to_its_corner_is_not_lost():
    first, second, third = (
        Mention((0, 1, 3), "ADR"),
        Mention((0, 2, 3), "Drug"),
        Mention((0, 3), "ADR"),
    )
    encoding = W2NER.encode([first, second, third], 4)
    assert encoding.lost == (second,)
    found = {scored.mention for scored in W2NER.decode_tags(encoding.tags).mentions}
    assert {first, third} <= found


@given(
    st.lists(
        st.builds(
            lambda words, label: Mention(tuple(sorted(words)), label),
            st.sets(st.integers(0, 5), min_size=1, max_size=4),
            st.sampled_from(LABELS),
        ),
        max_size=6,
    )
)
@settings(max_examples=200, deadline=None)
def test_lost_is_what_does_not_come_back(gold):
    encoding = W2NER.encode(gold, 6)
    found = {scored.mention for scored in W2NER.decode_tags(encoding.tags).mentions}
    assert set(encoding.lost) == set(gold) - found


def test_unknown_label_and_word_outside_are_errors(refused):
    with refused(error=ValueError):
        W2NER.encode([Mention((0,), "Disease")], 2)
    with refused(error=ValueError):
        W2NER.encode([Mention((2,), "ADR")], 2)


def test_empty_sentence():
    assert W2NER.encode([], 0).tags.shape == (0, 0)
    assert W2NER.decode(np.zeros((0, 0, 4))).mentions == ()


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=200, deadline=None)
def test_decoding_equals_the_definition(length, seed):
    scores = np.random.default_rng(seed).normal(size=(length, length, 4))
    decoding = W2NER.decode(scores)
    found = {(s.mention.words, s.mention.label): s.score for s in decoding.mentions}
    assert set(found) == w2ner_naive.decode(scores.argmax(-1), LABELS)
    assert len(found) == len(decoding.mentions)
    for (words, label), score in found.items():
        assert score == pytest.approx(w2ner_naive.score(words, label, scores, LABELS))
    ordered = [s.score for s in decoding.mentions]
    assert ordered == sorted(ordered, reverse=True)


@given(st.integers(3, 7), st.integers(0, 2**32 - 1), st.integers(1, 10))
@settings(max_examples=100, deadline=None)
def test_the_bound_keeps_the_best(length, seed, limit):
    scores = np.random.default_rng(seed).normal(size=(length, length, 4)) + [0, 1, 0, 0]
    everything = W2NER.decode(scores).mentions
    bounded = W2ner(LABELS, max_mentions=limit).decode(scores)
    assert [s.score for s in bounded.mentions] == pytest.approx(
        [s.score for s in everything[:limit]]
    )
    assert bounded.complete == (len(everything) <= limit)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_single_mention_survives_the_round_trip(data):
    words = tuple(sorted(data.draw(st.sets(st.integers(0, 11), min_size=1))))
    assert round_trip(words, length=12) == {words}


def test_a_fully_linked_long_sentence_stays_bounded():
    scores = np.zeros((400, 400, 4), dtype=np.float32)
    scores[np.triu_indices(400, 1)] = [0, 2, 0, 0]
    scores[np.tril_indices(400)] = [0, 0, 2, 0]
    started = time.process_time()
    decoding = W2NER.decode(scores)
    assert len(decoding.mentions) == W2NER.max_mentions
    assert not decoding.complete
    assert time.process_time() - started < 5
