"""Devices by name, and in which precision a CPU is fast."""

from __future__ import annotations

from functools import cache, partial
from timeit import timeit

import torch

from trigner.errors import InputError, first_line


def choose_device(name: str) -> torch.device:
    """`auto` takes CUDA, then Apple's GPU, then the CPU.

    Raises InputError for a name that is not a device's and for a device that is not there.
    """
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:  # which lists all that torch was ever built for
        raise InputError(
            f"no device {name!r}: give auto, cpu, cuda, cuda:1 (the second GPU) or mps"
        ) from error
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"no device {name!r}: {first_line(error)}") from error
    return device


SLOWER = 1.2
"""The ratio from which a notice is given; smaller ones may be chance."""


@cache
def bfloat16_time() -> float:
    """How long this CPU takes for a product of matrices in bfloat16, in the time of float32.

    Measured, in some hundredths of a second, as what a CPU's instructions promise does not say it;
    on one thread, as several may wait for each other where other work runs.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        times: dict[torch.dtype, list[float]] = {torch.bfloat16: [], torch.float32: []}
        for _ in range(20):  # taking turns: other work may come and go
            for precision, own in times.items():
                shapes = ((256, 384), (384, 384))
                left, right = (torch.ones(shape, dtype=precision) for shape in shapes)
                own.append(timeit(partial(torch.mm, left, right), number=1))
    finally:
        torch.set_num_threads(threads)
    return min(times[torch.bfloat16]) / min(times[torch.float32])


def bfloat16_notice(device: torch.device) -> str | None:
    """What to tell before long work in bfloat16 where float32 is faster; None where it is not.

    CPUs with instructions for matrices of bfloat16 (AMX) gain by it, most others take longer.
    """
    if device.type != "cpu" or bfloat16_time() < SLOWER:
        return None
    return (
        f"a product of matrices takes {bfloat16_time():.1f} times as long in bfloat16 as in"
        " float32 on this CPU"
    )
