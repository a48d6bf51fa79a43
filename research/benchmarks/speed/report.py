"""The table: on the terminal, as Markdown and as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Collection, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
import transformers
from rich.console import Console
from rich.table import Table

from speed.figures import Figure, Section
from trigner import __version__

HEAD = """# Speed and memory

What TriG-NER costs here, in its straightforward formulation (written plainly from the formulas,
in `research/benchmarks/speed/`), and beside its bare encoder. Made by `make bench`. Ratios are
medians, quartiles in brackets. The straightforward side has targets too, 1.2 times what was
measured of such an implementation before: were it slow, ours would look fast.
"""

COLUMNS = ("what", "measured", "target", "reached", "note")


Machine = dict[str, str | int]


def machine() -> Machine:
    """What the figures depend on."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count() or 1,
        "threads": torch.get_num_threads(),
        "memory": f"{_memory():.0f} GB",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "trigner": __version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    known = dict(line.split(":", 1) for line in lines if ":" in line)
    named = {key.strip(): value.strip() for key, value in known.items()}
    family = f"family {named.get('cpu family')}, model {named.get('model')}"
    return f"{named.get('model name', platform.machine())} ({family})"


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9


def show(sections: Sequence[Section], console: Console) -> None:
    """Print the tables."""
    for section in sections:
        table = Table(title=section.title, title_justify="left", title_style="bold")
        for column in COLUMNS:
            table.add_column(column, overflow="fold")
        for figure in section.figures:
            table.add_row(*_cells(figure))
        console.print(table)
        for note in section.notes:
            console.print(note, style="dim")


def write(
    sections: Sequence[Section],
    folder: Path,
    *,
    quick: bool,
    name: str = "benchmark",
    head: str = HEAD,
    kept: Collection[str] = (),
) -> list[Path]:
    """`NAME.md` under a head and `NAME.json`; `-quick` behind the name for a quick look.

    Stored sections of the titles `kept` that were not measured now stay, behind the others.
    """
    name = f"{name}-quick" if quick else name
    path = folder / f"{name}.json"
    stored = kept and path.exists()
    former = json.loads(path.read_text(encoding="utf-8"))["sections"] if stored else []
    absent = {*kept} - {section.title for section in sections}
    stay = [_section(**own) for own in former if own["title"] in absent]
    return _write([*sections, *stay], folder, name, head, machine())


def update(sections: Sequence[Section], folder: Path) -> list[Path]:
    """Put sections in the place of the stored ones of their titles, or behind them.

    Measured on another machine than the others, they say so in a note.
    """
    stored = json.loads((folder / "benchmark.json").read_text(encoding="utf-8"))
    if stored["machine"] != machine():
        own = f"Measured on another machine than the other sections: {_told(machine())}."
        sections = [replace(section, notes=[*section.notes, own]) for section in sections]
    new = {section.title: section for section in sections}
    former = [_section(**section) for section in stored["sections"]]
    both = [new.pop(section.title, section) for section in former] + list(new.values())
    return _write(both, folder, "benchmark", HEAD, stored["machine"])


def _section(figures: Sequence[dict[str, Any]], **others: Any) -> Section:
    return Section(figures=[Figure(**figure) for figure in figures], **others)


def _write(
    sections: Sequence[Section], folder: Path, name: str, head: str, machine: Machine
) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    markdown, data = folder / f"{name}.md", folder / f"{name}.json"
    markdown.write_text(_markdown(sections, head, machine, data.name), encoding="utf-8")
    found = {"machine": machine, "sections": [asdict(section) for section in sections]}
    data.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return [markdown, data]


def _told(machine: Machine) -> str:
    return ", ".join(f"{key} {value}" for key, value in machine.items())


def _markdown(sections: Sequence[Section], head: str, machine: Machine, data: str) -> str:
    """The figures that were asked for; all others, and how they were measured, are in the data."""
    others = f"[{data}]({data}) has all other figures, and how each was measured."
    lines = [head, f"Machine: {_told(machine)}.", "", others]
    for section in sections:
        if asked := [figure for figure in section.figures if figure.target]:
            lines += ["", f"## {section.title}", "", *_table(asked)]
    return "\n".join(lines) + "\n"


def _table(figures: Sequence[Figure]) -> list[str]:
    """Without the columns that would be empty."""
    rows = [dict(zip(COLUMNS, _cells(figure), strict=True)) for figure in figures]
    used = [column for column in COLUMNS if any(row[column] for row in rows)]
    body = [f"| {' | '.join(row[column] for column in used)} |" for row in rows]
    return [f"| {' | '.join(used)} |", "|---" * len(used) + "|", *body]


def _cells(figure: Figure) -> list[str]:
    reached = {None: "", True: "yes", False: "no"}[figure.reached]
    return [figure.what, figure.measured, figure.target, reached, figure.note]
