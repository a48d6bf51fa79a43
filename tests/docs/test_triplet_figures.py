"""What the page on the triplets' weight says of Chia is what the kept runs have found."""

from __future__ import annotations

import re

import pytest

from kept_runs import ROOT, differences, kept, scores

HEADING = "## On Chia, with 3,830 updates\n"
PAGE = (ROOT / "docs/decisions/triplet-weight.md").read_text("utf-8")
SECTION = PAGE.split(HEADING)[1].split("\n## ")[0]


def rows(table):
    return [
        (system, cells.split(" | "))
        for system, cells in re.findall(r"^\| `([\w.-]+)` \| (.+) \|$", table, re.M)
    ]


ROWS, CURVES = map(rows, SECTION.split("Dev's overall F1 after each epoch"))


def runs_of(system):
    """The kept runs of a system of the study, by seed."""
    return {
        run[0]["seed"]: run
        for run in kept("chia")
        if run[0]["system"] == system and run[0]["settings"]["optimisation.batch_size"] == 4
    }


def test_every_kept_run_has_a_row():
    made = {result["system"] for result, _ in kept("chia")}
    assert {system for system, _ in ROWS} == {system for system, _ in CURVES} == made


@pytest.mark.parametrize(("system", "cells"), CURVES, ids=[system for system, _ in CURVES])
def test_a_curve_is_what_its_first_run_had_on_dev(system, cells):
    curve = runs_of(system)[1][0]["curve"]
    assert cells == [f"{100 * own['eval_f1']:.1f}" for own in curve if "eval_f1" in own]


@pytest.mark.parametrize(("system", "cells"), ROWS, ids=[system for system, _ in ROWS])
def test_a_row_is_what_its_runs_found(system, cells):
    runs, controls = runs_of(system), runs_of("control")
    seeds = sorted(runs.keys() & controls.keys())
    own, base = ([of[seed] for seed in seeds] for of in (runs, controls))
    against = ["–", "–"] if system == "control" else differences(base, own)
    assert cells == [
        ", ".join(map(str, seeds)),
        scores(own, "dev"),
        scores(own, "test"),
        *against,
    ]
