"""Where a training runs, and that equal seeds give equal models there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

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
def deterministic(seed: int, device: torch.device, *, wanted: bool = True) -> Iterator[None]:
    """Seed all generators; on CUDA also take algorithms that give the same result every time.

    Not `wanted`, the algorithms are the fastest that suit batches of ever new shapes. The flags of
    this process are restored at the end; seeds and `CUBLAS_WORKSPACE_CONFIG`, which cuBLAS reads
    once, stay. An operation that has no such algorithm warns.
    `research/decisions/determinism.md` says what remains.
    """
    set_seed(seed)
    if device.type != "cuda":
        yield
        return
    cudnn, cuda = torch.backends.cudnn, torch.backends.cuda
    utilities: Any = torch.utils.deterministic
    with ExitStack() as restored:
        restored.callback(cuda.enable_cudnn_sdp, cuda.cudnn_sdp_enabled())
        # It plans for each new shape, and sums gradients in any order.
        cuda.enable_cudnn_sdp(False)
        if wanted:
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
            for owner, name, value in (
                # It costs time, and nothing reads such memory.
                (utilities, "fill_uninitialized_memory", False),
                (cudnn, "benchmark", False),
                (cudnn, "deterministic", True),
            ):
                restored.callback(setattr, owner, name, getattr(owner, name))
                setattr(owner, name, value)
            restored.callback(
                torch.use_deterministic_algorithms,
                torch.are_deterministic_algorithms_enabled(),
                warn_only=torch.is_deterministic_algorithms_warn_only_enabled(),
            )
            restored.callback(cuda.enable_mem_efficient_sdp, cuda.mem_efficient_sdp_enabled())
            # Its gradients are summed in any order unless operations without an order are errors.
            cuda.enable_mem_efficient_sdp(False)
            torch.use_deterministic_algorithms(True, warn_only=True)
        yield
