"""EMA: an exponential moving average of the weights, which is what is evaluated and saved.

Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992; exponential, as
in Tarvainen and Valpola, Mean teachers, 2017.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trigner.training.checkpoints import loading

EMA_FILE = "ema.safetensors"
"""The average in a checkpoint's folder."""

YOUNG = 10
"""Over about so many updates the average begins to have a memory."""


class ExponentialMovingAverage(TrainerCallback):
    """The average of a network's weights after each update; of the newest it takes `1 - decay`.

    At an update that comes after `n` others no more than `(1 + n) / (10 + n)` is kept of the old
    average, so that it does not remember the beginning of a short training. `checkpoint` is that
    which a training goes on from.
    """

    def __init__(self, network: nn.Module, decay: float, checkpoint: Path | None = None) -> None:
        self._decay = decay
        self._weights = [p for p in network.parameters() if p.requires_grad]
        self._checkpoint = checkpoint
        self._average: list[Tensor] = []

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Begin with the weights as they are, or with what the checkpoint holds."""
        if self._checkpoint is None:
            self._average = [p.detach().clone() for p in self._weights]
            return
        with loading(self._checkpoint, "average of the weights"):
            saved = load_file(self._checkpoint / EMA_FILE)
            own = enumerate(self._weights)
            self._average = [p.detach().clone().copy_(saved[str(n)]) for n, p in own]

    def on_optimizer_step(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        """Take the newest weights in."""
        updates = state.global_step
        decay = min(self._decay, (1 + updates) / (YOUNG + updates))
        newest = [p.detach() for p in self._weights]
        torch._foreach_lerp_(self._average, newest, 1 - decay)

    def save(self, folder: Path) -> None:
        """Save the average next to a checkpoint's weights."""
        save_file(
            {str(n): each.contiguous() for n, each in enumerate(self._average)}, folder / EMA_FILE
        )

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The network has the average as its weights, and its own again afterwards."""
        self._exchange()
        try:
            yield
        finally:
            self._exchange()

    @torch.no_grad()
    def _exchange(self) -> None:
        for weight, average in zip(self._weights, self._average, strict=True):
            own = weight.detach().clone()
            weight.copy_(average)
            average.copy_(own)
