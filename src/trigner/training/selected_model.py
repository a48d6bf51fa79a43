"""The model folders that a training leaves, scored and described."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from trigner.evaluation import Scores, score
from trigner.mentions import Document
from trigner.models import Description, describe_again, read_description
from trigner.pipeline import calibrate, load, with_temperature
from trigner.systems import system_spec
from trigner.training.trainer import figures


@dataclass(frozen=True)
class SelectedModel:
    """The model of an epoch that dev chose: its folder, and its scores on dev in full precision."""

    folder: Path
    description: Description
    scores: Scores

    @property
    def epoch(self) -> int | None:
        """The epoch, from 1."""
        return self.description.provenance.dev.epoch


def scored(folder: Path, dev: Sequence[Document], device: torch.device) -> SelectedModel:
    """The model in a folder, scored."""
    found = load(folder, device=str(device)).documents(dev)
    return SelectedModel(folder, read_description(folder), score(dev, list(found)))


def finished(folder: Path, dev: Sequence[Document], device: torch.device) -> SelectedModel:
    """The model in a folder, described with what its training could not know yet.

    That is the temperature that fits its scores on dev, if it has one, and what it reaches there in
    full precision, whatever the epochs were scored in.
    """
    description = read_description(folder)
    extract = load(folder, device=str(device))
    temperature, provenance = description.temperature, description.provenance
    update: dict[str, Any] = {}
    if system_spec(description.system).calibration:
        calibrated = calibrate(with_temperature(extract, 1.0), dev)
        temperature, update["calibration"] = calibrated.temperature, asdict(calibrated)
        extract = with_temperature(extract, temperature)  # as whoever loads it will
    scores = score(dev, list(extract.documents(dev)))
    update["dev"] = provenance.dev.model_copy(update={"scores": figures(scores)})
    described = description.model_copy(
        update={"temperature": temperature, "provenance": provenance.model_copy(update=update)}
    )
    describe_again(folder, described)
    return SelectedModel(folder, described, scores)


def same(folder: Path, best: SelectedModel) -> SelectedModel | None:
    """`best` once more, in `folder`, when what chose that model chose the same epoch."""
    if read_description(folder).provenance.dev.epoch != best.epoch:
        return None
    describe_again(folder, best.description)
    return SelectedModel(folder, best.description, best.scores)
