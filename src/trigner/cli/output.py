"""Where commands write: results to standard output, all else to standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console

from trigner.errors import InputError

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")

SHOWN_NOTICES = 20
SECONDS_BETWEEN_LINES = 10.0


def errors() -> Console:
    """The console on standard error."""
    return Console(stderr=True)


def results() -> Console:
    """The console on standard output; in a pipe as wide as COLUMNS says, or 80."""
    return Console()


def note(notices: Iterable[object], *, at_most: int | None = SHOWN_NOTICES) -> None:
    """Notices, one a line, the first ones of many (None: all), all of them counted."""
    listed = [str(notice) for notice in notices]
    for notice in listed[:at_most]:
        errors().print(f"note: {notice}", markup=False, highlight=False, soft_wrap=True)
    if at_most is not None and len(listed) > at_most:
        errors().print(f"note: and {len(listed) - at_most} more like these")


def print_json(value: object) -> None:
    """One JSON object on standard output."""
    print(json.dumps(value, ensure_ascii=False))


def progress(items: Iterable[T], *, total: int | None, what: str) -> Generator[T, None, None]:
    """The items, counted on standard error: a bar on a terminal, else now and then a line.

    `total` is None when nobody knows how many will come.
    """
    return (_bar if errors().is_terminal else _lines)(items, total, what)


def _bar(items: Iterable[T], total: int | None, what: str) -> Generator[T, None, None]:
    with _drawn() as bar:
        yield from bar.track(items, total=total, description=what)


def _drawn() -> Progress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        TimeRemainingColumn(),
        console=errors(),
        transient=True,
        # Results that go to a file or pipe must not be drawn on the terminal instead.
        redirect_stdout=sys.stdout.isatty(),
    )


def _lines(items: Iterable[T], total: int | None, what: str) -> Generator[T, None, None]:
    of = "" if total is None else f" of {total:,}"
    last = monotonic()
    for count, item in enumerate(items, 1):
        yield item
        if monotonic() - last >= SECONDS_BETWEEN_LINES:
            errors().print(f"{what}: {count:,}{of}", markup=False, highlight=False)
            last = monotonic()


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """As `progress`, for work that reports (done, total) itself."""
    if errors().is_terminal:
        with _drawn() as bar:
            drawn = bar.add_task(what, total=None)
            yield lambda done, total: bar.update(drawn, completed=done, total=total)
        return
    last = monotonic()

    def show_now_and_then(done: int, total: int) -> None:
        nonlocal last
        if monotonic() - last >= SECONDS_BETWEEN_LINES:
            errors().print(f"{what}: {done:,} of {total:,}", markup=False, highlight=False)
            last = monotonic()

    yield show_now_and_then


def counted(number: int, one: str, more: str | None = None) -> str:
    """`1 file`, `2 files`; `more` is the plural of words that take more than an s."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def refuse_non_empty(out: Path) -> None:
    """Raises InputError when writing to `out` would touch something that is there already."""
    if out.is_dir() and any(out.iterdir()):
        raise InputError("is not empty: choose a new folder", path=out)
    if out.is_file():
        raise InputError("already exists", path=out)


def comma_list(value: str | None) -> Sequence[str] | None:
    """`A,B` as its parts."""
    return None if value is None else [part.strip() for part in value.split(",") if part.strip()]
