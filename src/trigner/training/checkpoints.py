"""Where an interrupted training goes on."""

from __future__ import annotations

import shutil
from pathlib import Path

CHECKPOINTS = "checkpoints"
"""Folder of the Trainer's checkpoints in a training's own; it goes when the training ends."""


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
