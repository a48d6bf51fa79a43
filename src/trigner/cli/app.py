"""The application: its commands, and how errors become exit codes.

0: done; 1: failed on good input; 2: bad usage or input; 130: interrupted. Results go to
standard output, everything else to standard error.
"""

from __future__ import annotations

import codecs
import errno
import io
import logging
import os
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from trigner import __version__
from trigner.errors import InputError, TrignerError
from trigner.machine import sleep_while_waiting

INTERRUPTED = 130

LABORATORY = "Compare systems (extra `lab`)"
GROUPS = {
    "Find entities": {
        "extract": "Find entities in a text, in files or in standard input.",
        "annotate": "Find entities in tables of any size, with many processes or a cluster.",
        "link": "Give entities codes from your own vocabulary.",
        "serve": "Serve a model over HTTP, with a web page to try it.",
    },
    "Train and evaluate": {
        "train": "Train a model on annotated documents.",
        "evaluate": "Score a model against annotated documents.",
        "score": "Score predicted documents against gold documents.",
        "find-threshold": "Find the lowest score at which to keep entities.",
        "adapt": "Adapt an encoder to your domain by masked language modelling.",
    },
    "Look at data and models": {
        "convert": "Convert annotated documents from one format to another.",
        "stats": "Describe annotated documents: how many entities, how wide their gaps.",
        "ceiling": "Measure the best score that each system could reach on annotations.",
        "info": "Show what a model finds and how it scored on dev; --systems lists the systems.",
        "export": "Export a model to ONNX, to run without PyTorch.",
    },
    LABORATORY: {
        "study": "Compare systems: grids of runs, significance tests, one report.",
        "prompt": "Prompt a large language model for entities, and score it.",
    },
}
"""The commands with their lines in the list of commands, in the order and groups of that list."""

COMMANDS = {name: about for group in GROUPS.values() for name, about in group.items()}


def load_command(name: str) -> Any:
    """The command of this name from its module, as Typer makes it."""
    from trigner.cli.options import with_single_options  # reads corpora: not for --help

    attribute = name.replace("-", "_")
    home = "trigner.lab.commands" if name in GROUPS[LABORATORY] else "trigner.cli"
    found = getattr(import_module(f"{home}.{attribute}"), attribute)
    if isinstance(found, typer.Typer):
        return get_command(found)
    alone = typer.Typer(add_completion=False)
    alone.command(name)(with_single_options(found))
    return get_command(alone)


class Commands(TyperGroup):
    """Lists all commands, and imports the one that is called: a start pays for no other."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {
            name: TyperCommand(name, help=about, rich_help_panel=group)
            for group, commands in GROUPS.items()
            for name, about in commands.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is called."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, None if name is None else load_command(name), rest


app = typer.Typer(
    name="trigner",
    cls=Commands,
    help="Named entity recognition for discontinuous entities: those with other words in between.",
    epilog="Start with:  trigner extract TEXT"
    "  or  trigner train --train FOLDER --out MODEL  and  trigner extract TEXT --model MODEL",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


class _Notes(logging.Handler):
    """What the library logs are notes like others: the terminal obeys nothing in them."""

    def emit(self, record: logging.LogRecord) -> None:
        from trigner.cli.output import note

        note([self.format(record)])


NOTES = _Notes()


_NOT_ASKED_FOR = ("strict", "surrogateescape")  # by PYTHONIOENCODING: what Python chooses itself


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """What is printed of characters that the encoding of standard output does not have.

    It is as wide as they are: tables and marks below a text have been laid out by then.
    """
    from rich.cells import cell_len

    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    alike = {"…": "~", "–": "-"}
    return "".join(alike.get(c, "?" * cell_len(c)) for c in characters), error.end


def main() -> None:
    """Run the command line and exit."""
    sleep_while_waiting()  # before a command imports PyTorch
    logging.getLogger("trigner").addHandler(NOTES)  # once, however often
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors in _NOT_ASKED_FOR:
        codecs.register_error("trigner", _in_ascii)
        sys.stdout.reconfigure(errors="trigner")
    try:
        app()
    except SystemExit as stopped:
        # Typer makes this code of a KeyboardInterrupt.
        if stopped.code == INTERRUPTED:
            from trigner.cli.output import errors

            errors().print("interrupted")
        raise
    except BrokenPipeError:
        # The reader of our output went away (`| head`): nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (TrignerError, OSError) as error:
        # OSError: a folder that cannot be searched, a disk that is full, wherever it was met.
        from trigner.cli.output import errors
        from trigner.rendering import say

        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            error = InputError("the name is too long for a file or folder", path=error.filename)
        say(errors(), f"error: {error}")
        sys.exit(2 if isinstance(error, InputError) else 1)
