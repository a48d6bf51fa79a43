"""The whole of a training: documents and settings in, a model folder out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from trigner.atomic_files import check_own
from trigner.errors import InputError, TrignerError
from trigner.evaluation import Scores, data_hash, score
from trigner.inference import Extractor
from trigner.mentions import Document
from trigner.model_folder import (
    Description,
    Provenance,
    TrainingPart,
    save_model,
)
from trigner.networks import bfloat16_notice, choose_device
from trigner.networks.pretrained import quiet
from trigner.quantities import counted
from trigner.systems import (
    Student,
    System,
    TakingOver,
    checked_predictor,
    system_spec,
)
from trigner.training.adversarial import FastGradient, fast_gradient
from trigner.training.best_epoch import METRICS, KeepBest, ScoreEvery
from trigner.training.checkpoints import CHECKPOINTS, disk_errors, last_checkpoint, past_log
from trigner.training.data import EpochBatches, TrainingData
from trigner.training.devices import deterministic
from trigner.training.ema import ExponentialMovingAverage
from trigner.training.memory import (
    check_budget,
    halved,
    is_out_of_memory,
    reductions,
    release,
)
from trigner.training.origin import provenance_of
from trigner.training.processes import Processes, connected
from trigner.training.progress import ShowProgress
from trigner.training.records import ORDER, RUN, finish_record, record_to_resume, write_record
from trigner.training.sections import OptimisationSettings, SelectBy
from trigner.training.selected_model import SelectedModel, finished, identity, same, scored, told
from trigner.training.settings import Settings
from trigner.training.start import begun, check_dev, learnt_types
from trigner.training.teachers import check_teachers, learning_from
from trigner.training.trainer import (
    FIGURES,
    LOGS,
    SystemTrainer,
    TripletSchedule,
    check_trackers,
    figures,
    training_arguments,
)
from trigner.training.weighting import Collator


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
    run = {
        "settings": settings.model_dump(mode="json"),
        "train": data_hash(documents),
        ORDER: data_hash(documents, in_order=True),
        "dev": data_hash(dev),
        "init_from": None if init_from is None else identity(init_from),
        "teachers": [identity(own) for own in taught_by] or None,
        "also_keep": list(also_keep) or None,
    }
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
    if "finished" in record and history is None:
        history = []  # of a training that did not write it down
    with deterministic(settings.seed, chosen, wanted=optimisation.deterministic):
        while history is None:
            used = settings.model_copy(update={"optimisation": optimisation})
            system, data = begun(used, documents, init_from, teaching)
            check_budget(data.lengths, settings.optimisation)
            provenance = provenance_of(used, system, data, documents, dev, init_from, taught_by)
            reduced = reductions(settings.optimisation, optimisation)
            work = _Work(
                *(used, system, data, dev, provenance, out, chosen, tuple(also_keep), processes),
                fast_gradient(system.network, optimisation.adversarial),
            )
            if processes.is_main:
                write_record(out / RUN, {**run, "reduced": reduced})
            history = _epochs(work, console, checkpoint, report_to)
            if history is None:
                lengths = data.lengths
                del system, data, work
                release()
                optimisation = halved(optimisation, lengths)
                _start_again(out, settings.optimisation, optimisation, console)
                checkpoint = None
        rescoring = settings.optimisation.rescoring and system_spec(settings.system).rescoring
        end = partial(_ended, out, dev, chosen, also_keep, record, history, rescoring, console)
        return processes.from_main(end)


def _ended(
    out: Path,
    dev: Sequence[Document],
    device: torch.device,
    also_keep: Sequence[SelectBy],
    record: Mapping[str, Any],
    history: Sequence[Mapping[str, float]],
    rescoring: bool,
    console: Console,
) -> Trained:
    """The models of a training that has no further epochs, scored and described."""
    describe = scored if "finished" in record else partial(finished, rescoring=rescoring)
    best = describe(out, dev, device)
    also = {name: same(out / name, best) or describe(out / name, dev, device) for name in also_keep}
    epochs = round(record["finished"] if "finished" in record else history[-1]["epoch"])
    if line := told(best):
        console.print(line, highlight=False)
    if "finished" not in record:
        finish_record(out, epochs, history)
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)  # also what a killed process left of them
    return Trained(best, epochs, also, tuple(history))


@dataclass(frozen=True)
class _Work:
    """A training that is about to begin."""

    settings: Settings
    system: System
    data: TrainingData
    dev: Sequence[Document]
    provenance: Provenance
    out: Path
    device: torch.device
    also_keep: tuple[SelectBy, ...]
    processes: Processes
    adversarial: FastGradient | None

    @property
    def optimisation(self) -> OptimisationSettings:
        return self.settings.optimisation

    def extractor(self) -> Extractor:
        """Predicts with the weights that are being trained."""
        spec = system_spec(self.settings.system)
        predictor = checked_predictor(spec, self.system.predictor(str(self.device)))
        return Extractor(predictor, spec.name)

    def notices(self) -> Iterator[str]:
        """What has no effect on these data, and what would be faster on this device."""
        yield from self.data.notices(self.settings, self.system.labels)
        if self.optimisation.precision == "bfloat16" and (told := bfloat16_notice(self.device)):
            yield f"{told}; training is faster with optimisation.precision=float32"

    def scores_of_dev(self) -> Callable[[], Scores]:
        """Dev scores with the weights of the time, in the precision of the training.

        Dev documents are segmented and encoded once.
        """
        mixed = self.optimisation.precision == "bfloat16"
        extract_dev = self.extractor().repeatedly(self.dev)

        def scores() -> Scores:
            with torch.autocast(self.device.type, torch.bfloat16, enabled=mixed):
                return score(self.dev, extract_dev())

        return scores

    def keep_best(self) -> KeepBest:
        """What saves the best epoch's model, and ends the training."""
        return KeepBest(
            select_by=self.optimisation.select_by,
            patience=self.optimisation.patience,
            save=self.save_to(self.out),
        )

    def save_to(self, folder: Path) -> Callable[[int, Mapping[str, float]], None]:
        """What saves the system as the model of an epoch with these metrics."""

        def save(epoch: int, metrics: Mapping[str, float]) -> None:
            if not self.processes.is_main:
                return
            scores = {name: metrics[f"eval_{name}"] for name in FIGURES}
            dev = self.provenance.dev.model_copy(update={"epoch": epoch, "scores": scores})
            spec = system_spec(self.settings.system)
            saved = self.system.saved_state()
            description = Description(
                system=spec.name,
                package=spec.package,
                labels=self.system.labels,
                model=self.settings.model.model_dump(mode="json"),
                state=dict(saved.state),
                files={},
                provenance=self.provenance.model_copy(update={"dev": dev}),
            )
            save_model(folder, description, saved.files)

        return save


