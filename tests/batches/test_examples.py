from __future__ import annotations

from dataclasses import replace
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from trigner.batches.examples import windowing
from trigner.batches.subwords import SubwordTokenizer
from trigner.batches.windows import MOST_WORDS
from trigner.mentions import Mention, Sentence


@pytest.fixture(scope="module")
def word_subwords(encoder):
    return SubwordTokenizer(AutoTokenizer.from_pretrained(encoder).backend_tokenizer)


@pytest.fixture(scope="module")
def long_words(encoder_of):
    """A tokenizer with a subword for each letter of a word it does not know."""
    tokenizer = AutoTokenizer.from_pretrained(encoder_of("roberta"), add_prefix_space=True)
    return SubwordTokenizer(tokenizer.backend_tokenizer)


def sentence(length, *mentions):
    words = ("my", "leg", "hurt", "pain")
    chosen = tuple(words[i % 4] for i in range(length))
    offsets = tuple((6 * i, 6 * i + len(word)) for i, word in enumerate(chosen))
    return Sentence("d", 0, chosen, offsets, tuple(Mention(m, "ADR") for m in mentions))


def test_a_sentence_that_fits_is_one_example(word_subwords):
    given = sentence(5, (0, 3))
    result = windowing([given], word_subwords, 40)
    (example,) = result.inputs
    assert example.length == 5
    assert example.mentions == given.mentions
    assert example.in_sentence(Mention((0, 3), "ADR")) == Mention((0, 3), "ADR")
    assert result.lost == ()


def test_a_long_sentence_keeps_its_mentions_in_the_window_that_answers(word_subwords):
    spans = [(i, i + 2) for i in range(0, 97, 3)]
    result = windowing([sentence(3), sentence(100, *spans)], word_subwords, 22)
    windows = [example for example in result.inputs if example.sentence == 1]
    assert len(windows) > 4
    assert all(len(example.subwords.ids) <= 22 for example in result.inputs)
    back = [m for e in windows for own in e.mentions if (m := e.in_sentence(own)) is not None]
    assert sorted(mention.words for mention in back) == spans
    assert result.lost == ()


def test_a_mention_over_the_border_is_the_next_windows(word_subwords):
    # Windows of 20 words share 5: the border is in their middle.
    first, second = windowing([sentence(30)], word_subwords, 22).inputs
    assert (first.window.last, first.window.stop, second.window.start) == (17, 20, 15)
    assert first.in_sentence(Mention((16, 19), "ADR")) == Mention((16, 19), "ADR")
    assert second.in_sentence(Mention((1, 4), "ADR")) is None
    assert second.in_sentence(Mention((1, 5), "ADR")) == Mention((16, 20), "ADR")
    assert windowing([sentence(30, (15, 21))], word_subwords, 22).lost == ()


def test_a_mention_that_no_window_holds_is_reported(word_subwords):
    result = windowing([sentence(100, (0, 99), (4, 5))], word_subwords, 22)
    assert [(place, mention.words) for place, mention in result.lost] == [(0, (0, 99))]


def test_what_is_lost_or_read_through_windows_is_counted_over_all_sentences(word_subwords):
    given = [sentence(100, (0, 99)), sentence(3, (0, 2)), sentence(100, (1, 98))]
    result = windowing(given, word_subwords, 22)
    assert result.windowed == 2
    assert result.lost == ((0, given[0].mentions[0]), (2, given[2].mentions[0]))


@pytest.mark.parametrize(("length", "limit"), [(20, 22), (MOST_WORDS, 10**6)])
def test_a_sentence_that_just_fits_needs_no_windows(word_subwords, length, limit):
    whole = windowing([sentence(length)], word_subwords, limit)
    assert ([e.length for e in whole.inputs], whole.windowed) == ([length], 0)
    longer = windowing([sentence(length + 1)], word_subwords, limit)
    assert longer.windowed == 1
    assert max(example.length for example in longer.inputs) <= length


@pytest.mark.parametrize("limit", [3, 4, 8, 16])
def test_a_very_small_encoder_sees_every_word_if_not_all_of_its_subwords(long_words, limit):
    words = ("x" * 40, "my", "y" * 100, "leg")
    whole = Sentence("d", 0, words, tuple((0, 0) for _ in words), (Mention((1,), "ADR"),))
    result = windowing([whole], long_words, limit)
    assert result.lost == ()
    seen = [w for e in result.inputs for w in range(e.window.first, e.window.last)]
    assert seen == [0, 1, 2, 3]
    for example in result.inputs:
        assert len(example.subwords.ids) <= limit
        assert (example.subwords.word_subwords >= 0).any(axis=1).all()
    assert result.truncated == 2
    assert result.windowed == (len(result.inputs) > 1)


