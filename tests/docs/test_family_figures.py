"""What the page of families says of mini-adr and PsyTAR is what the kept runs have found."""

from __future__ import annotations

import re
import statistics
from typing import Any

import pytest

from kept_runs import ROOT, Run, differences, kept, scores
from trigner.corpora import read
from trigner.evaluation import score

PAGE = (ROOT / "docs/guides/families.md").read_text("utf-8").split("## Where they stand here")[1]
ROW = re.compile(r"^\| (`[^|]+) \| (.+) \|$", re.M)
GOLD = read(ROOT / "data/mini-adr/test").documents
MADE = {
    "sampling.coordination": 0.5,
    "sampling.whole_members": 0.5,
    "optimisation.epochs": 12,
    "optimisation.precision": "bfloat16",
    "optimisation.encoder_lr": 1e-4,
}
TODAYS: dict[str, dict[str, Any]] = {  # of which there are runs of before, too
    "spans": {"model.fragment_roles": True},
    **{name: {"model.sequence.layer": "bilstm"} for name in ("corro", "biohd", "biohd1234", "bio")},
}


def runs_of(name: str, corpus: str, **made: Any) -> dict[int, Run]:
    """The runs that a row names, by seed: of a system, with the settings that follow it."""
    system, *settings = re.findall(r"`([^`]+)`", name)
    wanted = {
        **MADE,
        **TODAYS.get(system, {}),
        **made,
        **dict(setting.split("=") for setting in settings),
    }
    found = {}
    for result, predictions in kept(corpus):
        own = {"model.fragment_roles": False, **result["settings"]}
        if result["system"] == system and all(
            str(own.get(key)).lower() == str(value).lower() for key, value in wanted.items()
        ):
            assert result["seed"] not in found, "two runs for one row"
            found[result["seed"]] = result, predictions
    return found


def row(name: str, corpus: str, *, baseline: str | None = "`w2ner`", **made: Any) -> list[str]:
    """The figures of a row: dev and test, differences from the baseline, calibration error."""
    runs = runs_of(name, corpus, **made)
    seeds = sorted(runs)
    cells = [scores([runs[seed] for seed in seeds], part) for part in ("dev", "test")]
    if baseline is not None:
        base = runs_of(baseline, corpus, **made)
        assert set(seeds) <= set(base)
        cells += differences([base[seed] for seed in seeds], [runs[seed] for seed in seeds])
    if corpus == "mini-adr":
        errors = [score(GOLD, runs[s][1]().on(GOLD)).calibration_error or 0 for s in seeds]
        cells.append(f"{100 * statistics.mean(errors):.1f}")
    return cells


def rows(heading: str) -> list[tuple[str, list[str]]]:
    """The rows of the table under a heading: a name, and its figures."""
    section = PAGE.split(f"### {heading}\n")[1].split("\n### ")[0]
    return [(name, cells.split(" | ")) for name, cells in ROW.findall(section)]


FIVE = rows("On mini-adr")
LONGER = rows("Three times the training")
POSTS = rows("On PsyTAR")


def test_there_are_rows():
    assert (len(FIVE), len(LONGER), len(POSTS)) == (21, 5, 13)


@pytest.mark.parametrize(("name", "cells"), FIVE, ids=[name for name, _ in FIVE])
def test_a_row_of_mini_adr_is_what_its_runs_found(name, cells):
    expected = row(name, "mini-adr")
    assert cells[: len(expected)] == expected


@pytest.mark.parametrize(("name", "cells"), LONGER, ids=[name for name, _ in LONGER])
def test_a_row_of_longer_trainings_is_what_its_run_found(name, cells):
    assert cells == row(name, "mini-adr", baseline=None, **{"optimisation.epochs": 36})


@pytest.mark.parametrize(("name", "cells"), POSTS, ids=[name for name, _ in POSTS])
def test_a_row_of_psytar_is_what_its_runs_found(name, cells):
    own = {"optimisation.epochs": 10}
    assert set(runs_of(name, "psytar", **own)) == {1, 2, 3}
    assert cells == row(name, "psytar", **own)
