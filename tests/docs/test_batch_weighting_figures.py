"""What batches count, on its page: dev F1 after each epoch as the kept runs have it."""

from __future__ import annotations

import json
import re
from statistics import mean
from typing import Any

from kept_runs import ROOT, spread

PAGE = (ROOT / "docs/decisions/batch-weighting.md").read_text("utf-8")
KEPT = ROOT / "docs/results/batch-weighting"
BATCHES = {
    "cells": "cells",
    "equal": "equal",
    "random": "as in random batches",
    "shuffled": "random batches, padded",
    "parts": "random batches in parts",
    "plain": "plain W2NER",
}
CORPORA = {"spl-adr": "spl-adr", "psytar": "PsyTAR, AdverseReaction"}


KEPT_RUNS = [json.loads(path.read_text("utf-8")) for path in sorted(KEPT.glob("*.json"))]


def of(corpus: str, variant: str) -> list[dict[str, Any]]:
    return [run for run in KEPT_RUNS if (run["corpus"], run["variant"]) == (corpus, variant)]


def by_epoch(runs: list[dict[str, Any]]) -> list[tuple[float, ...]]:
    """Dev F1 in percent after each epoch, of each run."""
    return list(zip(*([100 * e["f1"] for e in run["history"]] for run in runs), strict=True))


def row(corpus: str, variant: str) -> str:
    runs = of(corpus, variant)
    seeds = ", ".join(str(run["seed"]) for run in runs)
    cells = [CORPORA[corpus], BATCHES[variant], seeds, *map(spread, by_epoch(runs))]
    return f"| {' | '.join(cells)} |"


def test_the_table_is_what_the_kept_runs_had_on_dev():
    table = PAGE.split("| corpus | batches |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (?:spl-adr|PsyTAR).*$", table, re.M)
    kinds = {(run["corpus"], run["variant"]) for run in KEPT_RUNS}
    assert sorted(rows) == sorted(row(*kind) for kind in kinds)


def test_batches_on_spl_adr_are_level_from_the_second_epoch_on():
    curves = [by_epoch(of("spl-adr", name)) for name in ("plain", "parts", "cells")]
    first, *others = zip(*curves, strict=True)
    means = [[mean(own) for own in each] for each in others]
    text = " ".join(PAGE.split())
    apart = max(max(own) - min(own) for own in means)
    assert apart < 1
    assert f"their means are within {apart:.1f} points of each other" in text
    plain, parts, cells = map(spread, first)
    assert f"the plain one has {plain} and the others {parts} and {cells}" in text
