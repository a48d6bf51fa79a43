"""`trigner study list|run|status|report`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from trigner.cli import (
    Device,
    Encoder,
    Encoding,
    From,
    Json,
    Missing,
    ReportTo,
    Set,
    SkipBad,
    Types,
    comma_list,
    errors,
    print_json,
    results,
    tables,
    with_single_options,
)
from trigner.encoders import check_encoder
from trigner.errors import InputError, require_extra
from trigner.machine import duration
from trigner.rendering import say

if TYPE_CHECKING:
    from trigner.lab.studies import Result, StudyContext

study = typer.Typer(
    name="study",
    add_completion=False,
    help="Compare systems: declared grids of runs, several seeds, significance tests, one report.",
    no_args_is_help=True,
    epilog="`trigner study list` shows the studies that come with trigner: overall, control, best,"
    " additions, beyond, systems, selection, source, pairing, window, margin,"
    " learning-rate, encoders, adaptation, pair-map, triplets, rates, search, search-w2ner,"
    " search-control, search-best, paper-cadec, paper-share13, paper-share14. Or give a YAML file"
    " of your own.",
)


@dataclass(frozen=True, kw_only=True)
class Common:
    """The options that all commands but `list` have."""

    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="A study that comes with trigner, or a YAML file."),
    ]
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="[NAME=]DIR",
            help="A corpus with the parts train, dev and test; repeat for several. NAME is its name"
            " in results, by default that of the study's corpus or of the folder.",
        ),
    ] = None
    out: Annotated[
        Path, typer.Option("--out", help="Folder for unfinished runs and, by default, results.")
    ] = Path("runs/studies")
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Folder for the results of finished runs."),
    ] = None
    encoder: Encoder = None
    preset: Annotated[
        str | None,
        typer.Option(
            "--preset",
            help="Preset for a study that declares none, such as paper-cadec; default: clean."
            " Systems with their own preset keep it.",
        ),
    ] = None
    protocol: Annotated[
        str | None,
        typer.Option(
            "--protocol",
            help="full, or cpu or dense: fewer documents and epochs, only to compare systems.",
        ),
    ] = None
    set_: Set = None
    seeds: Annotated[
        str | None,
        typer.Option("--seeds", metavar="1,2", help="Seeds to use instead of the declared ones."),
    ] = None
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="SYSTEM", help="Only this system; repeat for several."),
    ] = None

    types: Types = None
    from_: From = None
    skip_bad: SkipBad = False
    encoding: Encoding = "utf-8"
    missing_annotations: Missing = "error"

    def context(self) -> StudyContext:
        """The study with these options."""
        _require_study()
        if self.encoder is not None:
            check_encoder(self.encoder)
        from trigner.lab.studies import (
            Changes,
            StudyContext,
            corpus_locations,
            find_study,
            protocol,
        )

        study = find_study(self.name)
        if types := comma_list(self.types):
            if not self.data:
                raise InputError("--types needs --data: it chooses among the corpus's entities")
            study = study.model_copy(update={"types": types})
        only = None if self.only is None else tuple(self.only)
        return StudyContext(
            study=study,
            protocol=protocol(self.protocol or study.protocol),
            work=self.out / "work",
            results=self.results or self.out / "results",
            locations=corpus_locations(self.data or (), study.corpus),
            changes=Changes(
                self.encoder, self.preset, tuple(self.set_ or ()), _numbers(self.seeds), only
            ),
            format=self.from_,
            skip_bad=self.skip_bad,
            encoding=self.encoding,
            missing_annotations=self.missing_annotations,
        )


@study.command("list")
@with_single_options
def list_(*, json: Json = False) -> None:
    """List the declared studies: what each is about, and how many runs it has.

    A run is one training: there is one for each system and seed. Trials are the trainings of a
    search, which come first.

    Example:  trigner study list
    """
    _require_study()
    from trigner.lab.studies import listed

    found = listed()
    if json:
        print_json({"studies": [each.as_json() for each in found]})
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("study", no_wrap=True)
    table.add_column("what it is about")
    for column in ("runs", "trials"):
        table.add_column(column, justify="right")
    for each in found:
        table.add_row(each.name, each.title, str(each.runs), str(each.trials or ""))
    tables().print(table)


@study.command()
@with_single_options
def run(
    common: Common,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", min=1, help="Runs at a time; by default one for each GPU, else one."
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="CPU threads of each run.")
    ] = None,
    device: Device = "auto",
    keep_models: Annotated[
        bool, typer.Option("--keep-models", help="Keep the models of finished runs in --out.")
    ] = False,
    report_to: ReportTo = None,
) -> None:
    """Do all runs of a study that have no result yet.

    Finished runs are never repeated, interrupted ones are resumed. The same command may run
    several times at once: each takes runs that no other is working on. Follow the runs with
    `tensorboard --logdir runs/studies`.

    Example:  trigner study run window --data spl-adr --protocol cpu --jobs 2
    """
    context = common.context()
    from trigner.lab.studies import parallelism, run_study

    context = replace(
        context,
        keep_models=keep_models,
        report_to=tuple(comma_list(report_to) or ()),
        parallelism=parallelism(jobs=jobs, threads=threads, device=device),
    )
    run_study(context, errors())


@study.command()
@with_single_options
def status(common: Common, json: Json = False) -> None:
    """Show which runs of a study are done, started or to do, with their dev F1 and time.

    The time for the others is estimated from finished runs. Without --data, all corpora that have
    results are shown.
    """
    context = common.context()
    from trigner.lab.studies import seconds_left, study_status

    by_corpus = study_status(context, errors())
    if json:
        listed = [
            {
                "corpus": corpus,
                "system": each.run.system,
                "seed": each.run.seed,
                "state": each.state,
                "dev_f1": None if each.result is None else _dev_f1(each.result),
                "seconds": None if each.result is None else each.result.seconds,
            }
            for corpus, statuses in by_corpus.items()
            for each in statuses
        ]
        study, protocol = context.study.name, context.protocol.name
        estimates = {corpus: seconds_left(each) for corpus, each in by_corpus.items()}
        heading = {"study": study, "protocol": protocol, "seconds_left": estimates}
        print_json({**heading, "runs": listed})
        return
    for corpus, statuses in by_corpus.items():
        done = sum(each.state == "done" for each in statuses)
        title = f"{context.study.title}: {corpus}, {done} of {len(statuses)} runs done"
        table = Table(title=title)
        for column in ("system", "seed", "state", "dev F1", "minutes"):
            table.add_column(column, justify="left" if column in ("system", "state") else "right")
        for each in statuses:
            f1 = "" if each.result is None else f"{100 * _dev_f1(each.result):.2f}"
            minutes = "" if each.result is None else f"{each.result.seconds / 60:.1f}"
            table.add_row(each.run.system, str(each.run.seed), each.state, f1, minutes)
        tables().print(table)
        if left := seconds_left(statuses):
            line = f"{len(statuses) - done} runs to do: about {duration(left)}, one at a time"
            results().print(line, highlight=False)
    if not by_corpus:
        say(results(), f"{context.study.title}: no runs yet in {context.results}")


@study.command()
@with_single_options
def report(
    common: Common,
    to: Annotated[
        Path | None,
        typer.Option("--to", help="Folder for the report; by default one inside --out."),
    ] = None,
    cases: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--cases",
            metavar="A B",
            help="Two systems to compare sentence by sentence (needs --data).",
        ),
    ] = None,
    texts: Annotated[
        bool,
        typer.Option(
            "--texts/--no-texts",
            help="Whether pages may show sentences of the corpus; without them the report can be"
            " shared freely.",
        ),
    ] = True,
    prompted: Annotated[
        list[Path] | None,
        typer.Option(
            "--prompted",
            metavar="DIR",
            help="A folder that `trigner prompt --out` wrote, to compare its language models with"
            " the systems on the same sentences (needs --data); repeatable.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write the report of a study: Markdown, one HTML page and CSV.

    With --data it includes statistics of the corpus and a page of sentences in which two systems
    differ. It can be written before all runs are done, and lists those that are missing. --json
    prints the paths of its files; the numbers are in summary.csv, runs.csv and significance.csv.
    """
    context = common.context()
    from trigner.lab.studies import write_report

    folder = to or common.out / "reports" / f"{context.study.name}-{context.protocol.name}"
    paths = write_report(
        context, folder, errors(), cases=cases, texts=texts, prompted=prompted or ()
    )
    if json:
        study, protocol = context.study.name, context.protocol.name
        files = {path.name: str(path) for path in paths}
        print_json({"study": study, "protocol": protocol, "files": files})
        return
    for path in paths:
        say(results(), str(path))


def _require_study() -> None:
    extra = ("torch", "transformers", "filelock", "optuna", "matplotlib", "pandas", "jinja2")
    require_extra("lab", *extra)


def _numbers(seeds: str | None) -> tuple[int, ...] | None:
    from trigner.systems import LARGEST_SEED

    wanted = f"--seeds takes whole numbers from 0 to {LARGEST_SEED}, such as 1,2; got {seeds!r}"
    try:
        numbers = None if seeds is None else tuple(int(seed) for seed in comma_list(seeds) or ())
    except ValueError as error:
        raise InputError(wanted) from error
    if numbers is not None and not (numbers and 0 <= min(numbers) <= max(numbers) <= LARGEST_SEED):
        raise InputError(wanted)
    if numbers is not None and len(set(numbers)) < len(numbers):
        raise InputError(f"--seeds {seeds}: duplicate seed: one run would count as several")
    return numbers


def _dev_f1(result: Result) -> float:
    return result.chosen["overall"].score("dev", "overall").f1
