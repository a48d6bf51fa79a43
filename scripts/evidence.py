"""Write the tables of results into the pages of research/, from what is kept there (`make pages`).

    python scripts/evidence.py             write them
    python scripts/evidence.py --check     name the pages that this would change, and fail

A table stands between `<!-- generated: NAME -->` and `<!-- end -->`. The text around it has no
figures of results, so nothing else goes stale when runs are added.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from kept_runs import SLICES, Differences, Group, KeptRuns
from measurements import MEASURED, markdown

ROOT = Path(__file__).resolve().parents[1]
RESEARCH = ROOT / "research"
DECLARED = RESEARCH / "results/tables.yaml"
DIFFERENCES = RESEARCH / "results/differences.json"

BLOCK = re.compile(
    r"^<!-- generated: (?P<name>[\w-]+)(?: (?P<argument>[\w-]+))? -->\n.*?^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)
NOT_RUN = "not run"
COLUMNS: Mapping[str, str] = {
    "seeds": "seeds",
    "dev": "dev F1, all / discontinuous",
    "test": "test F1, all / discontinuous",
    "overall": "test, difference, all",
    "discontinuous": "test, difference, discontinuous",
    "difference": "test, difference, all / discontinuous",
}
"""What tables of runs show beside their own text: name in the declaration -> heading."""


class Evidence:
    """The tables that `tables.yaml` declares."""

    def __init__(self, declared: Mapping[str, Any]) -> None:
        self._declared = declared
        self._runs = KeptRuns(declared)
        self.differences = Differences(DIFFERENCES)

    def runs(self, name: str) -> str:
        """A table of groups of runs, with differences from other groups."""
        table = self._declared["tables"][name]
        head = [*table["head"], *(COLUMNS[column] for column in table["show"])]
        return markdown(head, [self._row(row, table["show"]) for row in table["rows"]])

    def _row(self, row: Sequence[Any], show: Sequence[str]) -> list[str]:
        if isinstance(row[-1], Mapping):  # figures of which no run is kept
            *text, given = row
            return [*text, *(str(given.get(column, "–")) for column in show)]
        *text, name, baseline = row
        group = self._runs[name]
        if not group.runs:
            return [*text, NOT_RUN, *("" for _ in show[1:])]
        cells = {"seeds": _listed(group.runs), "dev": group.scores("dev")}
        cells["test"] = group.scores("test")
        if baseline is not None:
            cells |= self._differences(self._runs[baseline], group, alone="test" not in show)
        return [*text, *(cells.get(column, "–") for column in show)]

    def _differences(self, baseline: Group, group: Group, *, alone: bool) -> dict[str, str]:
        """Beside scores of all seeds, a difference says which it is of where it has fewer."""
        found = self.differences.between(baseline, group)
        cells = {name: found[name] for name in SLICES}
        cells["difference"] = " / ".join(cells.values())
        if alone:
            return {**cells, "seeds": _listed(found.seeds)}
        fewer = "" if found.seeds == tuple(group.runs) else f" (seeds {_listed(found.seeds)})"
        return {name: cell + fewer for name, cell in cells.items()}

    def front(self) -> str:
        """Corpora down, systems across; in brackets the number of seeds."""
        declared = self._declared["front"]
        rows = [[*row[:2], *(self._score(cell) for cell in row[2:])] for row in declared["rows"]]
        return markdown(declared["head"], rows)

    def _score(self, cell: str | Mapping[str, str]) -> str:
        name, note = (cell, "") if isinstance(cell, str) else (cell["runs"], f"; {cell['note']}")
        group = self._runs[name]
        if not group.runs:
            return NOT_RUN
        seeds = "1 seed" if len(group.runs) == 1 else f"{len(group.runs)} seeds"
        return f"{group.scores('test')} ({seeds}{note})"


def _listed(seeds: Mapping[int, Any] | Sequence[int]) -> str:
    """Seeds in a row as "1–5", others one by one."""
    own = sorted(seeds)
    if len(own) > 2 and own[-1] - own[0] == len(own) - 1:
        return f"{own[0]}–{own[-1]}"
    return ", ".join(map(str, own))


def measured(name: str) -> str:
    """A table that a benchmark or a person wrote down, kept as a file of comma-separated values."""
    with (RESEARCH / f"results/measured/{name}.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    return markdown(head, rows)


def pages() -> Iterator[tuple[Path, str, str]]:
    """Each file of research/ that is generated or has generated blocks, its text and what it
    should be.

    Raises ValueError for a block that nothing fills.
    """
    evidence = Evidence(yaml.safe_load(DECLARED.read_text("utf-8")))
    known: dict[str, Callable[..., str]] = {
        "runs": evidence.runs,
        "front": evidence.front,
        "measured": measured,
        **MEASURED,
    }
    for path in sorted(RESEARCH.rglob("*.md")):
        text = path.read_text("utf-8")
        yield path, text, BLOCK.sub(lambda block: _filled(block, known), text)
    kept = DIFFERENCES.read_text("utf-8") if DIFFERENCES.exists() else ""
    yield DIFFERENCES, kept, evidence.differences.text()


def _filled(block: re.Match[str], known: Mapping[str, Callable[..., str]]) -> str:
    name, argument = block["name"], block["argument"]
    if name not in known:
        raise ValueError(f"nothing generates {name!r}: known are {', '.join(known)}")
    table = known[name](*([] if argument is None else [argument]))
    return f"{block[0].partition(chr(10))[0]}\n\n{table}\n\n<!-- end -->"


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or with `--check` only name those that would change."""
    changed = [(path, new) for path, text, new in pages() if new != text]
    for path, new in changed:
        print(path.relative_to(ROOT).as_posix())
        if "--check" not in arguments:
            path.write_text(new, encoding="utf-8")
    return int("--check" in arguments and bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