def test_a_shortened_word_that_two_windows_share_is_one(long_words):
    words = (*["aa"] * 115, "y" * 100, *["bb"] * 115)
    whole = Sentence("d", 0, words, tuple((0, 0) for _ in words))
    result = windowing([whole], long_words, 300)
    assert sum(example.subwords.truncated for example in result.inputs) == 2
    assert (result.truncated, result.windowed) == (1, 1)


@pytest.mark.parametrize("limit", [0, 2])
def test_an_encoder_without_room_for_words_is_refused(long_words, limit, refused):
    with refused():
        windowing([sentence(3)], long_words, limit)


SOME_WORDS = st.sampled_from(["my", "legs", "numbness", "\u200b", "pain,", "."])


@given(st.lists(SOME_WORDS, min_size=1, max_size=60), st.integers(10, 30), st.data())
def test_no_loss_goes_unreported(word_subwords, words, limit, data):
    """Every word is seen with all its subwords, every mention comes back once or is reported."""
    steps = st.lists(st.integers(1, 6), max_size=4)
    drawn = data.draw(st.sets(st.tuples(st.integers(0, 59), steps.map(tuple)), max_size=12))
    placed = {tuple(accumulate(steps, initial=first)) for first, steps in drawn}
    mentions = tuple(Mention(m, "ADR") for m in sorted(placed) if m[-1] < len(words))
    whole = Sentence("d", 0, tuple(words), tuple((0, 0) for _ in words), mentions)
    result = windowing([whole], word_subwords, limit)
    (together,) = word_subwords([words])
    back: list[Mention] = []
    for example in result.inputs:
        window, own = example.window, example.subwords
        assert len(own.ids) <= limit
        assert example.length == window.stop - window.start == len(own.word_subwords)
        for word in range(example.length):
            there = together.word_subwords[window.start + word]
            here = own.word_subwords[word]
            assert own.ids[here[here >= 0]].tolist() == together.ids[there[there >= 0]].tolist()
        inside = [m for m in mentions if {*m.words} <= {*range(window.start, window.stop)}]
        shifted = [tuple(w - window.start for w in m.words) for m in inside]
        assert [m.words for m in example.mentions] == shifted
        back += [m for m in map(example.in_sentence, example.mentions) if m is not None]
    assert sorted([*back, *(m for _, m in result.lost)]) == sorted(mentions)
    for _, mention in result.lost:
        ends = mention.words[0], mention.words[-1]
        assert not any(
            w.start <= ends[0] and ends[1] < w.stop for w in (e.window for e in result.inputs)
        )
    if sum((together.word_subwords >= 0).sum(1)) + 2 <= limit:
        assert result.lost == ()
        assert len(result.inputs) == 1


def test_the_nearest_words_around_a_sentence_are_read_along(word_subwords):
    alone = sentence(3, (0, 2))
    flanked = replace(alone, left=("pain", "hurt", "my"), right=("leg", "pain"))
    nearest = (("hurt", "my"), alone.words, ("leg", "pain"))
    (expected,) = word_subwords.in_context([nearest], limit=40)
    for first in (alone, flanked):
        _, example = windowing([first, flanked], word_subwords, 40, 2).inputs
        assert example.subwords.ids.tolist() == expected.ids.tolist()
        assert (example.length, example.size, example.mentions) == (3, 3, alone.mentions)
    for own in (replace(flanked, left=()), replace(flanked, right=())):
        (found,) = windowing([own], word_subwords, 40, 2).inputs
        assert len(alone.words) + 2 < len(found.subwords.ids) < len(expected.ids)
    (without,) = windowing([flanked], word_subwords, 40).inputs
    assert without.subwords.ids.tolist() == word_subwords([alone.words])[0].ids.tolist()


def test_a_sentence_of_several_windows_has_no_context(word_subwords):
    alone = sentence(30)
    flanked = replace(alone, left=("pain",), right=("pain",))
    found, expected = (
        [example.subwords.ids.tolist() for example in windowing([own], word_subwords, 22, 9).inputs]
        for own in (flanked, alone)
    )
    assert found == expected


def test_a_shortened_word_is_as_short_beside_its_context(long_words):
    flanked = Sentence("d", 0, ("y" * 100,), ((0, 100),), (), ("leg",), ("leg",))
    result = windowing([flanked], long_words, 20, 1)
    (example,) = result.inputs
    assert len(example.subwords.ids) <= 20
    assert (result.truncated, example.subwords.truncated) == (1, 1)
