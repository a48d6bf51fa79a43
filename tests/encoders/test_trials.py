from __future__ import annotations

import torch

from trigner.encoders.trials import refuse_unlike, trying
from trigner.errors import InputError


def test_a_failure_names_the_model_and_draws_no_random_numbers(refused):
    def fail():
        with trying("own/model"):
            torch.rand(3)
            raise IndexError("too small")

    state = torch.get_rng_state()
    with refused():
        fail()
    assert state.equal(torch.get_rng_state())


def test_errors_about_input_stay_as_they_are(refused):
    with refused(), trying("own/model"):
        raise InputError("weights are damaged")


def test_what_differs_by_more_than_rounding_is_refused(refused):
    states = torch.tensor([1.0, -200.0])
    refuse_unlike("own/model", states + 1e-4, states)
    for other in (states + 1, states * torch.nan, states[:1]):
        with refused():
            refuse_unlike("own/model", other, states)
