from __future__ import annotations

from itertools import islice

import pytest
from fastapi import HTTPException
from hypothesis import given
from hypothesis import strategies as st

from trigner.pipeline.extraction import CELL_BUDGET
from trigner.serving.batching import group_by_length
from trigner.serving.settings import ServiceSettings
from trigner.serving.sizes import SHORTEST, check_sentences, padded_cells


def refused(texts, **settings):
    with pytest.raises(HTTPException) as raised:
        check_sentences(texts, ServiceSettings(**settings))
    assert raised.value.status_code == 413
    return raised.value.detail


def test_long_sentences_are_refused_with_their_place():
    check_sentences(["My leg hurt. " * 9], ServiceSettings(max_words=4))
    assert refused(["My leg hurt.\n\na b c d e f."], max_words=6) == (
        "the text has a sentence of more than 6 words, at character 14:"
        " end sentences with full stops or blank lines"
    )
    assert refused(["a.", "b c d"], max_words=2).startswith("text 2 of 2 has a sentence")


def test_cells_are_refused_over_all_texts():
    texts = ["a b c d e", "d e f g", "g"]  # 2 sentences padded to 5 words, one of 1
    check_sentences(texts, ServiceSettings(max_cells=51))
    assert refused(texts, max_cells=50) == (
        "the sentences of the request have more than 50 word pairs: send less text at a time"
    )
    check_sentences([], ServiceSettings(max_cells=1))


def test_words_are_refused_over_all_texts():
    texts = ["a b c d e f g h i", "No pain. No rash."]  # of 9 words; of 3 twice, 8 each
    assert SHORTEST == 8
    check_sentences(texts, ServiceSettings(max_request_words=25))
    assert refused(texts, max_request_words=24) == (
        "the request has more than 24 words (a sentence counts as 8 at least):"
        " send less text at a time"
    )
    check_sentences(["", " "], ServiceSettings(max_request_words=1))


@pytest.mark.parametrize("sentence", ["No pain. ", "A.\n\n", "I had a severe headache after it. "])
def test_short_sentences_in_the_longest_text_are_refused(sentence):
    """Such a text has few word pairs, and took all of a request's time."""
    settings = ServiceSettings()
    text = sentence * (settings.max_characters // len(sentence))
    assert "more than 12000 words" in refused([text])


def test_nothing_is_read_beyond_the_words_of_a_request(monkeypatch):
    from trigner.serving import sizes

    read = []

    def sentence_words(text):
        for number in range(1000):
            read.append(number)
            yield ((0, 1),) * 10

    monkeypatch.setattr(sizes, "sentence_words", sentence_words)
    refused(["any"], max_request_words=35)
    assert read == [0, 1, 2, 3]


@given(st.lists(st.integers(1, 300), max_size=40))
def test_cells_count_padding(lengths):
    expected = 0
    for group in group_by_length(lengths):
        longest = max(lengths[i] for i in group)
        expected += sum(longest**2 for _ in group)
    assert padded_cells(lengths) == expected >= sum(n**2 for n in lengths)


def test_no_pass_is_larger_than_three_batches():
    special_words = 2
    assert (ServiceSettings().max_words + special_words) ** 2 <= 3 * CELL_BUDGET


def test_nothing_is_read_beyond_the_first_sentence_that_is_too_long(monkeypatch):
    from trigner.serving import sizes

    read = []

    def sentence_words(text):
        for number in islice(range(1000), 1000):
            read.append(number)
            yield ((0, 1),) * (1 if number < 3 else 10)

    monkeypatch.setattr(sizes, "sentence_words", sentence_words)
    refused(["any"], max_words=5)
    assert read == [0, 1, 2, 3]
