"""`trigner annotate`."""

from __future__ import annotations

import hashlib
import json as json_format
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from trigner.cli.options import BatchSize, Json, ModelOrBundled, Threshold, thresholds
from trigner.cli.output import comma_list, counting, note, note_interrupted, print_json, results
from trigner.errors import InputError, TrignerError, require_extra
from trigner.machine import available_cpus, counted
from trigner.models import BUNDLED
from trigner.rendering import say

if TYPE_CHECKING:
    from trigner.pipeline.bulk import Annotator, InputFiles, Workers

MOST_CHARACTERS = 10_000_000
PART_ROWS = 10_000
MOST_NAMED = 10_000
"""Sources of a job of which each is known by its own name, so that messages can name it."""


def annotate(
    inputs: Annotated[
        list[str],
        typer.Argument(
            metavar="INPUT...",
            help="Parquet, JSON lines (.jsonl), CSV (these two also .gz, .zst) or .txt: files,"
            " folders, globs, or URLs of any file system that fsspec or pyarrow opens.",
        ),
    ],
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="New folder, or the folder of a job to continue.")
    ],
    model: ModelOrBundled = BUNDLED,
    text: Annotated[
        str, typer.Option("--text", metavar="COLUMN", help="Column with the texts.")
    ] = "text",
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column with the ids, kept first; default: id, if there is one.",
        ),
    ] = None,
    keep: Annotated[
        str | None, typer.Option("--keep", metavar="A,B", help="Other columns to keep.")
    ] = None,
    format: Annotated[
        Literal["parquet", "jsonl"], typer.Option("--format", help="Format of the files in OUT.")
    ] = "parquet",
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=0,
            metavar="N",
            help="Processes that annotate, each with a model and one thread; 0: this process alone."
            " Default: one per CPU core of this machine, or of the cluster with --address; 0 if"
            " Ray is not installed.",
        ),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option("--address", metavar="HOST:PORT", help="A running Ray cluster, or auto."),
    ] = None,
    gpu: Annotated[bool, typer.Option("--gpu", help="Give each worker its own GPU.")] = False,
    threshold: Threshold = "0",
    batch_size: BatchSize = 32,
    max_characters: Annotated[
        int,
        typer.Option(
            "--max-characters", min=1, metavar="N", help="A row with a longer text is an error."
        ),
    ] = MOST_CHARACTERS,
    part_rows: Annotated[
        int,
        typer.Option(
            "--part-rows", min=1, metavar="N", help="Maximum number of rows in a file of OUT."
        ),
    ] = PART_ROWS,
    json: Json = False,
) -> None:
    """Find entities in tables of any size, with many processes or a cluster.

    Each input row becomes a row of OUT, with the columns that are kept, `entities`, `error` (why
    the row has no entities, else null), and `file` and `row`, which say where it comes from. A row
    that fails never ends the job; files that cannot be read are reported at the end.

    After any interruption the same command continues: finished rows are not annotated again, and no
    row is lost or duplicated. _SUCCESS in OUT says that the output is complete.

    A job keeps its inputs and options: OUT is refused with any others. Only --workers, --address,
    --part-rows and --json may change.

    Examples:

      trigner annotate posts.parquet found/ --keep author,date

      trigner annotate 'posts/*.jsonl.gz' found/ --text body --workers 8

      trigner annotate s3://bucket/notes/ found/ --model model --address 10.0.0.1:6379
    """
    require_extra("scale", "pyarrow", "fsspec")
    if url := re.match(r"(\w\w+):/+", str(out)):  # a path has no two slashes
        shown = f"{url[1]}://{str(out)[url.end() :]}"
        raise InputError(f"{shown}: OUT must be a folder on this machine")
    if workers is None and address is None and find_spec("ray") is None:
        note(["Ray is not installed: this process annotates alone (pip install 'trigner[scale]')"])
        workers = 0
    if address is not None and workers == 0:
        raise InputError("--address needs workers on the cluster: omit --workers 0")
    summary = _annotated(
        inputs,
        out,
        columns={"text": text, "id": id, "keep": comma_list(keep) or ()},
        settings={
            **{"--model": model, "--threshold": threshold, "--gpu": gpu},
            **{"--batch-size": batch_size, "--max-characters": max_characters},
        },
        format=format,
        part_rows=part_rows,
        workers=workers,
        address=address,
    )
    _show_summary(summary, out, json=json)
    if not summary["complete"]:
        number = counted(len(summary["unreadable"]), "file")
        raise TrignerError(
            f"{number} could not be read to the end; all other rows are in {out}. Run the same"
            " command to try again; annotate a changed file into another folder"
        )


