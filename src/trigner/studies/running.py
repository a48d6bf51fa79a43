"""One run of a study: adapt the encoder if asked, train, score both epochs on test, keep it all."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
import transformers
from filelock import FileLock, Timeout
from rich.console import Console

from trigner import __version__
from trigner.errors import InputError, TrignerError
from trigner.evaluation import score, sentence_counts, sign
from trigner.inference import load
from trigner.model_folder import CONFIG, DESCRIPTION, TOKENIZER, WEIGHTS
from trigner.networks import choose_device
from trigner.studies.corpus import Corpus
from trigner.studies.grid import Run
from trigner.studies.predictions import Found, write_found
from trigner.studies.results import (
    FOUND_SUFFIX,
    Chosen,
    Result,
    find,
    read_results,
    run_name,
    write_result,
)
from trigner.training import Checkpoint, Trained, train
from trigner.training.adaptation import adapt
from trigner.training.records import RUN, read_record, write_record
from trigner.training.trainer import METRICS

RECORD = "study.json"
"""Which run a working folder belongs to, and the versions that began it."""

DISCONTINUOUS: Literal["discontinuous"] = "discontinuous"


@dataclass(frozen=True)
class Folders:
    """Where a study works and what it leaves.

    `work` holds a folder a run, with checkpoints, TensorBoard's logs and, where they are kept, the
    models; `results` what is worth keeping.
    """

    work: Path
    results: Path


@dataclass(frozen=True)
class Options:
    """How runs are made, which changes nothing of what comes out."""

    device: str = "auto"
    keep_models: bool = False
    report_to: tuple[str, ...] = ()


class BusyError(Exception):
    """Another process is at this run."""


@dataclass(frozen=True)
class Making:
    """`make` under a protocol, as work that another process can be given."""

    protocol: str

    def __call__(
        self, run: Run, corpus: Corpus, folders: Folders, options: Options, console: Console
    ) -> Result:
        return make(run, corpus, self.protocol, folders, options, console)


def make(
    run: Run, corpus: Corpus, protocol: str, folders: Folders, options: Options, console: Console
) -> Result:
    """The result of a run: made if it is not there, gone on with if it was interrupted.

    Raises BusyError when another process is at it, InputError when its working folder is of another
    version or cannot be read, TrignerError when training fails.
    """
    name = run_name(run.system, run.identity, corpus.hashes)
    folder = folders.work / corpus.name / name
    with _alone(folder):
        found = find(read_results(folders.results, corpus.name), run.identity, corpus.hashes)
        if found is not None:
            return found
        _begin(folder, run)
        started = time.perf_counter()
        resumed = (folder / RUN).is_file()
        trained = _trained(run, corpus, folder, folders, options, console, resume=resumed)
        kept = {"overall": trained.best, DISCONTINUOUS: trained.also[DISCONTINUOUS]}
        seconds = time.perf_counter() - started
        result, predictions = _scored(run, corpus, protocol, kept, trained, options.device)
        result = replace(result, seconds=round(seconds, 1), notes=_notes(run, trained, resumed))
        # The predictions first: a result that is there is whole.
        write_found(folders.results / corpus.name / str(result.found), predictions)
        result = replace(result, path=write_result(result, folders.results))
        if not options.keep_models:
            _drop_models(folder)
        return result


def dev_scores(
    run: Run, corpus: Corpus, folders: Folders, options: Options, console: Console
) -> dict[str, float]:
    """The best dev F1 of a training by what would choose the epoch; test is not looked at.

    Raises as `make` does.
    """
    folder = folders.work / corpus.name / run_name("trial", run.identity, corpus.hashes)
    with _alone(folder):
        _begin(folder, run)
        resume = (folder / RUN).is_file()
        trained = _trained(run, corpus, folder, folders, options, console, resume=resume)
        if not options.keep_models:
            _drop_models(folder)
    return {
        chosen_by: max(epoch[metric] for epoch in trained.history)
        for chosen_by, (metric, _) in METRICS.items()
    }


def _trained(
    run: Run,
    corpus: Corpus,
    folder: Path,
    folders: Folders,
    options: Options,
    console: Console,
    *,
    resume: bool,
) -> Trained:
    settings = run.settings
    if run.adaptation is not None:
        encoder = _adapted(run, corpus, folders, options, console)
        settings = settings.model_copy(update={"encoder": str(encoder)})
    with _gone_on_with(folder, resume):
        return train(
            settings,
            corpus.train,
            corpus.dev,
            folder,
            device=options.device,
            resume=resume,
            console=console,
            also_keep=[DISCONTINUOUS],
            report_to=options.report_to,
        )


@contextmanager
def _gone_on_with(folder: Path, resume: bool) -> Iterator[None]:
    """What fails while something is resumed for no reason of ours is its checkpoint's fault."""
    try:
        yield
    except TrignerError:
        raise
    except Exception as error:
        if not resume:
            raise
        reason = next(iter(str(error).splitlines()), "")
        message = (
            f"its checkpoint cannot be gone on with ({type(error).__name__}: {reason}):"
            " delete this folder, and it begins again"
        )
        raise InputError(message, path=folder) from error


