"""The whole of a training: documents and settings in, a model folder out."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from trigner.encoders import choose_device, quiet
from trigner.errors import InputError, TrignerError
from trigner.evaluation import data_hash
from trigner.machine import check_own, counted
from trigner.mentions import Document
from trigner.models import TrainingPart, fingerprint
from trigner.rendering import say
from trigner.systems import OptimisationSettings, SelectBy, Student, TakingOver
from trigner.training.best_epoch import METRICS
from trigner.training.checkpoints import CHECKPOINTS, disk_errors, last_checkpoint, past_log
from trigner.training.devices import deterministic
from trigner.training.memory import check_budget, halved, is_out_of_memory, reductions, release
from trigner.training.origin import provenance_of
from trigner.training.prepared import PreparedTraining
from trigner.training.processes import connected
from trigner.training.progress import ShowProgress
from trigner.training.records import ORDER, RUN, finish_record, record_to_resume, write_record
from trigner.training.selected_model import SelectedModel, finished, same, scored
from trigner.training.settings import Settings
from trigner.training.start import begun, check_dev, check_teachers, learning_from, learnt_types
from trigner.training.trainer import LOGS, check_trackers, figures


@dataclass(frozen=True)
class Trained:
    """A finished training: the best epoch's model, and `also` those that other scores chose.

    `history` holds the dev scores of each epoch that has some (`optimisation.dev_every`), as
    TensorBoard has them, and its number as `epoch`.
    """

    best: SelectedModel
    epochs: int
    also: Mapping[SelectBy, SelectedModel] = field(default_factory=dict)
    history: tuple[Mapping[str, float], ...] = ()

    @property
    def data(self) -> TrainingPart:
        """What it was trained on."""
        return self.best.description.provenance.train


def train(
    settings: Settings,
    documents: Iterable[Document],
    dev: Iterable[Document],
    out: str | Path,
    *,
    device: str = "auto",
    init_from: str | Path | None = None,
    teachers: Sequence[str | Path] = (),
    resume: bool = False,
    console: Console | None = None,
    also_keep: Sequence[SelectBy] = (),
    report_to: Sequence[str] = (),
) -> Trained:
    """Train on `documents`, choose the epoch on `dev`, leave the best model in `out`.

    `also_keep` chooses epochs by other dev scores than `optimisation.select_by` as well: their
    models are left in folders of these names in `out`. When training stops is a matter of
    `select_by` alone. `report_to` are trackers of the Trainer in addition to TensorBoard.

    Under `accelerate launch` or `torchrun` the processes share out each batch (`processes`); all
    return the same.

    An interrupted training goes on from its last epoch with `resume`. `init_from` starts from
    another model's weights: its system and settings must be the same (`resolve` takes them over),
    and its labels hold those of `documents` unless the system can take it over for others
    (`systems.TakingOver`). `teachers` are models of the same system and types, of whose
    probabilities it learns too (`optimisation.distillation`). Raises InputError for data or
    settings that cannot work, TrignerError when the disk cannot be written.
    """
    documents, dev, out = list(documents), list(dev), Path(out)
    init_from = None if init_from is None else Path(init_from)
    taught_by = [Path(folder) for folder in teachers]
    if unknown := set(also_keep) - set(METRICS):
        known = ", ".join(METRICS)
        raise InputError(f"unknown score to choose by: {min(unknown)!r}; known are: {known}")
    check_own(out / CHECKPOINTS)
    check_trackers(report_to)
    labels = learnt_types(documents, init_from)
    check_teachers(taught_by, settings, labels)
    check_dev(dev, labels)
    processes, chosen = connected(choose_device(device))
    run = _inputs(settings, documents, dev, init_from, taught_by, also_keep)
    # Before an encoder is loaded or fetched: what cannot be resumed is reported at once.
    record = processes.from_main(lambda: record_to_resume(out, run)) if resume else {}
    checkpoint = None
    if resume and "finished" not in record:
        checkpoint = processes.from_main(lambda: last_checkpoint(out / CHECKPOINTS))
    optimisation = settings.optimisation.model_copy(update=record.get("reduced") or {})
    if console is None or not processes.is_main:
        console = Console(stderr=True, quiet=not processes.is_main)
    teaching = partial(learning_from, taught_by, device=chosen, console=console)
    history: list[dict[str, float]] | None = record.get("history")
    with deterministic(settings.seed, chosen, wanted=optimisation.deterministic):
        while history is None:
            used = settings.model_copy(update={"optimisation": optimisation})
            system, data = begun(used, documents, init_from, teaching)
            check_budget(data.lengths, settings.optimisation)
            reduced = reductions(settings.optimisation, optimisation)
            prepared = PreparedTraining(
                used,
                system,
                data,
                dev,
                provenance=provenance_of(used, system, data, documents, dev, init_from, taught_by),
                out=out,
                device=chosen,
                also_keep=tuple(also_keep),
                processes=processes,
            )
            if processes.is_main:
                write_record(out / RUN, {**run, "reduced": reduced})
            history = _epochs(prepared, console, checkpoint, report_to)
            if history is None:
                lengths = data.lengths
                del system, data, prepared
                release()
                optimisation = halved(optimisation, lengths)
                _start_again(out, settings.optimisation, optimisation, console)
                checkpoint = None
        return processes.from_main(partial(_ended, out, dev, chosen, also_keep, record, history))


def _inputs(
    settings: Settings,
    documents: Sequence[Document],
    dev: Sequence[Document],
    init_from: Path | None,
    teachers: Sequence[Path],
    also_keep: Sequence[SelectBy],
) -> dict[str, Any]:
    """What a training must be given again to be resumed."""
    return {
        "settings": settings.as_json(),
        "train": data_hash(documents),
        ORDER: data_hash(documents, in_order=True),
        "dev": data_hash(dev),
        "init_from": None if init_from is None else fingerprint(init_from, described=False),
        "teachers": [fingerprint(own, described=False) for own in teachers] or None,
        "also_keep": list(also_keep) or None,
    }


def _ended(
    out: Path,
    dev: Sequence[Document],
    device: torch.device,
    also_keep: Sequence[SelectBy],
    record: Mapping[str, Any],
    history: Sequence[Mapping[str, float]],
) -> Trained:
    """The models of a training that has no further epochs, scored and described."""
    describe = scored if "finished" in record else finished
    best = describe(out, dev, device)
    also = {name: same(out / name, best) or describe(out / name, dev, device) for name in also_keep}
    epochs = round(record["finished"] if "finished" in record else history[-1]["epoch"])
    if "finished" not in record:
        finish_record(out, epochs, history)
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)  # also what a killed process left of them
    return Trained(best, epochs, also, tuple(history))


def _epochs(
    prepared: PreparedTraining, console: Console, checkpoint: Path | None, report_to: Sequence[str]
) -> list[dict[str, float]] | None:
    """Dev scores of the epochs that have some; None when memory ran out."""
    started = prepared.provenance.init_from
    if started is not None:
        taken_over = isinstance(prepared.system, TakingOver) and prepared.system.taken_over
        told = f"starting from {started['model']}: {taken_over or 'all weights taken over'}"
        say(console, told)
    made = (
        f", and on {counted(prepared.data.made, 'sentence')} generated from them"
        if prepared.data.made
        else ""
    )
    learning = (
        f"training on {counted(prepared.data.sentences, 'sentence')} with"
        f" {counted(prepared.data.mentions, 'entity', 'entities')}{made}"
    )
    if prepared.provenance.teachers and isinstance(prepared.system, Student):
        untaught = sum(not prepared.system.has_teachers(own) for own in prepared.data.examples)
        if untaught:
            told = f"{counted(untaught, 'sentence')} without teachers, which read in windows there"
            say(console, told)
    if not any(p.requires_grad for p in prepared.system.network.parameters()):
        say(console, f"{learning}; the system has no weights to update")
        return _without_updates(prepared)
    progress = ShowProgress(console)
    try:
        with disk_errors(prepared.out), quiet():
            trainer = prepared.trainer(progress, report_to, checkpoint)
            updates = counted(trainer.updates, "update")
            say(console, f"{learning}, {updates}, on {prepared.device}")
            for told in prepared.notices():
                say(console, f"note: {told}")
            log = past_log(checkpoint)
            if not prepared.keep_best().has_stopped(log):
                trainer.train(None if checkpoint is None else str(checkpoint))
                log = trainer.state.log_history
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        if prepared.processes.count > 1:  # the others wait for this one's gradients
            raise TrignerError(
                "out of memory: set a smaller optimisation.batch_size or optimisation.cell_budget"
            ) from error
        return None
    finally:
        progress.close()
    return [
        {n: value for n, value in entry.items() if n == "epoch" or n.startswith("eval_")}
        for entry in log
        if "eval_f1" in entry
    ]


def _without_updates(prepared: PreparedTraining) -> list[dict[str, float]]:
    """The one epoch of a system that has learnt all it can before it."""
    found = figures(prepared.scores_of_dev()())
    metrics = {f"eval_{name}": value for name, value in found.items()}
    with disk_errors(prepared.out):
        for folder in (prepared.out, *(prepared.out / name for name in prepared.also_keep)):
            prepared.save_to(folder)(1, metrics)
    return [{"epoch": 1, **metrics}]


def _start_again(
    out: Path, wanted: OptimisationSettings, now: OptimisationSettings, console: Console
) -> None:
    """Report that memory ran out and drop what the larger batches left behind.

    Starting over makes the result that of a training with these batches from the beginning.
    """
    changes = ", ".join(f"{name}={value}" for name, value in reductions(wanted, now).items())
    say(console, f"note: out of memory; starting again with {changes}")
    for left in (CHECKPOINTS, LOGS):
        shutil.rmtree(out / left, ignore_errors=True)
