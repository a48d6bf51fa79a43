"""Where a training runs, and that equal seeds give equal models there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import torch
from transformers import TrainingArguments, set_seed


@dataclass
class OneDevice(TrainingArguments):
    """Arguments of a training on one device, the one called `device_name`.

    The Trainer by itself takes every GPU it sees, and cannot share out batches of triplets.
    """

    device_name: str = "cpu"

    def __post_init__(self) -> None:
        self.use_cpu = torch.device(self.device_name).type == "cpu"
        # `bf16` decides. The variable would stand in for it, and transformers 4 sets it for good:
        # whatever the process trained after one training in bfloat16 was in bfloat16, too.
        os.environ.pop("ACCELERATE_MIXED_PRECISION", None)
        super().__post_init__()  # type: ignore[no-untyped-call]

    @cached_property
    def _setup_devices(self) -> torch.device:
        device = super()._setup_devices
        if device.type == "cuda":
            named = torch.device(self.device_name)
            # `cuda` and `auto` name none of them, and only one with a number can be made current.
            number = torch.cuda.current_device() if str(named) == "cuda" else named.index
            device = torch.device("cuda", number)
            torch.cuda.set_device(device)
            # Where accelerate would put the model.
            self.distributed_state.device = device
            self._n_gpu = 1
        return device


@contextmanager
def deterministic(seed: int, device: torch.device) -> Iterator[None]:
    """Seed all generators; on CUDA also take algorithms that give the same result every time.

    The flags of this process are restored at the end; seeds and `CUBLAS_WORKSPACE_CONFIG`, which
    cuBLAS reads once, stay. An operation that has no such algorithm warns.
    `docs/decisions/determinism.md` says what remains.
    """
    set_seed(seed)
    if device.type != "cuda":
        yield
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    cudnn, utilities = torch.backends.cudnn, torch.utils.deterministic
    before = (
        cudnn.deterministic,
        cudnn.benchmark,
        torch.backends.cuda.mem_efficient_sdp_enabled(),
        torch.backends.cuda.cudnn_sdp_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        utilities.fill_uninitialized_memory,  # type: ignore[attr-defined]
    )
    cudnn.deterministic, cudnn.benchmark = True, False
    # Their gradients are summed in any order unless operations without an order are errors.
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # It costs time, and nothing reads such memory.
    utilities.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    try:
        yield
    finally:
        cudnn.deterministic, cudnn.benchmark = before[:2]
        torch.backends.cuda.enable_mem_efficient_sdp(before[2])
        torch.backends.cuda.enable_cudnn_sdp(before[3])
        torch.use_deterministic_algorithms(before[4], warn_only=before[5])
        utilities.fill_uninitialized_memory = before[6]  # type: ignore[attr-defined]
