"""Teachers: trained models of which a new one learns, beside the annotations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import torch
from rich.console import Console

from trigner.errors import InputError
from trigner.inference import load
from trigner.model_folder import read_description
from trigner.quantities import counted
from trigner.rendering import say
from trigner.systems import Predictor, Student, System, system_spec
from trigner.systems.sections import OptimisationSettings


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
