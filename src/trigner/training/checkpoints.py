"""Where an interrupted training goes on."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trigner.atomic_files import check_own, write_text
from trigner.errors import InputError, TrignerError
from trigner.model_folder import hash_of_file
from trigner.training.processes import ALONE, Processes

CHECKPOINTS = "checkpoints"
"""Folder of the Trainer's checkpoints in a training's own; it goes when the training ends."""

STATE, HASHES = "trainer_state.json", "hashes.json"
"""What the Trainer writes last, and the SHA-256 of all its files, which `HashCheckpoints` adds."""

FULL_DISK = 64 * 2**20
"""Bytes. With less left, a failure to write is put down to the disk."""


def last_checkpoint(folder: Path) -> Path | None:
    """The newest whole checkpoint; what was cut off while being written is removed.

    Raises InputError when it is damaged, and for links: nothing is removed where they lead.
    """
    check_own(folder)
    whole = {}
    for checkpoint in folder.glob("checkpoint-*"):
        number = checkpoint.name.removeprefix("checkpoint-")
        if not (number.isascii() and number.isdecimal()):
            continue  # not the Trainer's
        check_own(checkpoint)
        if (checkpoint / STATE).is_file():
            whole[int(number)] = checkpoint
        else:
            shutil.rmtree(checkpoint)
    if not whole:
        return None
    newest = whole[max(whole)]
    check_checkpoint(newest)
    return newest


def check_checkpoint(folder: Path) -> None:
    """Raises InputError naming a file of a checkpoint that is missing or not as it was written.

    Those of former versions have no hashes: of them the state alone is read.
    """
    hashes = _read(folder / HASHES) if (folder / HASHES).is_file() else {}
    files = {path.name: path for path in folder.iterdir() if path.is_file()}
    for name, expected in hashes.items():
        if name not in files:
            raise InputError(f"is missing: {_ADVICE}", path=folder / Path(name).name[:100])
        if hash_of_file(files[name]) != expected:
            message = f"is damaged, changed since it was saved: {_ADVICE}"
            raise InputError(message, path=files[name])
    _read(folder / STATE)


_ADVICE = "start the training again in another folder, or with a whole copy of this one"


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it is not an object")
        return content
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"is damaged: {error}; {_ADVICE}", path=path) from error


class HashCheckpoints(TrainerCallback):
    """Adds `HASHES` to each checkpoint, so that resuming knows whether it is as it was written."""

    def __init__(self, processes: Processes = ALONE) -> None:
        self._processes = processes

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self._processes.wait()  # each writes the state of its random generators
        if not self._processes.is_main:
            return
        folder = Path(str(args.output_dir)) / f"checkpoint-{state.global_step}"
        files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != HASHES)
        hashes = {path.name: hash_of_file(path) for path in files}
        write_text(folder / HASHES, json.dumps(hashes, indent=2) + "\n")


@contextmanager
def disk_errors(out: Path) -> Iterator[None]:
    """A disk that cannot be written becomes a TrignerError; other errors stay as they are.

    TensorBoard writes its log in a thread of its own, whose traceback would come on top of it, also
    after the error: such a one is not shown from then on.
    """
    shown = threading.excepthook

    def unless_of_a_disk(failed: threading.ExceptHookArgs) -> None:
        if not issubclass(failed.exc_type, OSError):
            shown(failed)

    threading.excepthook = unless_of_a_disk
    failed = False
    try:
        yield
    except (OSError, RuntimeError, SafetensorError) as error:
        # A full disk shows itself in many ways: torch raises RuntimeError, safetensors its own.
        there = next(folder for folder in (out, *out.absolute().parents) if folder.exists())
        full = shutil.disk_usage(there).free < FULL_DISK
        if not full and not isinstance(error, OSError):
            raise
        failed = True
        reason = "the disk is full" if full else str(error)
        raise TrignerError(f"cannot write to {out}: {reason}; continue with --resume") from error
    finally:
        if not failed:
            threading.excepthook = shown
