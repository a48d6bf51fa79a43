"""Where a training runs, and that equal seeds give equal models there."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property

import torch
from transformers import TrainingArguments, set_seed


@dataclass
class OneDevice(TrainingArguments):
    """Arguments of a training on one device, the one called `place`.

    The Trainer by itself takes every GPU it sees, and cannot share out batches of triplets.
    """

    place: str = "cpu"

    def __post_init__(self) -> None:
        self.use_cpu = torch.device(self.place).type == "cpu"
        super().__post_init__()  # type: ignore[no-untyped-call]

    @cached_property
    def _setup_devices(self) -> torch.device:
        place = super()._setup_devices
        if place.type == "cuda":
            place = torch.device(self.place)
            torch.cuda.set_device(place)
            # Where accelerate would put the model.
            self.distributed_state.device = place
            self._n_gpu = 1
        return place


def seed_everything(seed: int, place: torch.device) -> None:
    """Seed all generators; on CUDA also take algorithms that give the same result every time.

    An operation that has none warns. `docs/decisions/determinism.md` says what remains.
    """
    set_seed(seed)
    if place.type != "cuda":
        return
    # cuBLAS reads it when it is first used.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    # Its gradients are summed in any order unless operations without an order are errors.
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # It costs time, and nothing reads such memory.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
