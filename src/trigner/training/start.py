"""What a training starts with: types, teachers, the system before its first update, the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, cast

import torch
from rich.console import Console
from transformers import set_seed

from trigner.errors import InputError
from trigner.evaluation import by_id
from trigner.machine import counted
from trigner.mentions import Document, types_of
from trigner.models import read_description
from trigner.pipeline import load
from trigner.rendering import say
from trigner.systems import (
    OptimisationSettings,
    Predictor,
    Student,
    System,
    checked_system,
    system_spec,
)
from trigner.training.data import TrainingData, prepare
from trigner.training.memory import fitting
from trigner.training.settings import Settings


def learnt_types(documents: Iterable[Document], init_from: Path | None) -> tuple[str, ...]:
    """The types of the model that a training makes: a start that has them all keeps its own."""
    labels = types_of(documents)
    before = () if init_from is None else tuple(read_description(init_from).labels)
    return before if {*labels} <= {*before} else labels


def check_dev(documents: Sequence[Document], labels: Sequence[str]) -> None:
    """Raises InputError for dev documents by which no epoch is better than another, or of which
    two have one id."""
    by_id(documents, "dev")
    if labels and not {*types_of(documents)} & {*labels}:
        raise InputError(
            f"the dev documents contain no entity of {', '.join(labels)}: they cannot choose an"
            " epoch; name others as --dev"
        )


def check_teachers(teachers: Sequence[Path], settings: Any, labels: Sequence[str]) -> None:
    """Raises InputError unless models of these settings can learn from these folders' models."""
    if not teachers:
        given = settings.optimisation.distillation
        if given != OptimisationSettings().distillation:
            raise InputError("optimisation.distillation changes nothing without a teacher")
        return
    system_spec(settings.system).require("teachers")
    for folder in teachers:
        found = read_description(folder)
        if found.system != settings.system or {*found.labels} != {*labels}:
            raise InputError(
                f"is a {found.system} model for {', '.join(found.labels)}; this training is for"
                f" {', '.join(labels)} with the system {settings.system}: a teacher has the same"
                " system and types",
                path=folder,
            )


def begun(
    settings: Settings,
    documents: Sequence[Document],
    init_from: Path | None,
    teaching: Callable[[System], AbstractContextManager[object]] = nullcontext,
) -> tuple[System, TrainingData]:
    """The system as it is before its first update, and what it learns from."""
    spec = system_spec(settings.system)
    labels = types_of(documents)
    set_seed(settings.seed)
    with fitting():
        system = checked_system(spec, spec.implementation("build")(settings, labels, init_from))
    with teaching(system):
        data = prepare(documents, system, settings)
    system.initialise(data.examples)
    return system, data


@contextmanager
def learning_from(
    teachers: Sequence[Path], system: System, *, device: torch.device, console: Console
) -> Iterator[None]:
    """What the system prepares within has what these models make of it; then they are let go."""
    if not teachers:
        yield
        return
    student = cast(Student, system)
    predictors: list[Predictor] = [load(own, device=str(device)).predictor for own in teachers]
    student.learn_from(predictors)
    say(console, f"{counted(len(teachers), 'teacher')} read the sentences first")
    with console.status("reading"):
        yield
    student.learn_from(())
