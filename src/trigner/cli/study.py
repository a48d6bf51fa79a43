"""`trigner study run|status|report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from trigner.cli.options import Device, From, Json, ReportTo, SkipBad
from trigner.cli.output import comma_list, errors, note, print_json, results
from trigner.errors import InputError, require_extra

if TYPE_CHECKING:
    from trigner.studies import Setup

study = typer.Typer(
    name="study",
    help="Compare systems by declared grids of runs, with several seeds and tests of significance.",
    no_args_is_help=True,
    epilog="Studies that come with trigner: overall, control, best, beyond, systems, selection,"
    " source, pairing, window, margin, learning-rate, encoders, adaptation, pair-map, triplets,"
    " search, paper-cadec, paper-share13, paper-share14. Or name a file of your own.",
)

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="A study that comes with trigner, or a YAML file.")
]
Data = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="[NAME=]DIR",
        help="A corpus with the parts train, dev and test; several times for several. Results call"
        " it NAME, else as the study or the folder does.",
    ),
]
Out = Annotated[
    Path, typer.Option("--out", help="Folder for runs at work and, with no --results, results.")
]
Results = Annotated[
    Path | None, typer.Option("--results", help="Folder for finished runs, such as a repository's.")
]
EncoderOption = Annotated[
    str | None,
    typer.Option("--encoder", help="Encoder of all runs, in place of the declared one."),
]
ProtocolOption = Annotated[
    str | None,
    typer.Option(
        "--protocol", help="full; cpu or dense: fewer documents and epochs, only to compare."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="One setting of all runs, over the declared."),
]
Seeds = Annotated[
    str | None, typer.Option("--seeds", metavar="1,2", help="In place of the declared seeds.")
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="SYSTEM", help="One of the systems; several times for several."),
]


@study.command()
def run(
    name: Name,
    data: Data = None,
    out: Out = Path("runs/studies"),
    results_: Results = None,
    encoder: EncoderOption = None,
    protocol: ProtocolOption = None,
    set_: Set = None,
    seeds: Seeds = None,
    only: Only = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Runs at a time; one a GPU, else one, if not given."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Threads of each run on a CPU.")
    ] = None,
    device: Device = "auto",
    keep_models: Annotated[
        bool, typer.Option("--keep-models", help="Keep the models of finished runs in --out.")
    ] = False,
    report_to: ReportTo = None,
    from_: From = None,
    skip_bad: SkipBad = False,
) -> None:
    """Make the runs of a study that are not there yet.

    What is finished is never made again, what was interrupted goes on. The same command may run
    several times at once: each takes runs that no other is at. Follow the runs with
    `tensorboard --logdir runs/studies`.

    Example:  trigner study run window --data spl-adr --protocol cpu --jobs 2
    """
    from_line = (out, results_, encoder, protocol, set_, seeds, only, from_, skip_bad)
    setup = _setup(name, data, *from_line)
    from trigner.studies import Options, conduct, room

    options = Options(device, keep_models, tuple(comma_list(report_to) or ()))
    space = room(jobs=jobs, threads=threads, device=device)
    conduct(setup, options, space, errors(), lambda message: note([message]))


@study.command()
def status(
    name: Name,
    data: Data = None,
    out: Out = Path("runs/studies"),
    results_: Results = None,
    encoder: EncoderOption = None,
    protocol: ProtocolOption = None,
    set_: Set = None,
    seeds: Seeds = None,
    only: Only = None,
    json: Json = False,
    from_: From = None,
    skip_bad: SkipBad = False,
) -> None:
    """Show which runs of a study are done, begun or to do, with their dev F1.

    Without --data on all corpora that there are results on.
    """
    from_line = (out, results_, encoder, protocol, set_, seeds, only, from_, skip_bad)
    setup = _setup(name, data, *from_line)
    from trigner.studies import stand

    standings = stand(setup, lambda message: note([message]))
    if json:
        told = [
            {
                "corpus": corpus,
                "system": each.run.system,
                "seed": each.run.seed,
                "state": each.state,
                "dev_f1": None if each.result is None else _dev_f1(each.result),
            }
            for corpus, runs in standings.items()
            for each in runs
        ]
        print_json({"study": setup.study.name, "protocol": setup.protocol.name, "runs": told})
        return
    for corpus, runs in standings.items():
        done = sum(each.state == "done" for each in runs)
        table = Table(title=f"{setup.study.title}: {corpus}, {done} of {len(runs)} runs done")
        for column in ("system", "seed", "state", "dev F1"):
            table.add_column(column, justify="left" if column in ("system", "state") else "right")
        for each in runs:
            f1 = "" if each.result is None else f"{100 * _dev_f1(each.result):.2f}"
            table.add_row(each.run.system, str(each.run.seed), each.state, f1)
        results().print(table)
    if not standings:
        results().print(f"{setup.study.title}: no runs yet", highlight=False)


@study.command()
def report(
    name: Name,
    data: Data = None,
    out: Out = Path("runs/studies"),
    results_: Results = None,
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder for the report, else one in --out.")
    ] = None,
    cases: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--cases",
            metavar="A B",
            help="Two systems to show sentence by sentence (needs --data).",
        ),
    ] = None,
    texts: Annotated[
        bool,
        typer.Option(
            "--texts/--no-texts",
            help="Whether pages may show sentences of the corpus; without, the report can be given"
            " to anybody.",
        ),
    ] = True,
    prompted: Annotated[
        list[Path] | None,
        typer.Option(
            "--prompted",
            metavar="DIR",
            help="What `trigner prompt` left in its --out, scored beside the systems on the same"
            " sentences (needs --data); often.",
        ),
    ] = None,
    encoder: EncoderOption = None,
    protocol: ProtocolOption = None,
    set_: Set = None,
    seeds: Seeds = None,
    only: Only = None,
    from_: From = None,
    skip_bad: SkipBad = False,
) -> None:
    """Write the report of a study: Markdown, one HTML page and CSV.

    With --data also the statistics of the corpus, and a page that shows where two systems differ.
    It may be written while runs are missing: it says so.
    """
    from_line = (out, results_, encoder, protocol, set_, seeds, only, from_, skip_bad)
    setup = _setup(name, data, *from_line)
    from trigner.studies import report as write_report

    folder = to or out / "reports" / f"{setup.study.name}-{setup.protocol.name}"
    paths = write_report(
        setup,
        folder,
        lambda message: note([message]),
        cases=cases,
        texts=texts,
        prompted=prompted or (),
    )
    for path in paths:
        results().print(str(path), markup=False, highlight=False, soft_wrap=True)


def _setup(
    name: str,
    data: list[str] | None,
    out: Path,
    results_folder: Path | None,
    encoder: str | None,
    protocol_name: str | None,
    assignments: list[str] | None,
    seeds: str | None,
    only: list[str] | None,
    format: str | None,
    skip_bad: bool,
) -> Setup:
    require_extra("study", "torch", "transformers", "filelock", "optuna", "matplotlib")
    from trigner.studies import Changes, Folders, Setup, find_study, placed, protocol

    declared = find_study(name)
    return Setup(
        study=declared,
        protocol=protocol(protocol_name or declared.protocol),
        places=tuple(placed(option, declared.corpus) for option in data or ()),
        changes=Changes(
            encoder,
            tuple(assignments or ()),
            _numbers(seeds),
            None if only is None else tuple(only),
        ),
        folders=Folders(out / "work", results_folder or out / "results"),
        format=format,
        skip_bad=skip_bad,
    )


def _numbers(seeds: str | None) -> tuple[int, ...] | None:
    try:
        numbers = None if seeds is None else tuple(int(seed) for seed in comma_list(seeds) or ())
    except ValueError as error:
        raise InputError(f"--seeds takes whole numbers, such as 1,2; got {seeds!r}") from error
    if numbers is not None and (not numbers or min(numbers) < 0):
        raise InputError(f"--seeds takes whole numbers from 0 on, such as 1,2; got {seeds!r}")
    return numbers


def _dev_f1(result: object) -> float:
    from trigner.studies.results import Result

    assert isinstance(result, Result)
    return result.chosen["overall"].score("dev", "overall").f1
