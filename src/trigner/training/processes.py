"""Training on several processes, as `accelerate launch` and `torchrun` start them.

All read the corpus and have the same batches; each takes its share of every batch, so that batch
size, rates and schedule mean what they mean on one process. One of them, the main one, evaluates,
writes and reports.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar, cast

import torch

from trigner.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

LONGEST_WAIT = timedelta(days=1)
"""For another process: the main one evaluates dev while the others wait."""


@dataclass(frozen=True)
class Processes:
    """How many there are, and which of them this is."""

    count: int = 1
    index: int = 0

    @property
    def is_main(self) -> bool:
        """Whether this one evaluates, writes and reports."""
        return self.index == 0

    def share(self, batch: Sequence[Item]) -> Sequence[Item]:
        """Every `count`-th item of a batch; nothing of one with fewer items than processes."""
        return batch[self.index :: self.count]

    def wait(self) -> None:
        """Go on when all processes are here."""
        if self.count > 1:
            torch.distributed.barrier()

    def from_main(self, make: Callable[[], Result]) -> Result:
        """What `make` gives in the main process, which alone calls it."""
        if self.count == 1:
            return make()
        made = [make() if self.is_main else None]
        torch.distributed.broadcast_object_list(made)
        return cast(Result, made[0])

    def mean(self, value: float) -> float:
        """The mean of the processes' values."""
        if self.count == 1:
            return value
        values: list[float] = [0.0] * self.count
        torch.distributed.all_gather_object(values, value)
        return sum(values) / self.count


ALONE = Processes()
"""One process, the usual case."""


def launched() -> Processes:
    """Those that the environment tells of, before they are connected. Needs no PyTorch's group."""
    return Processes(int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0)))


def connected(device: torch.device) -> tuple[Processes, torch.device]:
    """The processes of this training, connected, and this one's device.

    Raises InputError when one GPU is named for all of them.
    """
    processes = launched()
    if processes.count == 1:
        return processes, device
    if device.type == "cuda":
        if ":" in str(device):
            raise InputError(
                f"--device {device} is one GPU for {processes.count} processes: give cuda or auto"
            )
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(device)
    from accelerate import PartialState

    # Shared by all that ask for one: the Trainer finds it.
    PartialState(cpu=device.type == "cpu", timeout=LONGEST_WAIT)
    return processes, device