def _epochs(
    work: _Work, console: Console, checkpoint: Path | None, report_to: Sequence[str]
) -> list[dict[str, float]] | None:
    """Dev scores of the epochs that have some; None when memory ran out."""
    started = work.provenance.init_from
    if started is not None:
        taken_over = isinstance(work.system, TakingOver) and work.system.taken_over
        told = f"starting from {started['model']}: {taken_over or 'all weights taken over'}"
        console.print(told, markup=False, highlight=False)
    made = (
        f", and on {counted(work.data.made, 'sentence')} generated from them"
        if work.data.made
        else ""
    )
    learning = (
        f"training on {counted(work.data.sentences, 'sentence')} with"
        f" {counted(work.data.mentions, 'entity', 'entities')}{made}"
    )
    if work.provenance.teachers and isinstance(work.system, Student):
        untaught = sum(not work.system.has_teachers(own) for own in work.data.examples)
        if untaught:
            told = f"{counted(untaught, 'sentence or window', 'sentences or windows')} without"
            console.print(f"{told} teachers, which read in windows there", highlight=False)
    if not any(p.requires_grad for p in work.system.network.parameters()):
        console.print(f"{learning}; the system has no weights to update", highlight=False)
        return _without_updates(work)
    progress = ShowProgress(console)
    try:
        with disk_errors(work.out), quiet():
            trainer = _trainer(work, progress, report_to, checkpoint)
            console.print(
                f"{learning}, {trainer.updates:,} updates, on {work.device}", highlight=False
            )
            for told in work.notices():
                console.print(f"note: {told}", highlight=False)
            log = past_log(checkpoint)
            if not work.keep_best().has_stopped(log):
                trainer.train(None if checkpoint is None else str(checkpoint))
                log = trainer.state.log_history
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        if work.processes.count > 1:  # the others wait for this one's gradients
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


def _without_updates(work: _Work) -> list[dict[str, float]]:
    """The one epoch of a system that has learnt all it can before it."""
    found = figures(work.scores_of_dev()())
    metrics = {f"eval_{name}": value for name, value in found.items()}
    with disk_errors(work.out):
        for folder in (work.out, *(work.out / name for name in work.also_keep)):
            work.save_to(folder)(1, metrics)
    return [{"epoch": 1, **metrics}]


def _start_again(
    out: Path, wanted: OptimisationSettings, now: OptimisationSettings, console: Console
) -> None:
    """Report that memory ran out and drop what the larger batches left behind.

    Starting over makes the result that of a training with these batches from the beginning.
    """
    changes = ", ".join(f"{name}={value}" for name, value in reductions(wanted, now).items())
    console.print(f"note: out of memory; starting again with {changes}", highlight=False)
    for left in (CHECKPOINTS, LOGS):
        shutil.rmtree(out / left, ignore_errors=True)


def _trainer(
    work: _Work, progress: ShowProgress, report_to: Sequence[str], checkpoint: Path | None
) -> SystemTrainer:
    settings, optimisation = work.settings, work.optimisation
    epochs = optimisation.epochs_of(sum(work.data.rates))
    rates = work.data.epoch_rates(epochs, settings)
    batches = EpochBatches(work.data.lengths, optimisation, settings.seed, epochs, rates)
    ema = None
    if optimisation.ema_decay is not None:
        ema = ExponentialMovingAverage(work.system.network, optimisation.ema_decay, checkpoint)
    also_keep = [
        KeepBest(select_by=name, patience=None, save=work.save_to(work.out / name))
        for name in work.also_keep
    ]
    schedule = settings.triplets.schedule
    scheduled = [] if schedule == "constant" else [TripletSchedule(schedule)]
    return SystemTrainer(
        work.system,
        training_arguments(
            work.out,
            optimisation,
            seed=settings.seed,
            epochs=epochs,
            updates=len(batches) * epochs,
            device=work.device,
            report_to=report_to,
        ),
        data=work.data,
        batches=batches,
        collator=Collator(work.system, work.data.examples, batches, optimisation, work.processes),
        settings=optimisation,
        score_dev=work.scores_of_dev(),
        callbacks=[
            ScoreEvery(optimisation.dev_every),
            *also_keep,
            work.keep_best(),
            *scheduled,
            progress,
        ],
        logs=work.out / LOGS,
        ema=ema,
        adversarial=work.adversarial,
        processes=work.processes,
    )
