from __future__ import annotations

import pytest
import torch

from trigner.errors import TrignerError
from trigner.systems.sections import OptimisationSettings
from trigner.training.memory import check_budget, fitting, halved, is_out_of_memory

LENGTHS = [3, 10, 4, 7]


@pytest.mark.parametrize("budget", [100, 5000, "auto", None])
def test_budgets_that_hold_the_longest_sentence(budget):
    check_budget(LENGTHS, OptimisationSettings(cell_budget=budget))


def test_a_budget_too_small_for_one_sentence_is_refused(refused):
    with refused():
        check_budget(LENGTHS, OptimisationSettings(cell_budget=99))


def test_longer_sentences_go_alone_unless_a_budget_was_given():
    check_budget([300], OptimisationSettings())


def test_what_allocators_say():
    assert is_out_of_memory(MemoryError())
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate"))
    assert not is_out_of_memory(RuntimeError("shapes do not match"))
    assert not is_out_of_memory(ValueError("out of memory"))
    with pytest.raises(RuntimeError) as raised:
        torch.empty(1 << 60)
    assert is_out_of_memory(raised.value)


def test_what_does_not_fit_at_all_is_told(refused):
    with refused(error=TrignerError), fitting():
        torch.empty(1 << 60)
    with refused(error=RuntimeError), fitting():
        raise RuntimeError("shapes do not match")


def test_the_largest_batch_is_halved_until_it_is_one_sentence(refused):
    settings = OptimisationSettings(batch_size=12)  # 12 of 10 words: 1200 pairs
    budgets = []
    while settings.cell_budget != 100:
        settings = halved(settings, LENGTHS)
        budgets.append(settings.cell_budget)
    assert budgets == [600, 300, 150, 100]
    with refused(error=TrignerError):
        halved(settings, LENGTHS)


def test_without_a_budget_the_number_of_sentences_is_halved():
    settings = OptimisationSettings(batch_size=6, cell_budget=None)
    settings = halved(settings, LENGTHS)
    assert settings.batch_size == 3
    assert settings.cell_budget is None
    with pytest.raises(TrignerError):
        halved(halved(settings, LENGTHS), LENGTHS)
