"""The folder that an adaptation works in and leaves behind."""

from __future__ import annotations

import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trigner.atomic_files import check_folder, check_own, is_leftover
from trigner.errors import InputError, TrignerError
from trigner.training.checkpoints import CHECKPOINTS
from trigner.training.masked_encoder import MaskedEncoder
from trigner.training.records import RUN, read_record, write_record

DESCRIPTION = "adaptation.json"
_PARTIAL = "partial"
_WORKED_IN = (_PARTIAL, CHECKPOINTS)
"""Folders of ours, which go in the end."""


@dataclass(frozen=True, slots=True)
class Adaptation:
    """What came of an adaptation, as `adaptation.json` in its folder says too.

    `dev_losses` are per epoch: the cross-entropy of masked subwords in nats, averaged over batches;
    `dev_loss_before` is that of the encoder as it came. `best_epoch` (from 1) is the one in the
    folder. `train_passages` and `dev_passages` count sentences, one too long for the encoder as
    often as it was cut. `data` is a hash of all sentences.
    """

    encoder: str
    fresh_head: bool
    train_passages: int
    dev_passages: int
    dev_loss_before: float
    dev_losses: tuple[float, ...]
    best_epoch: int
    settings: dict[str, Any]
    data: str


def is_finished(out: Path) -> bool:
    """Whether all of an adaptation is written."""
    return (out / DESCRIPTION).is_file() and (out / "config.json").is_file()


def prepare(out: Path, identity: dict[str, Any], resume: bool) -> Adaptation | None:
    """Refuse an `out` that is something else; the result if it is finished."""
    check_folder(out)
    for name in _WORKED_IN:
        check_own(out / name)
    if not any(path.is_file() and not is_leftover(path) for path in out.rglob("*")):
        return None  # the library may have left empty folders in a run that did not begin
    if not resume:
        raise InputError("is not empty: choose another folder, or use --resume", path=out)
    run, done = out / CHECKPOINTS / RUN, out / DESCRIPTION
    finished = is_finished(out)
    if not finished and not run.is_file():
        raise InputError("contains no adaptation to resume", path=out)
    description = read_record(done if finished else run)
    for name, value in identity.items():
        if description.get(name) != value:
            raise InputError(f"belongs to another adaptation: different {name}", path=out)
    if not finished:
        return None
    _clear(out)
    try:
        return Adaptation(**{**description, "dev_losses": tuple(description["dev_losses"])})
    except (KeyError, TypeError) as error:
        raise InputError(f"is damaged: {error}", path=done) from error


def write(out: Path, masked: MaskedEncoder, result: Adaptation) -> None:
    """All files are written next to their places first; the one that makes a model comes last."""
    partial = out / _PARTIAL
    try:
        check_own(partial)
        shutil.rmtree(partial, ignore_errors=True)
        masked.model.save_pretrained(partial)
        masked.tokenizer.save_pretrained(partial)
        write_record(partial / DESCRIPTION, asdict(result))
        for path in sorted(partial.iterdir(), key=lambda p: p.name == "config.json"):
            os.replace(path, out / path.name)
        _clear(out)
    except OSError as error:
        raise TrignerError(f"cannot write the encoder to {out}: {error}") from error


def _clear(out: Path) -> None:
    for name in _WORKED_IN:
        if (out / name).is_dir():
            shutil.rmtree(out / name)
