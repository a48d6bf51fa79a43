"""The whole of a training: documents and settings in, a model folder out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from rich.console import Console

from trigner.errors import InputError
from trigner.evaluation import Scores, data_hash, score, sign
from trigner.inference import calibrate, choose_device, extractor
from trigner.mentions import Document
from trigner.model_folder import read_description
from trigner.networks import Model, create, load, save, weights_hash
from trigner.networks.pretrained import quiet
from trigner.schemes import TagSpace, decoded_tags
from trigner.training.bias_init import initialise_biases
from trigner.training.checkpoints import CHECKPOINTS, disk_errors, last_checkpoint
from trigner.training.coordination import coordinations
from trigner.training.data import EpochBatches, TrainingData, collator, prepare
from trigner.training.devices import seed_everything
from trigner.training.ema import ExponentialMovingAverage
from trigner.training.memory import check_budget, halved, is_out_of_memory, release
from trigner.training.objective import Objective
from trigner.training.progress import ShowProgress
from trigner.training.records import differences, read_record, write_record
from trigner.training.sampling import rates
from trigner.training.settings import OptimisationSettings, SelectBy, Settings
from trigner.training.task_losses import task_loss
from trigner.training.trainer import (
    FIGURES,
    LOGS,
    KeepBest,
    TaggerTrainer,
    figures,
    training_arguments,
)
from trigner.training.weighting import batch_weighting

RUN = "run.json"
"""Settings and data of a run, written before it starts: a resumption must agree with them."""


@dataclass(frozen=True)
class Kept:
    """The model of an epoch that dev chose, and its scores on dev, in full precision."""

    model: Model
    scores: Scores


@dataclass(frozen=True)
class Trained:
    """A finished training: the best epoch's model, and `also` those that other scores chose.

    `history` holds the dev scores of each epoch, as TensorBoard has them.
    """

    best: Kept
    data: TrainingData
    epochs: int
    also: Mapping[SelectBy, Kept] = field(default_factory=dict)
    history: tuple[Mapping[str, float], ...] = ()


def train(
    settings: Settings,
    documents: Sequence[Document],
    dev: Sequence[Document],
    out: Path,
    *,
    device: str = "auto",
    init_from: Path | None = None,
    resume: bool = False,
    console: Console | None = None,
    also_keep: Sequence[SelectBy] = (),
    report_to: Sequence[str] = (),
) -> Trained:
    """Train on `documents`, choose the epoch on `dev`, leave the best model in `out`.

    `also_keep` chooses epochs by other dev scores than `optimisation.select_by` as well: their
    models are left in folders of these names in `out`. When training stops is a matter of
    `select_by` alone. `report_to` are trackers of the Trainer beside TensorBoard.

    An interrupted training goes on from its last epoch with `resume`. `init_from` starts from
    another model's weights: its network and scheme must be the same (`resolve` takes them over),
    and its labels hold those of `documents`. Raises InputError for data or settings
    that cannot work, TrignerError when the disk cannot be written.
    """
    labels = tuple(sorted({e.label for d in documents for e in d.entities}))
    place = choose_device(device)
    run = {
        "settings": settings.model_dump(mode="json"),
        "train": data_hash(documents),
        "dev": data_hash(dev),
        "init_from": None if init_from is None else weights_hash(init_from),
        "also_keep": list(also_keep) or None,
    }
    # Before an encoder is loaded or fetched: what cannot be resumed is told at once.
    record = _record_to_resume(out, run) if resume else {}
    checkpoint = last_checkpoint(out / CHECKPOINTS) if resume else None
    optimisation = settings.optimisation.model_copy(update=record.get("reduced") or {})
    console = console or Console(stderr=True)
    history: list[dict[str, float]] | None = record.get("history")
    if "finished" in record and history is None:
        history = []  # of a training that did not write it down
    while history is None:
        used = settings.model_copy(update={"optimisation": optimisation})
        model, data = _begun(used, documents, labels, place, init_from)
        lengths = data.lengths(model.offset)
        check_budget(lengths, settings.optimisation)
        provenance = _provenance(used, documents, dev, data)
        if init_from is not None:
            provenance["init_from"] = {"model": str(init_from), "weights": run["init_from"]}
        write_record(out / RUN, {**run, "reduced": _changes(settings.optimisation, optimisation)})
        work = _Work(used, model, data, dev, provenance, out, place, tuple(also_keep))
        history = _epochs(work, console, checkpoint, report_to)
        if history is None:
            del model, work
            release()
            optimisation = halved(optimisation, lengths)
            _start_again(out, settings.optimisation, optimisation, console)
            checkpoint = None
    judge = _as_kept if "finished" in record else _finished
    best = judge(out, dev, place)
    also = {name: _same(out / name, best) or judge(out / name, dev, place) for name in also_keep}
    if "finished" not in record:
        _finish_run(out, history)
    epochs = int(record.get("finished", len(history)))
    return Trained(best, prepare(documents, best.model), epochs, also, tuple(history))


def _begun(
    settings: Settings,
    documents: Sequence[Document],
    labels: tuple[str, ...],
    place: torch.device,
    init_from: Path | None,
) -> tuple[Model, TrainingData]:
    """The model as it is before its first update, and what it learns from."""
    seed_everything(settings.seed, place)
    if init_from is None:
        model = create(settings.encoder, settings.scheme, labels, settings.network)
    else:
        model = _started_from(init_from, settings, labels)
    made = coordinations(documents, settings.sampling, settings.seed)
    data = prepare(documents, model, made)
    pairs = model.scheme.tag_space is not TagSpace.SEQUENCE
    if settings.optimisation.bias_init and pairs and init_from is None:
        initialise_biases(model, data.examples)
    return model, data


@dataclass(frozen=True)
class _Work:
    """A training that is about to begin."""

    settings: Settings
    model: Model
    data: TrainingData
    dev: Sequence[Document]
    provenance: Mapping[str, Any]
    out: Path
    place: torch.device
    also_keep: tuple[SelectBy, ...]


def _as_kept(folder: Path, dev: Sequence[Document], place: torch.device) -> Kept:
    model = load(folder)
    return Kept(model, score(dev, list(extractor(model, device=str(place)).documents(dev))))


def _same(folder: Path, best: Kept) -> Kept | None:
    """`best` once more, in `folder`, when what chose that model chose the same epoch."""
    told = read_description(folder)["provenance"]
    if told["dev"]["epoch"] != best.model.provenance["dev"]["epoch"]:
        return None
    if told != best.model.provenance:
        save(best.model, folder)
    return best


def _finished(folder: Path, dev: Sequence[Document], place: torch.device) -> Kept:
    """The model in `folder` with what its training could not say yet, saved as well.

    That is the temperature that fits its scores on dev, and what it reaches there in full
    precision, whatever the epochs were judged in.
    """
    kept = _as_kept(folder, dev, place)
    found = calibrate(extractor(replace(kept.model, temperature=1.0), device=str(place)), dev)
    told = kept.model.provenance
    on_dev = {**told["dev"], "scores": figures(kept.scores)}
    provenance = {**told, "dev": on_dev, "calibration": asdict(found)}
    model = replace(kept.model, temperature=found.temperature, provenance=provenance)
    save(model, folder)
    return Kept(model, kept.scores)


def _epochs(
    work: _Work, console: Console, checkpoint: Path | None, report_to: Sequence[str]
) -> list[dict[str, float]] | None:
    """Dev scores of every epoch; None when memory did not suffice."""
    progress = ShowProgress(console)
    try:
        with disk_errors(work.out), quiet():
            trainer = _trainer(work, progress, report_to, checkpoint)
            made = f" and {work.data.made:,} made of them" if work.data.made else ""
            console.print(
                f"training on {work.data.sentences:,} sentences with {work.data.mentions:,}"
                f" entities{made}, {trainer.updates:,} updates, on {work.place}",
                highlight=False,
            )
            trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return None
    finally:
        progress.close()
    return [
        {name: value for name, value in entry.items() if name.startswith("eval_")}
        for entry in trainer.state.log_history
        if "eval_f1" in entry
    ]


def _start_again(
    out: Path, wanted: OptimisationSettings, now: OptimisationSettings, console: Console
) -> None:
    """Tell that memory did not suffice and drop what the larger batches left behind.

    Starting over makes the result that of a training with these batches from the beginning.
    """
    changes = ", ".join(f"{name}={value}" for name, value in _changes(wanted, now).items())
    console.print(f"note: memory did not suffice; starting again with {changes}", highlight=False)
    for left in (CHECKPOINTS, LOGS):
        shutil.rmtree(out / left, ignore_errors=True)


def _changes(wanted: OptimisationSettings, now: OptimisationSettings) -> dict[str, Any]:
    return {
        name: value for name, value in now.model_dump().items() if value != getattr(wanted, name)
    }


def _trainer(
    work: _Work, progress: ShowProgress, report_to: Sequence[str], checkpoint: Path | None
) -> TaggerTrainer:
    settings, model, out = work.settings, work.model, work.out
    optimisation = settings.optimisation
    lengths = work.data.lengths(model.offset)
    seen = rates(work.data.examples, settings.sampling)
    batches = EpochBatches(lengths, optimisation, settings.seed, optimisation.epochs, seen)
    ema = None
    if optimisation.ema_decay is not None:
        ema = ExponentialMovingAverage(model.tagger, optimisation.ema_decay, checkpoint)
    extract = extractor(model, device=str(work.place))
    mined = settings.triplets.candidates
    weighting = batch_weighting(model, work.data.examples, optimisation, mined, batches.mean_sum)

    # An epoch is judged in the precision that it is trained in: on a CPU that takes half the time.
    mixed = optimisation.precision == "bfloat16"

    def score_dev() -> Scores:
        with torch.autocast(work.place.type, torch.bfloat16, enabled=mixed):
            return score(work.dev, list(extract.documents(work.dev)))

    def keep_in(folder: Path) -> Callable[[int, Mapping[str, float]], None]:
        def keep(epoch: int, metrics: Mapping[str, float]) -> None:
            scores = {name: metrics[f"eval_{name}"] for name in FIGURES}
            on_dev = {**work.provenance["dev"], "epoch": epoch, "scores": scores}
            save(replace(model, provenance={**work.provenance, "dev": on_dev}), folder)

        return keep

    keep_best = [
        KeepBest(select_by=name, patience=None, save=keep_in(out / name)) for name in work.also_keep
    ]
    keep_best.append(
        KeepBest(
            select_by=optimisation.select_by, patience=optimisation.patience, save=keep_in(out)
        )
    )
    return TaggerTrainer(
        Objective(
            model.tagger,
            task_loss(model.scheme, settings.task),
            settings.triplets,
            decoded_tags(model.scheme),
        ),
        training_arguments(
            out,
            optimisation,
            seed=settings.seed,
            updates=len(batches) * optimisation.epochs,
            place=work.place,
            report_to=report_to,
        ),
        data=work.data,
        batches=batches,
        collator=collator(model, mined, weighting),
        settings=optimisation,
        score_dev=score_dev,
        callbacks=[*keep_best, progress],
        logs=out / LOGS,
        ema=ema,
    )


def _started_from(folder: Path, settings: Settings, labels: tuple[str, ...]) -> Model:
    model = load(folder)
    if model.scheme.name != settings.scheme or not set(labels) <= set(model.scheme.labels):
        raise InputError(
            f"finds {', '.join(model.scheme.labels)} with {model.scheme.name}; this training has"
            f" {', '.join(labels)} with {settings.scheme}",
            path=folder,
        )
    if model.network != settings.network:
        raise InputError("was trained with other network settings than these", path=folder)
    return model


def _record_to_resume(out: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """What else the training in `out` wrote down.

    `finished` epochs and their `history` when it ended, and settings that memory `reduced`.

    Raises InputError when there is another training than `run`, or something else.
    """
    path = out / RUN
    if not path.is_file():
        raise InputError("holds no training to resume: leave --resume out", path=out)
    before = read_record(path)
    others = {name: before.pop(name, None) for name in ("finished", "history", "reduced")}
    different = sorted(differences(before, run))
    if different:
        told = f"was started with other {', '.join(different)}; resume with the same"
        if "settings.preset" in different:
            told += f", --preset {before['settings']['preset']}"
        raise InputError(told, path=path)
    return {name: value for name, value in others.items() if value is not None}


def _finish_run(out: Path, history: Sequence[Mapping[str, float]]) -> None:
    """Note that nothing is left to do, then drop what only a resumption needs."""
    finished = {"finished": len(history), "history": list(history)}
    write_record(out / RUN, {**read_record(out / RUN), **finished})
    shutil.rmtree(out / CHECKPOINTS, ignore_errors=True)


def _provenance(
    settings: Settings,
    documents: Sequence[Document],
    dev: Sequence[Document],
    data: TrainingData,
) -> dict[str, Any]:
    """What a model says about its training; the epoch and its scores join later."""
    dumped = settings.model_dump(mode="json")
    return {
        "settings": dumped,
        "train": {
            "documents": len(documents),
            "sentences": data.sentences,
            "mentions": data.mentions,
            "unusable": data.unusable,
            "made": data.made,
            "signature": str(sign(documents, settings=dumped, seed=settings.seed)),
        },
        "dev": {
            "documents": len(dev),
            "signature": str(sign(dev, settings=dumped, seed=settings.seed)),
        },
    }
