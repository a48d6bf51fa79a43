"""Where a training runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from transformers import TrainingArguments


@dataclass
class OneDevice(TrainingArguments):
    """Arguments of a training on one device, the one called `place`.

    The Trainer by itself takes every GPU it sees, and cannot share out batches of triplets.
    """

    place: str = "cpu"

    def __post_init__(self) -> None:
        self.use_cpu = torch.device(self.place).type == "cpu"
        super().__post_init__()

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
