"""What pages say of the systems' speed is what `docs/results/benchmark.json` holds."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"

SECTIONS = json.loads((DOCS / "results/benchmark.json").read_text("utf-8"))["sections"]
FIGURES = {
    figure["what"]: figure
    for section in SECTIONS
    if section["title"] == "Systems"
    for figure in section["figures"]
}


def _rates(what: str, words: str) -> list[int]:
    found = re.findall(rf"(?:{words}) ?([\d,]+) \(", FIGURES[what]["measured"])
    return [int(rate.replace(",", "")) for rate in found]


RATES = {w: _rates(w, "training|inference") for w in FIGURES if "memory" in FIGURES[w]["note"]}
RATES["bare encoder"] = _rates("bare encoder", "training|inference")
READING = {w: _rates(f"decoding {w}", "^")[0] for w in RATES if f"decoding {w}" in FIGURES}
ENCODERS = {w: re.findall(r"([\d.]+) x", FIGURES[w]["note"]) for w in RATES}
"""Medians: a system's times in training and inference as multiples of the bare encoder's."""

MEMORY = {w: re.findall(r"([\d,]+) MB", FIGURES[w]["note"]) for w in RATES}


def _section(heading: str) -> str:
    page = (DOCS / "schemes.md").read_text("utf-8")
    return " ".join(page.split(f"\n## {heading}\n")[1].split("\n## ")[0].split())


def _costs(system: str) -> list[str]:
    """Times of a training step and of inference, as multiples of w2ner's."""
    own, unit = RATES[system], RATES["w2ner"]
    return [f"{of / rate:.2f}" for rate, of in zip(own, unit, strict=True)]


def test_the_table_of_costs_is_the_benchmarks():
    table = re.findall(
        r"\| `?([\w -]+?)`? \| ([\d.]+) \| ([\d.]+) \| ([\d.–]+) \|", _section("Speed")
    )
    assert len(table) == 19
    for system, *costs, reading in table:
        assert costs == _costs(system), system
        share = f"{RATES[system][1] / READING[system]:.2f}" if system in READING else "–"
        assert reading == share, system


def test_what_is_said_of_speed_is_the_benchmarks():
    inference = {system: rates[1] for system, rates in RATES.items()}
    corro, w2ner, grid = (inference[system] for system in ("corro", "w2ner", "trigner-without"))
    plain = FIGURES["w2ner, straightforward"]["value"]
    said = _section("Speed")
    for words in (
        f"its inference {ENCODERS['corro'][1]} times the bare encoder's",
        f"{corro / w2ner:.2f} times as fast in inference as `w2ner`'s",
        f"{corro / inference['toe']:.2f} times as `toe`'s",
        f"takes {ENCODERS['w2ner'][1]} times as long as the encoder alone",
        f"takes {plain:.2f} times as long as ours",
        f"some {plain * corro / grid:.0f} times as fast",
        f"reads {READING['corro']:,} words a second",
        f"(`w2ner`) {READING['w2ner']:,}, which",
        f"{READING['corro'] / corro:.0f} and {READING['w2ner'] / w2ner:.0f} times what",
        f"takes {_costs('mac')[1]} times as long as `w2ner`'s",
        f"{MEMORY['mac'][1]} MB above the loaded model where `w2ner` takes {MEMORY['w2ner'][1]} MB",
    ):
        assert words in said


@pytest.mark.parametrize("system", ["transition", "spans", "hypergraph"])
def test_sections_say_what_the_table_says(system):
    training, inference = _costs(system)
    said = _section(system)
    assert f"training step takes {training} times as long as `w2ner`'s" in said
    assert re.search(rf"inference,? (with the parsing, )?{inference} times", said)
    if system != "transition":  # what it reads is next to nothing
        share = RATES[system][1] / READING[system]
        assert f"adds to inference {share:.2f} times its time" in said


def test_the_costs_of_families_are_the_benchmarks():
    page = (DOCS / "guides/families.md").read_text("utf-8")
    table = page.split("What it costs is")[0]
    told = re.findall(r"`(\w+)` ([\d.]+) / ([\d.]+)[,\s]", table)
    assert len(told) == 17
    for system, *costs in told:
        assert costs == _costs(system), system
