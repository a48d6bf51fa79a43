"""A small study, a small corpus, and made-up results of its runs."""

from __future__ import annotations

from dataclasses import replace

from trigner.evaluation.scores import score
from trigner.evaluation.sentence_counts import sentence_counts
from trigner.evaluation.signature import sign
from trigner.lab.studies.predictions import SavedPredictions, predictions_text
from trigner.lab.studies.results import CHOSEN_BY, Chosen, Result, run_name, write_result

SMALL = """\
  model: {lstm_size: 8, distance_size: 3, region_size: 3, channels: 4, pair_size: 6, grid_size: 5}
  optimisation: {epochs: 2, batch_size: 2}
"""
STUDY = f"""\
title: A small study
base:
{SMALL}axes:
  triplets.window: [none, 5]
compared:
  control: {{triplets.weight: 0}}
seeds: [1, 2]
report: {{published: window, baseline: control, plot: triplets.window}}
"""
TEXTS = {
    "one": ("my left leg hurt. no pain.\n", ["T1\tADR 3 11;12 16\tleft leg hurt"]),
    "two": (
        "numb left and right arm.\n\nmy leg felt numb after the tablet.\n",
        [
            "T1\tADR 0 9;20 23\tnumb left arm",
            "T2\tADR 0 4;14 23\tnumb right arm",
            "T3\tADR 29 32;38 42\tleg numb",
            "T4\tDrug 53 59\ttablet",
        ],
    ),
}


def write_corpus(root):
    """The texts as brat files, all of them in each part."""
    for part in ("train", "dev", "test"):
        (root / part).mkdir(parents=True)
        for name, (text, lines) in TEXTS.items():
            (root / part / f"{part}-{name}.txt").write_text(text)
            (root / part / f"{part}-{name}.ann").write_text("".join(f"{x}\n" for x in lines))
    return root


def result_of(run, corpus, results, *, kept=1, models=CHOSEN_BY):
    """Write a result whose system found the first `kept` entities of each test document."""
    found = [replace(d, entities=d.entities[:kept]) for d in corpus.test]
    signature = sign(corpus.test, settings=run.identity, seed=run.seed)
    scores = score(corpus.test, found, signature=signature).as_json()
    counts = sentence_counts(corpus.test, found)
    predictions = {name: SavedPredictions(counts, tuple(found)) for name in models}
    made = Result(
        name=run_name(run.system, run.identity, corpus.hashes),
        system=run.system,
        corpus=corpus.name,
        protocol="full",
        seed=run.seed,
        settings=run.identity,
        data=corpus.hashes,
        train={"documents": len(corpus.train), "sentences": 4, "mentions": 5},
        parameters=1_000_000,
        epochs=2,
        seconds=60.0,
        device="cpu",
        signature=signature,
        chosen={name: Chosen(1, scores, scores) for name in models},
        found=predictions_text(predictions),
    )
    return write_result(made, results)
