"""One run of a study: adapt the encoder if asked, train, score both epochs on test, save it all."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, cast

import torch
import transformers
from filelock import FileLock
from rich.console import Console

from trigner import __version__
from trigner.encoders import choose_device
from trigner.errors import InputError, TrignerError, first_line
from trigner.evaluation import score, sentence_counts, sign
from trigner.lab.studies.context import StudyContext, log
from trigner.lab.studies.corpus import CorpusSplits
from trigner.lab.studies.grid import TrainingRun
from trigner.lab.studies.predictions import SavedPredictions, predictions_text
from trigner.lab.studies.results import (
    Chosen,
    Result,
    find,
    read_results,
    run_name,
    write_result,
)
from trigner.machine import locked
from trigner.models import read_description
from trigner.pipeline import load
from trigner.training import (
    CHECKPOINTS,
    METRICS,
    RUN,
    AdaptationSettings,
    Trained,
    adapt,
    read_record,
    train,
    write_record,
)

RECORD = "study.json"
"""Names the run that a working folder belongs to, and the versions that started it."""

DISCONTINUOUS: Literal["discontinuous"] = "discontinuous"


def run_job(
    run: TrainingRun, corpus: CorpusSplits, context: StudyContext, console: Console
) -> Result:
    """The result of a run: trained if there is none yet, resumed if it was interrupted.

    Raises LockedError when another process is training it, InputError when its working folder
    cannot be read or belongs to other versions, TrignerError when training fails.
    """
    name = run_name(run.system, run.identity, corpus.hashes)
    folder = context.work / corpus.name / name
    with locked(Path(f"{folder}.lock")):
        found = find(read_results(context.results, corpus.name), run.identity, corpus.hashes)
        if found is not None:
            return found
        started = time.perf_counter()
        trained, resumed = _trained(run, corpus, folder, context, console)
        seconds = round(time.perf_counter() - started, 1)
        signature = sign(corpus.test, settings=run.identity, seed=run.seed)
        chosen, predictions = _scored(trained, corpus, context, signature)
        result = Result(
            name=name,
            system=run.system,
            corpus=corpus.name,
            protocol=context.protocol.name,
            seed=run.seed,
            settings=run.identity,
            data=corpus.hashes,
            train={
                "documents": len(corpus.train),
                "sentences": trained.data.sentences or 0,
                "mentions": trained.data.mentions or 0,
            },
            parameters=trained.best.description.provenance.parameters or 0,
            epochs=trained.epochs,
            seconds=seconds,
            device=_device_name(context.device),
            signature=signature,
            chosen=chosen,
            curve=trained.history,
            notes=_notes(run, trained, resumed),
            found=predictions_text(predictions),
        )
        result = write_result(result, context.results)
        if not context.keep_models:
            _drop_models(folder)
        return result


def trial_job(
    run: TrainingRun, corpus: CorpusSplits, context: StudyContext, console: Console
) -> dict[str, float]:
    """The best dev F1 of a training, by what would choose the epoch; test is never scored.

    Raises as `run_job` does.
    """
    folder = context.work / corpus.name / run_name("trial", run.identity, corpus.hashes)
    with locked(Path(f"{folder}.lock")):
        trained, _ = _trained(run, corpus, folder, context, console)
        if not context.keep_models:
            _drop_models(folder)
    return {
        chosen_by: max(epoch[metric] for epoch in trained.history)
        for chosen_by, (metric, _) in METRICS.items()
    }


def _trained(
    run: TrainingRun, corpus: CorpusSplits, folder: Path, context: StudyContext, console: Console
) -> tuple[Trained, bool]:
    """The training in a working folder, and whether it was resumed."""
    _begin(folder, run)
    resume = (folder / RUN).is_file()
    settings = run.settings
    if run.adaptation is not None:
        encoder = _adapted(run, corpus, context, console)
        settings = settings.model_copy(update={"encoder": str(encoder)})
    with _resuming(folder, resume):
        trained = train(
            settings,
            corpus.train,
            corpus.dev,
            folder,
            device=context.device,
            resume=resume,
            init_from=run.init_from,
            console=console,
            also_keep=[DISCONTINUOUS],
            report_to=context.report_to,
        )
    return trained, resume


@contextmanager
def _resuming(folder: Path, resume: bool) -> Iterator[None]:
    """Blame the checkpoint for any unforeseen error of a resumed training."""
    try:
        yield
    except Exception as error:
        ours = isinstance(error, TrignerError)
        where = error.path if isinstance(error, InputError) else None
        damaged = where is not None and where.is_relative_to(folder / CHECKPOINTS)
        if not resume or (ours and not damaged):
            raise
        reason = first_line(error)
        named = reason if ours else f"{type(error).__name__}: {reason}"
        message = f"cannot resume from its checkpoint ({named}): delete this folder to start again"
        raise InputError(message, path=folder) from error


def _adapted(
    run: TrainingRun, corpus: CorpusSplits, context: StudyContext, console: Console
) -> Path:
    """The encoder adapted to the training text, by the first run that needs it."""
    adaptation = cast(AdaptationSettings, run.adaptation)
    wanted = {"encoder": run.identity["encoder"], "adaptation": adaptation.model_dump(mode="json")}
    name = run_name("encoder", {**wanted, "seed": adaptation.seed}, corpus.hashes)
    out = context.work / corpus.name / name
    out.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{out}.lock"):
        resume = out.exists()
        record = out.with_name(f"{out.name}.json")  # what is not the adaptation's own it refuses
        if not resume:
            record.unlink(missing_ok=True)
        if not (out / "config.json").is_file():  # written last
            _note_versions(record, out, wanted)
        with _resuming(out, resume):
            adapt(
                [document.text for document in corpus.train],
                encoder=str(run.settings.encoder),
                out=out,
                dev_texts=[document.text for document in corpus.dev],
                settings=run.adaptation,
                resume=resume,
                device=context.device,
                report=lambda message: log(console, message),
            )
    return out


def _scored(
    trained: Trained, corpus: CorpusSplits, context: StudyContext, signature: str
) -> tuple[dict[str, Chosen], dict[str, SavedPredictions]]:
    """Scores and predictions of both models of a training, by what chose them."""
    chosen: dict[str, Chosen] = {}
    predictions: dict[str, SavedPredictions] = {}
    models = {"overall": trained.best, DISCONTINUOUS: trained.also[DISCONTINUOUS]}
    for name, model in models.items():
        epoch = int(model.epoch or 0)
        if chosen and epoch == chosen["overall"].epoch:
            chosen[name], predictions[name] = chosen["overall"], predictions["overall"]
            continue
        found = list(load(model.folder, device=context.device).documents(corpus.test))
        on_test = score(corpus.test, found, signature=signature)
        chosen[name] = Chosen(epoch, model.scores.as_json(), on_test.as_json())
        predictions[name] = SavedPredictions(sentence_counts(corpus.test, found), tuple(found))
    return chosen, predictions


def _device_name(name: str) -> str:
    device = choose_device(name)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _begin(folder: Path, run: TrainingRun) -> None:
    """Record what a new working folder is for; refuse to resume one of other versions."""
    path = folder / RECORD
    if (folder / RUN).is_file() and not path.is_file():
        raise InputError("holds a training that belongs to no study: move it away", path=folder)
    folder.mkdir(parents=True, exist_ok=True)
    _note_versions(path, folder, {"system": run.system, "settings": run.identity})


def _note_versions(path: Path, folder: Path, what: Mapping[str, Any]) -> None:
    """Record the versions that start a folder, or refuse one that other versions have started.

    A training is only repeatable when the same versions do all of it.
    """
    versions = {
        "trigner": __version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    if not path.is_file():
        write_record(path, {"versions": versions, **what})
        return
    before = read_run_record(path).get("versions")
    if before != versions:
        named = ", ".join(f"{name} {v}" for name, v in dict(before or {}).items())
        raise InputError(
            f"was started with different versions ({named or 'unknown'}): install those, or delete"
            " the folder to start again",
            path=folder,
        )


def read_run_record(path: Path) -> dict[str, Any]:
    """The record of a working folder. Raises InputError when it is damaged."""
    try:
        return read_record(path)
    except InputError as error:
        message = f"{error.message}; delete the folder to start the run again"
        raise InputError(message, path=path) from error


def _notes(run: TrainingRun, trained: Trained, resumed: bool) -> tuple[str, ...]:
    notes = []
    if resumed:
        notes.append("interrupted: the seconds count from the last resumption")
    wanted = run.settings.as_json().get("optimisation", {})
    used = trained.best.description.provenance.settings.get("optimisation", {})
    if smaller := {name: used[name] for name in wanted if used[name] != wanted[name]}:
        changed = ", ".join(f"{name}={value}" for name, value in smaller.items())
        notes.append(f"out of memory: trained with {changed}")
    return tuple(notes)


def _drop_models(folder: Path) -> None:
    """Delete the weights and the record of them; TensorBoard's logs stay."""
    for name in (*read_description(folder).all_files, RUN, RECORD):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / DISCONTINUOUS, ignore_errors=True)
