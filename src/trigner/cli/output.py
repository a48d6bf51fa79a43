"""Where commands write: results to standard output, all else to standard error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from trigner.errors import InputError

T = TypeVar("T")

SHOWN_NOTICES = 20


def errors() -> Console:
    """The console on standard error."""
    return Console(stderr=True)


def results() -> Console:
    """The console on standard output; in a pipe as wide as its tables need."""
    console = Console()
    return console if console.is_terminal else Console(width=max(100, console.width))


def tell(notices: Iterable[object], *, at_most: int | None = SHOWN_NOTICES) -> None:
    """Notices, one a line, the first ones of many (None: all), all of them counted."""
    listed = [str(notice) for notice in notices]
    for notice in listed[:at_most]:
        errors().print(f"note: {notice}", markup=False, highlight=False, soft_wrap=True)
    if at_most is not None and len(listed) > at_most:
        errors().print(f"note: and {len(listed) - at_most} more like these")


def print_json(value: object) -> None:
    """One JSON object on standard output."""
    print(json.dumps(value, ensure_ascii=False))


def progress(items: Iterable[T], *, total: int, what: str) -> Iterator[T]:
    """The items, with a bar on a terminal."""
    console = errors()
    if not console.is_terminal:
        return iter(items)
    return iter(track(items, description=what, total=total, console=console, transient=True))


def refuse_non_empty(out: Path) -> None:
    """Raises InputError when writing to `out` would touch something that is there already."""
    if out.is_dir() and any(out.iterdir()):
        raise InputError("is not empty; name a new folder", path=out)
    if out.is_file():
        raise InputError("exists already", path=out)


def comma_list(value: str | None) -> Sequence[str] | None:
    """`A,B` as its parts."""
    return None if value is None else [part.strip() for part in value.split(",") if part.strip()]
