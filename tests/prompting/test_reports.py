from __future__ import annotations

from rich.console import Console

from trigner.corpora import Corpus, document_of
from trigner.mentions import Mention
from trigner.prompting import (
    VARIANTS,
    RequestSummary,
    build_requests,
    failures_table,
    prepare_task,
    scores_table,
)
from trigner.prompting.alignment import REPAIRS
from trigner.prompting.entity_types import ENTITY_TYPES
from trigner.prompting.experiment import score_variant
from trigner.prompting.failures import FAILURE_KINDS

DATA = Corpus((document_of("d", ["sore", "or", "legs"], [Mention((0, 2), "ADR")]),), "grid", ())


def lines(table):
    console = Console(width=200, no_color=True)
    with console.capture() as captured:
        console.print(table)
    return captured.get().splitlines()


def results():
    task = prepare_task(DATA, ENTITY_TYPES["cadec"])
    made = []
    for variant in VARIANTS[:2]:
        asked = build_requests(task, variant, "m")
        made.append(
            score_variant(
                task, variant, asked, [None], RequestSummary(0, 0, {asked[0].key: "gone"})
            )
        )
    return made


def test_scores_by_variant_and_repair():
    shown = lines(scores_table(results()))
    first = [line.split() for line in shown if line.startswith("zero-shot ")]
    assert [line[:2] for line in first] == [["zero-shot", "strict"]]
    assert first[0][-3:] == ["0", "0", "1"]
    for repair in REPAIRS:
        assert sum(f" {repair}    " in line for line in shown) == 2
    assert sum("text match" in line for line in shown) == 2


def test_every_kind_of_failure_has_a_row_and_its_total():
    shown = [line.split("  ") for line in lines(failures_table(results()))]
    flat = [[cell.strip() for cell in line if cell.strip()] for line in shown]
    for name, kind in FAILURE_KINDS.items():
        (row,) = [line for line in flat if line and line[0] == name]
        expected = "1" if name in ("no answer", "missed discontinuous") else "0"
        assert row[1].split()[: len(kind.unit.split())] == kind.unit.split()
        assert " ".join(row).split()[-2:] == [expected, expected]
    assert ["all answers", "1", "1"] in flat
