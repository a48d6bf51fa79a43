"""Chia and spl-adr on the page about the triplets' weight: what the kept runs have found."""

from __future__ import annotations

import re
from functools import cache

import pytest

from kept_runs import ROOT, Run, differences, kept, scores

PAGE = (ROOT / "docs/decisions/triplet-weight.md").read_text("utf-8")
HEADINGS = {
    "chia": "## On Chia, with 3,830 updates\n",
    "spl-adr": "## On spl-adr, with 3,230 updates\n",
}

Rows = list[tuple[str, list[str]]]


def rows(table: str) -> Rows:
    return [
        (system, cells.split(" | "))
        for system, cells in re.findall(r"^\| `([\w.-]+)` \| (.+) \|$", table, re.M)
    ]


def tables(corpus: str) -> tuple[Rows, Rows]:
    """The scores of a corpus's section, and its curves on dev."""
    section = PAGE.split(HEADINGS[corpus])[1].split("\n## ")[0]
    own, curves = section.split("Dev's overall F1 after each epoch")
    return rows(own), rows(curves)


ROWS = [(corpus, *row) for corpus in HEADINGS for row in tables(corpus)[0]]
CURVES = [(corpus, *row) for corpus in HEADINGS for row in tables(corpus)[1]]


@cache
def runs_of(corpus: str) -> dict[str, dict[int, Run]]:
    """The kept runs with batches of four, by system and seed."""
    runs: dict[str, dict[int, Run]] = {}
    for run in kept(corpus):
        if run[0]["settings"].get("optimisation.batch_size") == 4:
            runs.setdefault(run[0]["system"], {})[run[0]["seed"]] = run
    return runs


@pytest.mark.parametrize("corpus", HEADINGS)
def test_every_kept_run_has_a_row(corpus):
    own, curves = ({system for system, _ in table} for table in tables(corpus))
    assert own == set(runs_of(corpus))
    assert curves == own - {"w2ner"}  # its epochs are others


@pytest.mark.parametrize(("corpus", "system", "cells"), CURVES)
def test_a_curve_is_what_its_first_run_had_on_dev(corpus, system, cells):
    curve = runs_of(corpus)[system][1][0]["curve"]
    assert cells == [f"{100 * own['eval_f1']:.1f}" for own in curve if "eval_f1" in own]


@pytest.mark.parametrize(("corpus", "system", "cells"), ROWS)
def test_a_row_is_what_its_runs_found(corpus, system, cells):
    runs, controls = runs_of(corpus)[system], runs_of(corpus)["control"]
    seeds = sorted(runs.keys() & controls.keys())
    own, base = ([of[seed] for seed in seeds] for of in (runs, controls))
    against = ["–", "–"] if system == "control" else differences(base, own)
    assert cells == [
        ", ".join(map(str, seeds)),
        scores(own, "dev"),
        scores(own, "test"),
        *against,
    ]
