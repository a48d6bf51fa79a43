"""Tables of what was measured otherwise than by studies, from the files that hold it."""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kept_runs import spread

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "research/results"
SLICES = ("overall", "discontinuous", "sentences_with_discontinuous")


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def evaluated() -> str:
    """What `trigner evaluate` printed of single models."""
    rows = []
    for path in sorted([*RESULTS.glob("end-to-end/*.json"), *RESULTS.glob("export/*.json")]):
        scores = _read(path)
        cells = [f"{100 * scores[name]['f1']:.2f}" for name in SLICES]
        rows.append([f"`{path.parent.name}/{path.stem}`", *cells])
    return markdown(["file", "F1", "discontinuous", "sentences with discontinuous"], rows)


def prompted() -> str:
    """What a small language model found, by the prompt and the reading of its answers."""
    rows = []
    for size, name in ((100, "two-shot"), (20, "six-variants")):
        for variant, kept in _read(RESULTS / f"language-model/{name}.json").items():
            f1 = [
                f"{100 * kept['scores'][reading][of]['f1']:.1f}"
                for reading, of in (("strict", SLICES[0]), ("text", SLICES[0]), ("text", SLICES[1]))
            ]
            rows.append([variant, str(size), *f1])
    head = ["prompt", "sentences", "F1, indices as given", "F1, repaired by text"]
    return markdown([*head, "the same, discontinuous"], rows)


def batches() -> str:
    """F1 on dev after each epoch, by how batches are made and weighted."""
    curves: dict[tuple[str, str], list[tuple[int, list[float]]]] = {}
    for path in sorted(RESULTS.glob("batch-weighting/*.json")):
        kept = _read(path)
        curve = [100 * epoch["f1"] for epoch in kept["history"]]
        curves.setdefault((kept["corpus"], kept["variant"]), []).append((kept["seed"], curve))
    rows = []
    for (corpus, variant), runs in curves.items():
        means = [spread(values) for values in zip(*(curve for _, curve in runs), strict=True)]
        rows.append([corpus, variant, ", ".join(str(seed) for seed, _ in runs), *means])
    return markdown(["corpus", "batches", "seeds", *(f"epoch {n}" for n in range(1, 5))], rows)


def speed() -> str:
    """Time of a training step and of inference, as multiples of those of `w2ner`."""
    sections = _read(RESULTS / "benchmark.json")["sections"]
    (figures,) = (own["figures"] for own in sections if own["title"] == "Systems")
    rates = {figure["what"]: _rates(figure["measured"]) for figure in figures}
    unit = rates["w2ner"]
    rows = []
    for what, own in rates.items():
        # Triplets change the training step alone, and that hardly.
        if what.startswith("decoding") or "-" in what or len(own) != len(unit):
            continue
        cells = [f"{of / rate:.2f}" for rate, of in zip(own, unit, strict=True)]
        reading = rates.get(f"decoding {what}")
        share = f"{own[1] / reading[0]:.2f}" if reading else "–"
        rows.append([f"`{what}`" if what != "bare encoder" else what, *cells, share])
    head = ["system", "training step", "inference", "reading, as a share of inference"]
    return markdown(head, rows)


def _rates(measured: str) -> list[float]:
    """Words a second of a figure: of training and inference, or of decoding alone."""
    found = re.findall(r"(?:training|inference|^) ?([\d,]+) \(", measured)
    return [float(rate.replace(",", "")) for rate in found]


def fuzzing() -> str:
    """How many inputs were tried of each kind of target."""
    sys.path.append(str(ROOT / "tests"))
    counts: Any = importlib.import_module("trials.counts")
    table: str = counts.table(counts.known())
    return table


MEASURED: Mapping[str, Callable[..., str]] = {
    made.__name__: made for made in (evaluated, prompted, batches, speed, fuzzing)
}
