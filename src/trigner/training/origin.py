"""What a model says about the training that it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trigner.evaluation import sign
from trigner.mentions import Document
from trigner.models import DevPart, Provenance, TrainingPart, fingerprint
from trigner.systems import System
from trigner.training.data import TrainingData
from trigner.training.settings import Settings


def started_with(folder: Path) -> dict[str, str]:
    """A model that the training began with or learnt from: its name, a hash of its weights."""
    return {"model": str(folder), "weights": fingerprint(folder, described=False)}


def provenance_of(
    settings: Settings,
    system: System,
    data: TrainingData,
    documents: Sequence[Document],
    dev: Sequence[Document],
    init_from: Path | None,
    teachers: Sequence[Path],
) -> Provenance:
    """What a model says about its training; the epoch and its scores join later."""
    dumped = settings.as_json()
    return Provenance(
        settings=dumped,
        parameters=sum(p.numel() for p in system.network.parameters()),
        train=TrainingPart(
            documents=len(documents),
            sentences=data.sentences,
            mentions=data.mentions,
            unusable=data.unusable,
            made=data.made,
            signature=str(sign(documents, settings=dumped, seed=settings.seed)),
        ),
        dev=DevPart(
            documents=len(dev), signature=str(sign(dev, settings=dumped, seed=settings.seed))
        ),
        init_from=None if init_from is None else started_with(init_from),
        teachers=[started_with(own) for own in teachers] or None,
    )
