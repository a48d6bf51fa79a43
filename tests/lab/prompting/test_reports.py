from __future__ import annotations

from dataclasses import replace

from rich.console import Console

from trigner.corpora import Corpus
from trigner.corpora.words import document_of
from trigner.evaluation.counts import Score
from trigner.evaluation.scores import Slices
from trigner.lab.prompting.alignment import REPAIRS
from trigner.lab.prompting.completions import RequestSummary
from trigner.lab.prompting.entity_types import ENTITY_TYPES
from trigner.lab.prompting.experiment import build_requests, prepare_task, score_variant
from trigner.lab.prompting.failures import FAILURE_KINDS
from trigner.lab.prompting.prompts import VARIANTS, Variant
from trigner.lab.prompting.reports import failures_table, scores_table
from trigner.mentions import Mention

DATA = Corpus((document_of("d", ["sore", "or", "legs"], [Mention((0, 2), "ADR")]),), "grid", ())


LONG = Variant(2, True, True, True, True, True, examples="similar")


def lines(table, width=200):
    console = Console(width=width, no_color=True)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()


def results(variants=VARIANTS[:2]):
    task = prepare_task(DATA, ENTITY_TYPES["cadec"])
    asked = build_requests(task, VARIANTS[0], "m")
    summary = RequestSummary(0, 0, {asked[0].key: "gone"})
    return [score_variant(task, variant, asked, [None], summary) for variant in variants]


def as_large_as_can_be(result):
    """With rates of three digits before the point, and counts of five digits."""
    score = Score(12345, 12345, 12345)
    slices = Slices(score, score, score, score, score)
    scores = {repair: replace(own, slices=slices) for repair, own in result.scores.items()}
    return replace(result, scores=scores, by_text=score)


def test_scores_by_variant_and_repair():
    shown = [line.split("  ") for line in lines(scores_table(results()))]
    flat = [[cell.strip() for cell in line if cell.strip()] for line in shown]
    names = [line[0] for line in flat if line]
    for variant in VARIANTS[:2]:
        first = names.index(variant.name)
        assert names[first + 1 : first + 6] == [*REPAIRS, "text match"]
    assert [line[-3:] for line in flat if line[:1] == ["strict"]] == [["0", "0", "1"]] * 2


def test_numbers_are_whole_in_80_columns():
    shown = lines(scores_table([*map(as_large_as_can_be, results([VARIANTS[5], LONG]))]), 80)
    assert max(map(len, shown)) <= 80
    rows = [line.split() for line in shown if "12345" in line]
    assert [row[-3:] for row in rows] == [["12345"] * 3] * 10
    assert [row[-8:-3] for row in rows if row[0] != "text" or row[1] != "match"] == [
        ["100.00"] * 5
    ] * 8
    names = "".join(line.strip() for line in shown if line.strip()[-1:].isalpha())
    assert VARIANTS[5].name in names
    assert LONG.name in names


def test_failures_of_six_variants_are_whole_in_80_columns():
    found = results(VARIANTS)
    for result in found:
        result.failures.totals["answers"] = 123456
    shown = lines(failures_table(found), 80)
    assert max(map(len, shown)) <= 80
    assert ["all", "answers", *["123456"] * 6] in [line.split() for line in shown]


def test_every_kind_of_failure_has_a_row_below_its_unit():
    shown = [line.split("  ") for line in lines(failures_table(results()))]
    flat = [[cell.strip() for cell in line if cell.strip()] for line in shown]
    names = [line[0] for line in flat if line]
    for name, kind in FAILURE_KINDS.items():
        (row,) = [line for line in flat if line and line[0] == name]
        expected = "1" if name in ("no answer", "missed discontinuous") else "0"
        assert row[1:] == [expected, expected]
        units = [above for above in names[: names.index(name)] if above.startswith("all ")]
        assert units[-1] == f"all {kind.unit}"
    assert ["all answers", "1", "1"] in flat
