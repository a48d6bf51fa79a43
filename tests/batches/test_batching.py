from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from trigner.batches.batching import by_cost, shuffled, shuffled_by_cost

LENGTHS = st.lists(st.integers(0, 50), max_size=60)


def within(batches, lengths, sentences, cells):
    return all(
        len(batch) <= sentences
        and (len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) ** 2 <= cells)
        for batch in batches
    )


@given(LENGTHS, st.integers(1, 8), st.integers(1, 4000))
def test_by_cost_holds_both_budgets_and_loses_nothing(lengths, sentences, cells):
    batches = by_cost(lengths, sentences=sentences, cells=cells)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert within(batches, lengths, sentences, cells)
    drawn = [lengths[i] for batch in batches for i in batch]
    assert drawn == sorted(drawn, reverse=True)
    for batch, following in pairwise(batches):  # one more would have been too much
        assert not within([[*batch, following[0]]], lengths, sentences, cells)


def test_a_batch_is_filled_to_the_last_cell():
    assert by_cost([2, 2], sentences=9, cells=8) == [[0, 1]]
    assert by_cost([2, 2], sentences=9, cells=7) == [[0], [1]]


@given(LENGTHS, st.integers(1, 8), st.integers(1, 4000), st.integers(0, 9))
def test_shuffled_by_cost_does_too_and_repeats_itself(lengths, sentences, cells, seed):
    batches = shuffled_by_cost(lengths, sentences=sentences, cells=cells, seed=seed)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    assert within(batches, lengths, sentences, cells)
    again = shuffled_by_cost(lengths, sentences=sentences, cells=cells, seed=seed)
    assert batches == again


def test_similar_lengths_go_together():
    lengths = [10, 40] * 50
    batches = shuffled_by_cost(lengths, sentences=5, cells=10**6, seed=1)
    assert sum(len({lengths[i] for i in batch}) > 1 for batch in batches) <= 1


def test_batches_of_an_epoch_come_in_no_order_and_with_other_mates():
    lengths = list(range(1, 41))
    batches = shuffled_by_cost(lengths, sentences=2, cells=10**6, seed=1)
    longest = [max(lengths[i] for i in batch) for batch in batches]
    assert longest not in (sorted(longest), sorted(longest, reverse=True))
    one, other = (
        {frozenset(batch) for batch in shuffled_by_cost([5] * 40, sentences=2, cells=99, seed=seed)}
        for seed in (1, 2)
    )
    assert one != other


def test_shuffled_drops_the_incomplete_batch():
    batches = shuffled(10, sentences=4, seed=2)
    assert [len(batch) for batch in batches] == [4, 4]
    assert len({i for batch in batches for i in batch}) == 8
    assert batches != shuffled(10, sentences=4, seed=3)
