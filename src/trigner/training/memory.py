"""Batches that memory can hold: a budget of word pairs, halved when it was too much."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from trigner.errors import InputError, TrignerError
from trigner.systems import OptimisationSettings


def check_budget(lengths: Sequence[int], settings: OptimisationSettings) -> None:
    """Raises InputError when a budget that was given cannot hold the longest sentence.

    `lengths` are words of the training sentences, special words included.
    """
    budget, longest = settings.cell_budget, max(lengths)
    if isinstance(budget, int) and budget < longest**2:
        raise InputError(
            f"optimisation.cell_budget={budget} is too small for the longest sentence: {longest}"
            f" words, special words included, make {longest**2} word pairs"
        )


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocator failed, of a GPU or of the CPU."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    message = str(error)
    return isinstance(error, RuntimeError) and (
        "DefaultCPUAllocator" in message or "out of memory" in message.lower()
    )


@contextmanager
def fitting() -> Iterator[None]:
    """Raises TrignerError when what is built in this block does not fit into the memory."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        raise TrignerError(
            "out of memory before the first batch: choose smaller sizes in `model`, or a smaller"
            " encoder"
        ) from error


def halved(settings: OptimisationSettings, lengths: Sequence[int]) -> OptimisationSettings:
    """Settings whose largest batch is half as large.

    Raises TrignerError when the longest sentence alone is the largest batch.
    """
    longest = max(lengths) ** 2
    if settings.batch_size == 1 or (settings.cells is not None and settings.cells <= longest):
        raise TrignerError(
            f"out of memory with the longest training sentence alone: {max(lengths)} words"
        )
    if settings.cells is None:
        return settings.model_copy(update={"batch_size": settings.batch_size // 2})
    largest = min(settings.cells, settings.batch_size * longest)
    return settings.model_copy(update={"cell_budget": max(largest // 2, longest)})


def reductions(wanted: OptimisationSettings, now: OptimisationSettings) -> dict[str, Any]:
    """The settings that are other now than was wanted."""
    values = now.model_dump()
    return {name: value for name, value in values.items() if value != getattr(wanted, name)}


def release() -> None:
    """Give back what a failed training held."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
