"""Commands that need no model to be named."""

from __future__ import annotations

from pathlib import Path

import pytest

from trigner.models.folder import BUNDLED, read_description


def test_the_model_that_ships_is_the_default(run):
    result = run(
        "extract",
        "Patients reported headache and swelling of the face, lips and tongue.",
        "--format",
        "jsonl",
    )
    assert result.code == 0, result.err
    assert '"AdverseReaction"' in result.out
    assert "spl-adr test" in run("info").out
    assert "`bundled`, the model for adverse" in run("extract", "--help").out


@pytest.mark.parametrize("types", [("ADR",), ("AdverseReaction",)])
def test_it_cannot_be_trained_and_how_to_make_one_that_can_is_told(
    run, gold, tmp_path, types, wording
):
    mapping = ("--map-labels", f"ADR={types[0]},Drug={types[0]}")
    result = run(
        "train", "--train", gold, "--out", tmp_path / "m", "--init-from", "bundled", *mapping
    )
    assert result.code == 2
    wording(result.err)
    recipe = read_description(BUNDLED).provenance.recipe
    assert recipe in result.err
    page = (Path(__file__).parents[2] / "docs" / "index.md").read_text("utf-8")
    assert recipe in " ".join(page.split())
    assert "cannot be trained further" in page
