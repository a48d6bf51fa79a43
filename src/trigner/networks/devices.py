"""Devices by name."""

from __future__ import annotations

import torch

from trigner.errors import InputError


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
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"no device {name!r}: {reason}") from error
    return device
