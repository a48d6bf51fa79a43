"""Where an interrupted training goes on."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from torch import nn
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trigner.errors import InputError, TrignerError, validation_message
from trigner.machine import check_own, write_text
from trigner.models import hash_of_file
from trigner.training.memory import is_out_of_memory
from trigner.training.processes import ALONE, Processes
from trigner.training.records import read_record

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
        if _is_whole(checkpoint):
            whole[int(number)] = checkpoint
        else:
            shutil.rmtree(checkpoint)
    if not whole:
        return None
    newest = whole[max(whole)]
    check_checkpoint(newest)
    return newest


def _is_whole(checkpoint: Path) -> bool:
    """Whether its writing came to an end: that of its state, the Trainer's last file.

    A process that is killed there leaves a state that is empty or a beginning, and no hashes yet.
    Older checkpoints go when it is whole only.
    """
    state = checkpoint / STATE
    if not state.is_file():
        return False
    if (checkpoint / HASHES).exists():
        return True
    try:
        json.loads(state.read_bytes())
    except RecursionError:
        return True  # nothing that was cut off
    except ValueError:
        return False
    return True


def past_log(checkpoint: Path | None) -> list[dict[str, float]]:
    """What a training had logged by its checkpoint."""
    return [] if checkpoint is None else list(read_record(checkpoint / STATE)["log_history"])


def check_checkpoint(folder: Path) -> None:
    """Raises InputError naming a file of a checkpoint that is missing or not as it was written.

    One whose process was killed behind its last file has no hashes: of it the state alone is read
    here, and what else is wrong with it shows when it is loaded (`loading`).
    """
    hashes = read_record(folder / HASHES, _ADVICE) if (folder / HASHES).is_file() else {}
    files = {path.name: path for path in folder.iterdir() if path.is_file()}
    for name, expected in hashes.items():
        if name not in files:
            raise InputError(f"is missing: {_ADVICE}", path=folder / Path(name).name[:100])
        if hash_of_file(files[name]) != expected:
            message = f"is damaged, changed since it was saved: {_ADVICE}"
            raise InputError(message, path=files[name])
    _check_state(folder)


_ADVICE = "start the training again in another folder, or with a whole copy of this one"


class _State(BaseModel):
    """What a training uses of the Trainer's state, in the kinds that the Trainer writes."""

    model_config = ConfigDict(strict=True)

    global_step: int
    epoch: float = Field(ge=0, allow_inf_nan=False)
    log_history: list[dict[str, float]]
    max_steps: int = 0
    num_train_epochs: int = 0
    logging_steps: float = Field(500, gt=0)
    eval_steps: float = Field(500, gt=0)
    save_steps: float = Field(500, gt=0)
    num_input_tokens_seen: int = 0
    total_flos: float = 0
    best_metric: float | None = None
    best_global_step: int | None = None
    best_model_checkpoint: str | None = None


def _check_state(folder: Path) -> None:
    """Raises InputError when the Trainer's state is none, or that of another checkpoint."""
    path = folder / STATE
    content = read_record(path, _ADVICE)
    try:
        state = _State.model_validate(content)
        TrainerState(**content)  # knows no others
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        reason = f"is damaged: {name}: {validation_message(first)}; {_ADVICE}"
        raise InputError(reason, path=path) from error
    except TypeError as error:
        raise InputError(f"is damaged: {error}; {_ADVICE}", path=path) from error
    if folder.name != f"checkpoint-{state.global_step}":
        reason = f"is damaged: global_step: is {state.global_step}, not that of its folder"
        raise InputError(f"{reason}; {_ADVICE}", path=path)


@contextmanager
def loading(checkpoint: str | Path, what: str) -> Iterator[None]:
    """Whatever loading a part of a checkpoint raises becomes an InputError that names both.

    Libraries raise errors of many classes for damaged files. Memory that runs out is another thing.
    """
    try:
        yield
    except Exception as error:
        if is_out_of_memory(error):
            raise
        # Without its message: torch's advises to load the file unsafely.
        reason = f"is damaged: its {what} cannot be loaded ({type(error).__name__})"
        raise InputError(f"{reason}; {_ADVICE}", path=checkpoint) from error


class ResumingTrainer(Trainer):
    """A Trainer that tells when a checkpoint cannot be gone on from, and which one."""

    def _load_from_checkpoint(
        self, resume_from_checkpoint: str, model: nn.Module | None = None
    ) -> None:
        with loading(resume_from_checkpoint, "weights"):
            super()._load_from_checkpoint(resume_from_checkpoint, model)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        with loading(checkpoint or "", "optimizer or scheduler"):
            super()._load_optimizer_and_scheduler(checkpoint)

    def _load_rng_state(self, checkpoint: str | None) -> None:
        with loading(checkpoint or "", "random generators"):
            super()._load_rng_state(checkpoint)

    def _load_best_model(self) -> None:
        with loading(self.state.best_model_checkpoint or "", "weights"):
            super()._load_best_model()


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
