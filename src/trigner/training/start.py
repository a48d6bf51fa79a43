"""What a training starts with: its types, the system before its first update, the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from transformers import set_seed

from trigner.errors import InputError
from trigner.evaluation.matching import by_id
from trigner.mentions import Document, types_of
from trigner.model_folder import read_description
from trigner.systems import System, checked_system, system_spec
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
