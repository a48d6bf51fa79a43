"""The application: its commands, and how errors become exit codes.

0: done; 1: failed on good input; 2: bad usage or input; 130: interrupted. Results go to
standard output, everything else to standard error.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from trigner import __version__
from trigner.cli.adapt import adapt
from trigner.cli.ceiling import ceiling
from trigner.cli.convert import convert
from trigner.cli.evaluate import evaluate
from trigner.cli.export import export
from trigner.cli.extract import extract
from trigner.cli.find_threshold import find_threshold
from trigner.cli.info import info
from trigner.cli.output import errors, visible
from trigner.cli.prompt import prompt
from trigner.cli.score import score
from trigner.cli.serve import serve
from trigner.cli.stats import stats
from trigner.cli.study import study
from trigner.cli.train import train
from trigner.errors import InputError, TrignerError

INTERRUPTED = 130

COMMANDS = (
    *(extract, train, evaluate, score, find_threshold),
    *(convert, stats, ceiling, info, adapt, export, serve, prompt),
)
"""In the order in which help lists them."""

app = typer.Typer(
    name="trigner",
    help="Named entity recognition for discontinuous entities: those with other words in between.",
    epilog="Start with:  trigner train --train FOLDER --out MODEL,"
    "  then  trigner extract TEXT --model MODEL",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in COMMANDS:
    app.command()(command)
app.add_typer(study)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trigner {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line and exit."""
    try:
        app()
    except SystemExit as stopped:
        # Typer makes this code of a KeyboardInterrupt.
        if stopped.code == INTERRUPTED:
            errors().print("interrupted")
        raise
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (TrignerError, OSError) as error:
        # OSError: a folder that cannot be searched, a disk that is full, wherever it was met.
        errors().print(
            f"error: {visible(str(error))}", markup=False, highlight=False, soft_wrap=True
        )
        sys.exit(2 if isinstance(error, InputError) else 1)
