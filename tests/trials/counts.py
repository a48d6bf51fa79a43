"""What fuzzing has come to: each target's sums in `research/results/robustness.json`, their table.

    python -m trials.counts [FILE]

prints the table of `research/results/robustness.md`. The file has for each target, and for each way
it was run, `atheris` or `messages`, sums over all runs: inputs, those that were refused, seconds
and foreign exceptions. `not_yet_run` names the targets that no run has reached.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trials.targets import TARGETS
from trigner.machine.atomic_files import write_text
from trigner.machine.locks import locked

FILE = Path(__file__).resolve().parents[2] / "research/results/robustness.json"
SUMS = ("inputs", "refused", "seconds", "foreign")
GROUPS = {
    "read-": (
        "readers of every format, and recognising one",
        "entities lie in their text and say what stands there",
    ),
    "rows-": (
        "tables of texts, as `annotate` reads them",
        "each row is there once, in order, as a text or with a reason",
    ),
    "write-": ("writers of every format", "the format's own reader has the same entities"),
    "decode-": (
        "decoders of every system",
        "different mentions, best first, at most 1,000, each with a probability",
    ),
    "file-": (
        "settings, studies, results, records, journals, checkpoints, vocabularies, answers of"
        " language models",
        "",
    ),
    "model-": (
        "a model's description, configuration, tokenizer, weights, graph, with hashes that fit",
        "",
    ),
    "service": ("requests to the service", "no status but 200, 4xx, 503, 504"),
    "text": ("texts", "as of readers"),
}
"""Beginnings of targets' names: what they are, and what must hold besides of no exception."""

Counts = dict[str, dict[str, dict[str, int]]]
"""Target -> how it was run -> sums."""


def known(file: Path = FILE) -> Counts:
    """The counts of a file; none where there is no file."""
    counts: Counts = json.loads(file.read_text("utf-8"))["targets"] if file.exists() else {}
    return counts


def add(file: Path, ends: Iterable[Mapping[str, Any]]) -> None:
    """Add what targets ended with: `target`, `engine`, and the sums; `foreign` may be by place."""
    with locked(file.with_name(f".{file.name}.lock"), remove=True):
        counts = known(file)
        for end in ends:
            sums = counts.setdefault(end["target"], {}).setdefault(
                end["engine"], dict.fromkeys(SUMS, 0)
            )
            foreign = end.get("foreign", 0)
            own = {**end, "foreign": sum(foreign.values()) if foreign else 0}
            for name in SUMS:
                sums[name] += round(own.get(name, 0))
        write_text(file, told(counts))


def told(counts: Counts) -> str:
    """The text of a file."""
    missing = [name for name in TARGETS if name not in counts]
    content = {"targets": dict(sorted(counts.items())), "not_yet_run": missing}
    return json.dumps(content, indent=1) + "\n"


def table(counts: Counts) -> str:
    """The counts as Markdown, a row for each kind of targets."""
    lines = [
        "| targets | what must hold beside | number | inputs | hours | foreign exceptions |",
        "|---|---|---|---|---|---|",
    ]
    total = [0] * 4
    for beginning, (what, holds) in GROUPS.items():
        own = [counts[name].values() for name in counts if name.startswith(beginning)]
        runs = [run for ways in own for run in ways]
        sums = [len(own), *(sum(run[name] for run in runs) for name in SUMS if name != "refused")]
        total = [a + b for a, b in zip(total, sums, strict=True)]
        lines.append(f"| {what} | {holds} | {_cells(sums)} |")
    return "\n".join([*lines, f"| all | | {_cells(total)} |", "", _ways(counts)])


def _cells(sums: list[int]) -> str:
    number, inputs, seconds, foreign = sums
    return f"{number} | {inputs:,} | {seconds / 3600:.2f} | {foreign}"


def _ways(counts: Counts) -> str:
    inputs = {"atheris": 0, "messages": 0}
    for ways in counts.values():
        for way, sums in ways.items():
            inputs[way] += sums["inputs"]
    missing = [f"`{name}`" for name in TARGETS if name not in counts]
    return (
        f"Led by messages {inputs['messages']:,}, by coverage (`atheris`) {inputs['atheris']:,}."
        f" Not yet run: {', '.join(missing) or 'none'}."
    )


def main() -> None:
    """Print the table."""
    print(table(known(Path(sys.argv[1]) if sys.argv[1:] else FILE)))


if __name__ == "__main__":
    main()
