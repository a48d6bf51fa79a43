"""Commands that need no model to be named."""

from __future__ import annotations


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