def _annotated(
    inputs: list[str],
    out: Path,
    *,
    columns: dict[str, Any],
    settings: dict[str, Any],
    format: str,
    part_rows: int,
    workers: int | None,
    address: str | None,
) -> dict[str, Any]:
    """Run the job, or go on with it; its summary."""
    from trigner.pipeline.bulk import Job, begun, chosen_columns, find_sources, holds_bytes, look_at

    annotator = _annotator(settings, in_process=workers == 0)
    note_interrupted(annotator.folder)
    sources, notices = find_sources(inputs, out=out)
    most_characters = settings["--max-characters"]
    shapes = look_at(sources, most_characters=most_characters)
    readable = [
        (own, shape)
        for own, shape in zip(sources, shapes, strict=True)
        if not isinstance(shape, InputError)
    ]
    # Where others can be read, what cannot is reported once, at the end.
    for error in (shape for shape in shapes if isinstance(shape, InputError) and not readable):
        raise error
    notices += [f"{own.name}: has no rows" for own, shape in readable if shape.rows == 0]
    note(notices)
    chosen = chosen_columns(readable, **columns)
    if format == "jsonl":
        for kept in chosen.kept:
            if not holds_bytes(kept.type):
                continue
            what = f"{kept.name}: JSON lines cannot hold {kept.type}"
            if columns["id"] == kept.name:
                raise InputError(f"--id {what}")
            if kept.name in columns["keep"]:
                raise InputError(f"--keep {what}")
            note([f"the column is not kept: {what}"])
            others = tuple(own for own in chosen.kept if own.name != kept.name)
            chosen = replace(chosen, kept=others)
    made_with = {
        **settings,
        **{"--model": annotator.fingerprint, "--format": format},
        "--threshold": [annotator.threshold, *annotator.thresholds],
        "columns": [chosen.text, *(f"{kept.name}: {kept.type}" for kept in chosen.kept)],
        "input": _identities(sources),
    }
    with begun(out, made_with, format=format) as output:
        if output.summary is not None:
            note([f"{out}: is already complete"])
            return output.summary
        if output.counts.rows:
            note([f"{counted(output.counts.rows, 'row')} were already done"])
        job = Job(
            *(sources, shapes, chosen, output),
            fingerprint=annotator.fingerprint,
            part_rows=part_rows,
            most_characters=most_characters,
        )
        chosen_workers = _workers(annotator, workers, address, gpu=settings["--gpu"])
        with chosen_workers as those, counting("annotating") as show:
            return job.run(
                those,
                lambda progress: show(
                    progress.done,
                    progress.total if progress.is_exact else None,
                    progress.detail(),
                ),
            )


def _identities(sources: Sequence[InputFiles]) -> list[list[str]] | str:
    """What the input is known by: each source's name with a hash, or one hash of very many."""
    if len(sources) > MOST_NAMED:
        return _hash([source.identity() for source in sources])
    return [[source.name, _hash(source.identity())] for source in sources]


def _hash(value: Any) -> str:
    return hashlib.sha256(json_format.dumps(value).encode()).hexdigest()


def _annotator(settings: dict[str, Any], *, in_process: bool) -> Annotator:
    from trigner.pipeline.bulk import annotator

    of_all, of_types = thresholds(settings["--threshold"])
    return annotator(
        settings["--model"],
        threshold=of_all,
        thresholds=of_types,
        device="cuda" if settings["--gpu"] else "auto",
        threads=None if in_process else 1,
        batch_size=settings["--batch-size"],
        most_characters=settings["--max-characters"],
    )


@contextmanager
def _workers(
    annotator: Annotator, number: int | None, address: str | None, *, gpu: bool
) -> Iterator[Workers]:
    from trigner.pipeline.bulk import Actors, InProcess, ray_session

    if number == 0:
        annotator.extractor  # noqa: B018  # what cannot be loaded is reported now
        yield InProcess(annotator)
        return
    session = ray_session(address=address, workers=number or available_cpus(), gpu=gpu)
    # Ray tells on standard output that a machine has gone: that is for results.
    with redirect_stdout(sys.stderr), session as cpus:
        yield Actors(
            annotator, number or max(1, cpus), gpu=gpu, report=lambda message: note([message])
        )


def _show_summary(summary: dict[str, Any], out: Path, *, json: bool) -> None:
    note(f"{name}: {why}" for name, why in summary["unreadable"].items())
    if json:
        print_json(summary)
        return
    counts = [
        counted(summary["rows"], "row"),
        counted(summary["entities"], "entity", "entities"),
        counted(summary["errors"], "error"),
        f"{counted(summary['truncated'], 'word')} truncated",
        f"{counted(summary['bounded'], 'sentence')} bounded",
    ]
    if summary["unreadable"]:
        counts.append(f"{counted(len(summary['unreadable']), 'file')} unreadable")
        missing = summary["missing_rows"]
        counts.append(
            "unknown number of rows missing"
            if missing is None
            else f"{counted(missing, 'row')} missing"
        )
    line = f"{out}: {', '.join(counts)}".encode("utf-8", "backslashreplace").decode()
    say(results(), line)
