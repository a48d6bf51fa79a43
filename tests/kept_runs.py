"""Kept runs of studies, read as the pages write their figures."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from trigner.evaluation import compare_slices
from trigner.studies.predictions import SavedPredictions, read_predictions

ROOT = Path(__file__).resolve().parents[1]
SLICES = ("overall", "discontinuous")

Run = tuple[dict[str, Any], Callable[[], SavedPredictions]]
"""The result of a run, and what reads what its model found on test, as it is needed."""

read = cache(read_predictions)


@cache
def kept(corpus: str, chosen_by: str = "overall") -> list[Run]:
    """The kept runs on a corpus with what the model found that dev chose by the F1 of a slice.

    Without the oldest, of which scores alone are kept.
    """
    runs = []
    for path in sorted((ROOT / "docs/results/studies" / corpus).glob("*.json")):
        result = json.loads(path.read_text("utf-8"))
        if result["found"]:
            found = path.with_name(result["found"])
            runs.append((result, lambda found=found: read(found)[chosen_by]))
    return runs


BEST = ("both", "best")
"""Names under which runs of today's `best` are kept: a run has that of the study that made it."""


def runs_of(
    corpus: str,
    protocol: str,
    names: tuple[str, ...],
    chosen_by: str = "overall",
    batch_size: int = 12,
    split_share: float | str = 1,
    encoder: str = "minilm",
    beta2: float = 0.98,
    warmup: float = 0.1,
    epochs: int | None = None,
) -> dict[int, Run]:
    """Runs on today's batches by seed; sentences made as today, or none; no rescorer.

    An encoder in a folder is known by its folder's name. Without `epochs` a seed that was trained
    for several lengths has its shortest training.
    """
    runs: dict[int, Run] = {}
    for run in kept(corpus, chosen_by):
        settings = run[0]["settings"]
        made = settings.get("sampling.coordination"), settings.get("sampling.whole_members")
        today = (
            settings.get("optimisation.batch_weighting") == "cells"
            and settings["optimisation.batch_size"] == batch_size
            and (made[0] == 0 or made == (0.5, 0.5))
            and settings.get("sampling.split_share", 1) == split_share
            and settings["encoder"].partition("#")[0] == encoder
            and settings["optimisation.beta2"] == beta2
            and settings["optimisation.warmup"] == warmup
            and not settings.get("optimisation.rescoring")
            and epochs in (None, run[0]["epochs"])
        )
        if today and run[0]["protocol"] == protocol and run[0]["system"] in names:
            same = runs.setdefault(run[0]["seed"], run)
            lengths = [own[0]["epochs"] for own in (same, run)]
            assert same is run or lengths[0] != lengths[1]
            runs[run[0]["seed"]] = run if lengths[1] < lengths[0] else same
    return runs


def spread(values: Sequence[float]) -> str:
    """Mean and deviation, as pages write them."""
    deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{deviation}"


def scores(runs: Sequence[Run], part: str, chosen_by: str = "overall") -> str:
    """F1 of a part in percent, all mentions / discontinuous ones."""
    return " / ".join(
        spread([100 * run["chosen"][chosen_by][part][name]["f1"] for run, _ in runs])
        for name in SLICES
    )


def differences(baseline: Sequence[Run], runs: Sequence[Run]) -> list[str]:
    """F1 on test less the baseline's by slice, with the interval of the paired bootstrap."""
    tests = compare_slices(*([found().counts.slices for _, found in of] for of in (baseline, runs)))
    cells = []
    for name in SLICES:
        test = tests[name]
        own = [100 * value for value in (test.difference, test.low, test.high)]
        cells.append(f"{own[0]:+.1f} [{own[1]:+.1f}, {own[2]:+.1f}]")
    return cells
