"""The errors that reach a user. The command line turns them into one line and an exit code."""

from __future__ import annotations

import importlib.util
from pathlib import Path

LONGEST = 2000
"""Characters of a message: input is quoted in messages, and may be of any length."""


class TrignerError(Exception):
    """Something failed while working on good input (exit code 1)."""


class InputError(TrignerError):
    """Input that cannot be trusted or an option that makes no sense (exit code 2).

    The message starts with `path:line:` as far as they are known (lines count from 1).
    """

    def __init__(
        self, message: str, *, path: str | Path | None = None, line: int | None = None
    ) -> None:
        if len(message) > LONGEST:
            message = f"{message[:LONGEST]} ... ({len(message):,} characters)"
        self.message = message
        self.path = None if path is None else Path(path)
        self.line = line
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(where + message)


def require_extra(extra: str, *packages: str) -> None:
    """Raises TrignerError with the cure when packages of one of our extras are not installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise TrignerError(f"this needs {' and '.join(missing)}: pip install 'trigner[{extra}]'")
