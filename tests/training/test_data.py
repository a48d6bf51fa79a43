from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.errors import InputError
from trigner.training.data import EpochBatches
from trigner.training.settings import OptimisationSettings


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=80),
    st.integers(1, 7),
    st.integers(100, 5000),
    st.integers(1, 4),
)
def test_every_epoch_has_every_sentence_once_and_as_many_batches(lengths, size, cells, epochs):
    settings = OptimisationSettings(batch_size=size, cell_budget=cells, epochs=epochs)
    batches = EpochBatches(lengths, settings, seed=3, epochs=epochs)
    for epoch in range(epochs):
        batches.epoch = epoch
        drawn = list(batches)
        assert sorted(i for batch in drawn for i in batch) == list(range(len(lengths)))
        assert max(map(len, drawn)) <= size
        assert all(
            len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) ** 2 <= cells
            for batch in drawn
        )
        assert len(drawn) == len(batches)


def test_epochs_differ_and_seeds_decide():
    settings = OptimisationSettings(batch_size=2)

    def first_two(seed):
        batches = EpochBatches([5] * 40, settings, seed=seed, epochs=2)
        first = list(batches)
        batches.epoch = 1
        return first, list(batches)

    first, second = first_two(1)
    assert first != second
    assert first_two(1) == (first, second)
    assert first_two(2) != (first, second)


def test_without_a_budget_batches_are_full_and_the_rest_is_dropped():
    settings = OptimisationSettings(batch_size=4, cell_budget=None)
    batches = EpochBatches([3] * 10, settings, seed=0, epochs=1)
    assert [len(b) for b in batches] == [4, 4]
    with pytest.raises(InputError, match="less than one batch of 4"):
        EpochBatches([3] * 3, settings, seed=0, epochs=1)
