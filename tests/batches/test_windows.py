from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from trigner.batches.windows import Window, windows


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=120), st.integers(9, 60), st.integers(1, 130)
)
def test_every_word_is_answered_for_once_by_a_window_that_holds_it(counts, limit, words):
    found = windows(counts, limit, words=words)
    answered = [word for window in found for word in range(window.first, window.last)]
    assert answered == list(range(len(counts)))
    for window in found:
        assert window.start <= window.first <= window.last <= window.stop
        assert sum(counts[window.start : window.stop]) <= limit
        assert window.stop - window.start <= words
    assert found[0].start == 0
    assert found[-1].stop == len(counts)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(9, 40), st.integers(1, 70))
def test_a_mention_belongs_to_one_of_the_windows_that_hold_it(counts, limit, words):
    found = windows(counts, limit, words=words)
    for first in range(len(counts)):
        for last in range(first, len(counts)):
            holding = [w for w in found if w.start <= first and last < w.stop]
            own = [w for w in holding if w.answers_for(first, last)]
            assert len(own) == bool(holding)
            if any(w.first <= first < w.last for w in holding):
                assert own[0].first <= first < own[0].last


def test_a_mention_as_long_as_the_overlap_lies_in_a_window():
    found = windows([1] * 500, 40)
    for first in range(491):
        assert any(w.start <= first and first + 9 < w.stop for w in found)


def test_neighbours_share_about_a_quarter():
    found = windows([1] * 1000, 100)
    for before, after in pairwise(found):
        assert 20 <= before.stop - after.start <= 26
        assert before.last == after.first
        assert before.stop - before.last >= 10
        assert before.last - after.start >= 10


def test_a_window_has_no_more_words_than_memory_holds():
    found = windows([1] * 1000, 600)
    assert max(window.stop - window.start for window in found) == 200
    for before, after in pairwise(found):
        assert before.stop - after.start == 50


def test_a_short_sentence_is_one_window():
    assert windows([1, 2, 3], 6) == [Window(0, 3, 0, 3)]
    assert windows([], 6) == [Window(0, 0, 0, 0)]


def test_a_word_over_the_limit(refused):
    with refused(error=ValueError):
        windows([1, 9, 1], 5)
