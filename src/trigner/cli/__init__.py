"""The command line: thin commands over the rest."""

from trigner.cli.app import main

__all__ = ["main"]
