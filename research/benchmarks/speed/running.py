"""Sections one after the other, with a progress line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from speed.figures import Section, Tell

Sections = dict[str, Callable[[], Section]]
"""Name -> what measures it."""


def measure(
    sections: Callable[[Tell], Sections], only: Sequence[str], console: Console
) -> list[Section]:
    """The sections, or those with a name in `only`, in order."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("")
        parts = sections(lambda text: progress.update(task, description=text))
        chosen = {name: work for name, work in parts.items() if not only or name in only}
        progress.update(task, total=len(chosen))
        found = []
        for work in chosen.values():
            found.append(work())
            progress.advance(task)
    return found
