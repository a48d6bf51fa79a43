"""Where an interrupted training goes on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from trigner.errors import TrignerError

CHECKPOINTS = "checkpoints"
"""Folder of the Trainer's checkpoints in a training's own; it goes when the training ends."""

FULL_DISK = 64 * 2**20
"""Bytes. With less left, a failure to write is put down to the disk."""


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint; what was cut off while being written is removed."""
    whole = {}
    for checkpoint in folder.glob("checkpoint-*"):
        # The Trainer writes its state last.
        if (checkpoint / "trainer_state.json").is_file():
            whole[int(checkpoint.name.removeprefix("checkpoint-"))] = checkpoint
        else:
            shutil.rmtree(checkpoint)
    return whole[max(whole)] if whole else None


@contextmanager
def disk_errors(out: Path) -> Iterator[None]:
    """A disk that cannot be written becomes a TrignerError; other errors stay as they are."""
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        # A full disk shows itself in many ways: torch raises RuntimeError, safetensors its own.
        there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
        full = shutil.disk_usage(there).free < FULL_DISK
        if not full and not isinstance(error, OSError):
            raise
        reason = "the disk is full" if full else str(error)
        raise TrignerError(f"cannot write to {out}: {reason}; continue with --resume") from error
