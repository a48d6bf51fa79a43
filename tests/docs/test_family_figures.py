"""What the page of families says of mini-adr is what the kept runs have found."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from trigner.corpora import read
from trigner.evaluation import score
from trigner.studies.predictions import read_predictions

ROOT = Path(__file__).resolve().parents[2]
RUNS = ROOT / "docs/results/studies/mini-adr"
PAGE = (ROOT / "docs/guides/families.md").read_text("utf-8").split("## Where they stand here")[1]
FIGURE = r" ([\d.]+)"
ROW = re.compile(rf"^\| (`[^|]+) \|{FIGURE} /{FIGURE} \|{FIGURE} /{FIGURE} \|{FIGURE} \|", re.M)
GOLD = read(ROOT / "data/mini-adr/test").documents


def system_of(name):
    """The system of the study that a row names."""
    if "network of `best`" in name:
        return "trigner-without"
    return re.findall(r"`(\w+)", name)[0]


def run_of(system, seed, epochs, precision, roles):
    """The kept run of a system that was made so."""
    found = []
    for path in sorted(RUNS.glob(f"*-{seed}-*.json")):
        result = json.loads(path.read_text("utf-8"))
        settings = result["settings"]
        made = settings["optimisation.epochs"], settings["optimisation.precision"]
        same_roles = roles == settings.get("model.fragment_roles", False)
        if result["system"] == system and made == (epochs, precision) and same_roles:
            found.append((path, result))
    [one] = found
    return one


FIRST, rest = PAGE.split("### Another seed")
OTHER, LONGER = rest.split("### Three times the training")
MADE = ((FIRST, (1, 12, "float32")), (OTHER, (2, 12, "bfloat16")), (LONGER, (1, 36, "bfloat16")))
ROWS = [
    pytest.param(system_of(name), made, name == "`spans`", figures, id=f"{name}-{made}")
    for part, made in MADE
    for name, *figures in ROW.findall(part)
]


def test_there_are_rows():
    assert len(ROWS) == 13 + 13 + 4  # that of `generative` has a run of its own


@pytest.mark.parametrize(("system", "made", "roles", "figures"), ROWS)
def test_a_row_is_what_its_run_found(system, made, roles, figures):
    path, result = run_of(system, *made, roles)
    dev = result["chosen"]["overall"]["dev"]
    found = read_predictions(path.with_name(result["found"]))["overall"]
    scores = score(GOLD, found.on(GOLD))
    expected = [
        *(100 * dev[name]["f1"] for name in ("overall", "discontinuous")),
        *(100 * own.f1 for own in (scores.overall, scores.discontinuous)),
        100 * (scores.calibration_error or 0),
    ]
    assert figures == [f"{figure:.1f}" for figure in expected]