def _adapted(
    run: Run, corpus: Corpus, folders: Folders, options: Options, console: Console
) -> Path:
    """The encoder adapted to the training text, by the first run that needs it."""
    wanted = {"encoder": run.identity["encoder"], "adaptation": run.identity["adaptation"]}
    name = run_name("encoder", {**wanted, "seed": run.adaptation.seed}, corpus.hashes)  # type: ignore[union-attr]
    out = folders.work / corpus.name / name
    out.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{out}.lock"):
        resume = out.exists()
        record = out.with_name(f"{out.name}.json")  # what is not the adaptation's own it refuses
        if not resume:
            record.unlink(missing_ok=True)
        if not (out / CONFIG).is_file():
            _note_versions(record, out, wanted)
        with _gone_on_with(out, resume):
            adapt(
                [document.text for document in corpus.train],
                encoder=run.settings.encoder,
                out=out,
                dev_texts=[document.text for document in corpus.dev],
                settings=run.adaptation,
                resume=resume,
                device=options.device,
                tell=lambda told: console.print(f"note: {told}", markup=False, highlight=False),
            )
    return out


def _scored(
    run: Run,
    corpus: Corpus,
    protocol: str,
    kept: Mapping[str, Checkpoint],
    trained: Trained,
    device: str,
) -> tuple[Result, dict[str, Found]]:
    signature = str(sign(corpus.test, settings=run.identity, seed=run.seed))
    chosen: dict[str, Chosen] = {}
    predictions: dict[str, Found] = {}
    for name, own in kept.items():
        epoch = int(own.epoch or 0)
        if chosen and epoch == chosen["overall"].epoch:
            chosen[name], predictions[name] = chosen["overall"], predictions["overall"]
            continue
        found = list(load(own.folder, device=device).documents(corpus.test))
        on_test = score(corpus.test, found, signature=signature)
        chosen[name] = Chosen(epoch, own.scores.as_json(), on_test.as_json())
        counts = sentence_counts(corpus.test, found)
        predictions[name] = Found(counts, tuple(found))
    made = Result(
        system=run.system,
        corpus=corpus.name,
        protocol=protocol,
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
        seconds=0.0,
        device=_device_name(device),
        signature=signature,
        chosen=chosen,
        curve=trained.history,
    )
    return replace(made, found=f"{made.stem}{FOUND_SUFFIX}"), predictions


def _device_name(name: str) -> str:
    device = choose_device(name)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _begin(folder: Path, run: Run) -> None:
    """Note what a new working folder is for; refuse to go on with one of other versions."""
    path = folder / RECORD
    if (folder / RUN).is_file() and not path.is_file():
        raise InputError("holds a training that is not of a study: move it away", path=folder)
    folder.mkdir(parents=True, exist_ok=True)
    _note_versions(path, folder, {"system": run.system, "settings": run.identity})


def _note_versions(path: Path, folder: Path, what: Mapping[str, Any]) -> None:
    """Write down what begins in a folder, or refuse what other versions have begun there.

    A training is only repeatable when it ends with what it began with.
    """
    versions = {
        "trigner": __version__,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }
    if not path.is_file():
        write_record(path, {"versions": versions, **what})
        return
    before = begun(path).get("versions")
    if before != versions:
        told = ", ".join(f"{name} {v}" for name, v in dict(before or {}).items())
        raise InputError(
            f"was begun with other versions ({told or 'unknown'}): go on with those, or delete"
            " the folder, and it begins again",
            path=folder,
        )


def begun(path: Path) -> dict[str, Any]:
    """What a record says of its working folder. Raises InputError when it is damaged."""
    try:
        return read_record(path)
    except InputError as error:
        message = f"{error.message}; delete the folder, and the run begins again"
        raise InputError(message, path=path) from error


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Be the only process at a run, for as long as this one lives. Raises BusyError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(f"{folder}.lock", timeout=0):
            yield
    except Timeout as error:
        raise BusyError(folder.name) from error


def _notes(run: Run, trained: Trained, resumed: bool) -> tuple[str, ...]:
    notes = []
    if resumed:
        notes.append("interrupted: the seconds are those after the last resumption")
    used = trained.best.description.provenance.settings["optimisation"]
    wanted = run.settings.optimisation.model_dump(mode="json")
    if smaller := {name: used[name] for name in wanted if used[name] != wanted[name]}:
        told = ", ".join(f"{name}={value}" for name, value in smaller.items())
        notes.append(f"memory did not suffice: trained with {told}")
    return tuple(notes)


def _drop_models(folder: Path) -> None:
    """Take the weights away, and the note that they are there; TensorBoard's logs stay."""
    for name in (RUN, WEIGHTS, CONFIG, TOKENIZER, DESCRIPTION, RECORD):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / DISCONTINUOUS, ignore_errors=True)
