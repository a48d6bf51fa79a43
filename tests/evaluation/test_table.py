from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from trigner.evaluation.comparison import ComparedDocument, Comparison, Finding
from trigner.evaluation.counts import Score
from trigner.evaluation.relaxed import Rates
from trigner.evaluation.scores import Scores, Slices
from trigner.evaluation.table import errors_table, relaxed_table, slices_table
from trigner.mentions import Document, Entity

PAIN, RASH = Entity("X", ((0, 4),), "pain"), Entity("X", ((5, 9),), "rash")
SLICES = Slices(
    Score(1815, 2301, 2488),
    Score(42, 79, 94),
    Score(1773, 2222, 2394),
    Score(0, 0, 7),
    Score(1, 1, 1),
)
SCORES = Scores(
    SLICES,
    {"ADR": SLICES},
    {"crosses a sentence boundary": 8, "empty": 1, "not aligned to words": 3},
)


def printed(scores: Scores, width: int = 80) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(slices_table(scores))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def row(lines: list[str], name: str) -> list[str]:
    (line,) = [line for line in lines if line.startswith(name + " ")]
    return line.removeprefix(name).split()


def test_rates_are_percent_with_two_decimals_beside_the_counts() -> None:
    lines = printed(SCORES)
    assert row(lines, "entities: ADR") == ["P", "R", "F1", "correct", "predicted", "gold"]
    assert row(lines, "overall") == ["78.88", "72.95", "75.80", "1,815", "2,301", "2,488"]
    assert row(lines, "discontinuous") == ["53.16", "44.68", "48.55", "42", "79", "94"]
    assert row(lines, "sentences without")[:3] == ["100.00", "100.00", "100.00"]
    assert row(lines, "sentences with discontinuous")[-3:] == ["0", "0", "7"]


def test_where_there_is_nothing_to_find_there_are_no_rates() -> None:
    nothing = Slices(*[Score(0, 0, 0)] * 5)
    assert row(printed(Scores(nothing, {})), "discontinuous") == ["–", "–", "–", "0", "0", "0"]
    wrong = Slices(*[Score(0, 3, 0)] * 5)
    assert row(printed(Scores(wrong, {})), "discontinuous")[:3] == ["0.00"] * 3


def test_one_label_has_no_row_of_its_own_and_several_do() -> None:
    assert not any(line.startswith("ADR") for line in printed(SCORES))
    odd = printed(replace(SCORES, per_type={"[red]Sign": SLICES}))
    assert row(odd, "entities: [red]Sign")[0] == "P"
    two = replace(SCORES, per_type={"ADR": SLICES, "[red]Sign": SLICES})
    lines = printed(two)
    assert row(lines, "entities")[0] == "P"
    assert row(lines, "ADR") == row(lines, "overall")
    assert row(lines, "[red]Sign") == row(lines, "overall")


def test_unreachable_gold_is_told_below() -> None:
    told = " ".join(printed(SCORES))
    assert (
        "12 of 2,488 gold entities are out of reach: 8 cross a sentence boundary, 1 empty, "
        "3 not aligned to words" in told
    )
    one = replace(SCORES, unreachable_reasons={"crosses a sentence boundary": 1})
    assert "1 of 2,488 gold entities are out of reach: 1 crosses a sentence" in " ".join(
        printed(one)
    )


def test_nothing_to_tell_tells_nothing() -> None:
    lines = printed(replace(SCORES, unreachable_reasons={}))
    assert not any("reach" in line or "without predictions" in line for line in lines)


def test_other_losses_are_told_below() -> None:
    scores = replace(
        SCORES,
        unreachable_by={"w2ner": 2, "other": 0},
        missing=("a", "[b]", "c", "d"),
        unreachable_reasons={},
        left_out=5,
        bounded=7,
    )
    assert "calibration" not in " ".join(printed(scores)).casefold()
    told = " ".join(printed(replace(scores, calibration_error=0.0)))
    assert "Calibration error 0.0 %" in told
    told = " ".join(printed(replace(scores, calibration_error=0.1234)))
    assert "Calibration error 12.3 %" in told
    assert "5 invalid annotations skipped" in told
    assert "7 sentences hit a bound of decoding: the result may be incomplete" in told
    assert "Also lost before prediction: 2 to w2ner" in told
    assert "Also lost before prediction: 2 to w2ner 5" in told  # nothing of what lost none
    assert "4 gold documents without predictions: a, [b], c, ..." in told
    three = " ".join(printed(replace(scores, missing=("a", "b", "c"))))
    assert three.endswith("3 gold documents without predictions: a, b, c")


@pytest.mark.parametrize("width", [80, 120])
def test_it_fits_and_stays_plain(width: int) -> None:
    lines = printed(replace(SCORES, per_type={"ADR": SLICES, "x" * 50: SLICES}), width)
    assert max(map(len, lines)) <= width
    assert "\x1b" not in "".join(lines)
    assert "…" not in "".join(lines)


def test_errors_are_counted_on_the_side_where_they_are() -> None:
    found = Finding("split", (Entity("X", ((0, 9),), "pain rash"),), (PAIN, RASH))
    missed = Finding("missed", (PAIN,), ())
    out = io.StringIO()
    comparison = Comparison((ComparedDocument(Document("d", "pain rash"), (found, missed)),))
    Console(file=out, width=80).print(errors_table(comparison))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert row(lines, "kind") == ["gold", "predicted"]
    assert row(lines, "split") == ["1", "2"]
    assert row(lines, "missed") == ["1", "0"]


def test_relaxed_rates_are_percent_in_order() -> None:
    out = io.StringIO()
    Console(file=out, width=80).print(relaxed_table({"exact": Rates(0.5, 0.25, 1 / 3)}))
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    assert row(lines, "relaxed") == ["P", "R", "F1"]
    assert row(lines, "exact") == ["50.00", "25.00", "33.33"]
