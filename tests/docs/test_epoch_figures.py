"""The page on epochs: the kept runs of `best` that differ in their number alone."""

from __future__ import annotations

import re

import pytest

from kept_runs import BEST, ROOT, differences, runs_of, scores

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
