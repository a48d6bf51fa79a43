"""The page on epochs: the kept runs of `best` that differ in their number alone."""

from __future__ import annotations

import re

import pytest

from kept_runs import BEST, ROOT, differences, kept, runs_of, scores

PAGE = (ROOT / "docs/decisions/epochs.md").read_text("utf-8")
CORPORA = {
    "10 documents of mini-adr": ("mini-adr-ten", "full"),
    "mini-adr": ("mini-adr", "full"),
    "spl-adr": ("spl-adr", "dense"),
    "PsyTAR": ("psytar", "full"),
}
ROWS = re.findall(
    rf"^\| ({'|'.join(CORPORA)}) \| [\d,]+ \| (\d+)(?: \(auto\))? \| ([\d, ]+) \| (.*) \|$",
    PAGE,
    re.M,
)
"""Corpus, epochs, seeds and what is told of them; a corpus begins with what it is compared with."""


@pytest.mark.parametrize(("title", "epochs", "seeds", "told"), ROWS)
def test_runs_of_so_many_epochs(title, epochs, seeds, told):
    shortest = next(number for name, number, *_ in ROWS if name == title)
    base, runs = (runs_of(*CORPORA[title], BEST, epochs=int(own)) for own in (shortest, epochs))
    numbers = [int(seed) for seed in seeds.split(", ")]
    own = [runs[seed] for seed in numbers]
    against = ["–", "–"]
    if epochs != shortest:
        assert numbers == sorted(runs.keys() & base.keys())
        against = differences([base[seed] for seed in numbers], own)
    assert told == " | ".join([scores(own, "dev"), scores(own, "test"), *against])


def test_every_corpus_and_every_length_has_a_row():
    assert {title for title, *_ in ROWS} == {*CORPORA}
    for title, (corpus, protocol) in CORPORA.items():
        lengths = {int(number) for name, number, *_ in ROWS if name == title}
        for epochs in (10, 11, 39, 40, 120):
            assert (epochs in lengths) == bool(runs_of(corpus, protocol, BEST, epochs=epochs))


def test_three_times_as_many_epochs_of_ten_documents():
    auto, longer = (
        runs_of(*CORPORA["10 documents of mini-adr"], BEST, epochs=n) for n in (40, 120)
    )
    ahead, _ = differences(*([of[seed] for seed in sorted(longer)] for of in (auto, longer)))
    assert f"gain {ahead.removeprefix('+')} points overall over 40 epochs" in PAGE


def test_dev_still_rises_in_the_second_half():
    rises = []
    for result, _ in runs_of(*CORPORA["mini-adr"], BEST, epochs=40).values():
        curve = [100 * own["eval_f1"] for own in result["curve"]]
        rises.append(round(max(curve[20:]) - max(curve[:20])))
    assert (min(rises), max(rises)) == (2, 5)
    assert "dev still rises by two to five points" in PAGE


def test_twelve_epochs_of_small_batches_and_three_times_as_many():
    runs = {
        (result["settings"]["optimisation.epochs"], result["seed"]): (result, found)
        for result, found in kept("mini-adr")
        if result["system"] == "trigner-without"
        and result["settings"]["optimisation.precision"] == "bfloat16"
    }
    twelve = [runs[12, seed] for seed in range(1, 6)]
    text = " ".join(PAGE.split())
    assert f"have {scores(twelve, 'test')} on test (`trigner-without`" in text
    one, longer = (scores([runs[epochs, 1]], "test") for epochs in (12, 36))
    assert f"seed 1 has {longer} after 36 epochs, {one} after twelve" in text
