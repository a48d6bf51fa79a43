from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.mentions import Mention
from trigner.systems.sections import OptimisationSettings, SamplingSettings
from trigner.training.data import EpochBatches
from trigner.training.sampling import drawn, rates

NONE, ONE, SPLIT = (
    SimpleNamespace(mentions=mentions)
    for mentions in ((), (Mention((0, 1), "ADR"),), (Mention((2,), "ADR"), Mention((0, 2), "ADR")))
)


def test_rates_by_what_a_sentence_holds():
    settings = SamplingSettings(discontinuous=2.5, empty=0.25)
    assert rates([NONE, ONE, SPLIT], settings) == [0.25, 1.0, 2.5]
    assert rates([NONE, ONE, SPLIT], SamplingSettings()) == [1.0] * 3


@given(st.lists(st.floats(0, 4), max_size=30), st.integers(0, 99))
def test_each_as_often_as_its_rate_says(wanted, seed):
    found = drawn(wanted, seed)
    assert found == sorted(found) == drawn(wanted, seed)
    for index, rate in enumerate(wanted):
        assert found.count(index) in {int(rate), int(np.ceil(rate))}


@pytest.mark.parametrize("rate", [0.3, 0.7, 1.6])
def test_parts_of_a_rate_are_kept_on_average_and_differ_between_epochs(rate):
    found = [drawn([rate] * 1000, seed) for seed in range(20)]
    assert np.mean([len(each) for each in found]) == pytest.approx(1000 * rate, rel=0.05)
    assert len({tuple(each) for each in found}) == 20


def test_batches_hold_what_is_drawn():
    settings = OptimisationSettings(batch_size=3)
    wanted = [0.0, 1.0, 2.0, 1.0, 0.5]
    batches = EpochBatches([5, 9, 2, 7, 3], settings, seed=4, epochs=3, rates=wanted)
    for epoch in range(3):
        batches.epoch = epoch
        members = sorted(i for batch in batches for i in batch)
        assert members == drawn(wanted, 4 + epoch)
