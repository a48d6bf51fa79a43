"""The model folders that a training leaves, scored and described."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from trigner.evaluation import Scores, score
from trigner.inference import (
    Extractor,
    calibrate,
    fit_rescorer,
    load,
    with_rescorer,
    with_temperature,
)
from trigner.mentions import Document
from trigner.model_folder import Description, describe_again, read_description
from trigner.rescorer import gain
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
    """The model in a folder, scored without its rescorer, which was fitted on dev."""
    description = read_description(folder)
    found = _plain(folder, description, device).documents(dev)
    return SelectedModel(folder, description, score(dev, list(found)))


def finished(
    folder: Path, dev: Sequence[Document], device: torch.device, *, rescoring: bool = False
) -> SelectedModel:
    """The model in a folder, described with what its training could not know yet.

    That is the temperature that fits its scores on dev, if it has one, what it reaches there in
    full precision, whatever the epochs were scored in, and with `rescoring` a rescorer fitted there
    afterwards: with it the scores would be of what it was fitted on.
    """
    description = read_description(folder)
    extract = _plain(folder, description, device)
    spec, provenance = system_spec(description.system), description.provenance
    temperature = description.temperature
    rescorer = None
    update: dict[str, Any] = {}
    if spec.calibration:
        calibrated = calibrate(with_temperature(extract, 1.0), dev)
        temperature, update["calibration"] = calibrated.temperature, asdict(calibrated)
        extract = with_temperature(extract, temperature)  # as whoever loads it will
    found = list(extract.documents(dev))
    scores = score(dev, found)
    if rescoring:
        fitted = fit_rescorer(extract, dev, found)
        rescorer, update["rescoring"] = fitted.rescorer, fitted.figures
    update["dev"] = provenance.dev.model_copy(update={"scores": figures(scores)})
    described = description.model_copy(
        update={
            "temperature": temperature,
            "rescorer": rescorer,
            "provenance": provenance.model_copy(update=update),
        }
    )
    describe_again(folder, described)
    return SelectedModel(folder, described, scores)


def _plain(folder: Path, description: Description, device: torch.device) -> Extractor:
    """The model in a folder without a rescorer, if it can have one."""
    extract = load(folder, device=str(device))
    rescoring = system_spec(description.system).rescoring
    return with_rescorer(extract, None) if rescoring else extract


def told(model: SelectedModel) -> str:
    """One line on a model's rescorer; empty where none was asked for."""
    found = model.description.provenance.rescoring
    if found is None:
        return ""
    if why := found.get("why"):
        return f"no rescorer (optimisation.rescoring): {why}"
    worth = gain(*(float(found[name]) for name in ("f1_before", "f1")))
    return f"rescorer: {worth}; the scores that follow are without it"


def same(folder: Path, best: SelectedModel) -> SelectedModel | None:
    """`best` once more, in `folder`, when what chose that model chose the same epoch."""
    if read_description(folder).provenance.dev.epoch != best.epoch:
        return None
    describe_again(folder, best.description)
    return SelectedModel(folder, best.description, best.scores)
