"""Take over results of `benchmarks/accuracy.py` as runs of a study: they need no repetition.

    python scripts/carry_over.py pair-map --data spl-adr=DIR docs/results/accuracy-on-cpu \\
        --results docs/results/studies

A result is taken over when the signature of its test scores has the test data and the settings that
the study's run has today, its counts of training sentences and gold are those of the corpus, and
its network has as many weights. Predictions and the model chosen by discontinuous F1 were not kept
then: the result says so.

`GONE` are systems whose code is no more: they are kept too, as runs that no study has.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trigner.errors import TrignerError
from trigner.evaluation import sign
from trigner.networks import create
from trigner.studies import Run, find_study, placed, protocol, runs
from trigner.studies.corpus import Corpus, read_corpus
from trigner.studies.grid import OTHER_SCHEMES
from trigner.studies.results import Chosen, Result, find, read_results, write_result
from trigner.text import segment

GONE = {
    "low-rank-plain": "of plain word states",
    "low-rank-plain-x8": "of plain word states, initial projections times 8",
}
"""System -> what the low-rank pair map was then."""

NOTE = (
    "taken over from benchmarks/accuracy.py: test data and settings agree with its signature,"
    " training sentences and gold with its counts; which epoch was chosen was not noted"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study")
    parser.add_argument("old", type=Path, help="folder of the old results")
    parser.add_argument("--data", required=True, help="[NAME=]DIR of the corpus")
    parser.add_argument("--results", type=Path, required=True)
    options = parser.parse_args()
    study = find_study(options.study)
    cpu = protocol("cpu")
    place = placed(options.data, study.corpus)
    corpus = read_corpus(place, cpu, types=study.types)
    wanted = {(run.system, run.seed): run for run in runs(study, cpu)}
    for path in sorted(options.old.glob("*.json")):
        old = json.loads(path.read_text(encoding="utf-8"))
        system = "low-rank" if old["system"] in GONE else old["system"]
        run = wanted.get((system, old["seed"]))
        if run is None:
            print(f"{path.name}: not of this study")
            continue
        wrong = differences(old, run, corpus)
        if old["system"] not in GONE and old["parameters"] != parameters(run, corpus):
            wrong = f"{wrong} parameters"
        if wrong:
            print(f"{path.name}: NOT taken over: {wrong}")
            continue
        result = taken_over(old, run, corpus)
        there = read_results(options.results, corpus.name)
        if find(there, result.settings, corpus.hashes) is not None:
            print(f"{path.name}: there already")
            continue
        print(f"{path.name} -> {write_result(result, options.results)}")


def parameters(run: Run, corpus: Corpus) -> int:
    """Weights of the network that the run has today."""
    settings = run.settings
    labels = tuple(sorted({e.label for d in corpus.train for e in d.entities}))
    model = create(settings.encoder, settings.scheme, labels, settings.network)
    return sum(parameter.numel() for parameter in model.tagger.parameters())


def differences(old: dict[str, Any], run: Run, corpus: Corpus) -> str:
    """In what an old result is not that of the run; empty when it is."""
    today: dict[str, str] = {}
    then = _parts(old["test"]["signature"])
    for known in _spellings(run):
        today = _parts(str(sign(corpus.test, settings=known, seed=run.seed)))
        if then["settings"] == today["settings"]:
            break
    signed = ("data", "documents", "settings", "seed")
    found = [name for name in signed if then[name] != today[name]]
    # What a training sees are sentences with at least one word.
    sentences = sum(len(segment(document).sentences) for document in corpus.train)
    expected = {"documents": len(corpus.train), "sentences": sentences}
    found += [name for name in expected if old["train"][name] != expected[name]]
    for part in ("dev", "test"):
        documents = getattr(corpus, part)
        gold = sum(len({d.key(e) for e in d.entities}) for d in documents)
        if old[part]["overall"]["gold"] != gold:
            found.append(f"gold of {part}")
    return ", ".join(found)


def _spellings(run: Run) -> Iterator[dict[str, Any]]:
    """The run's settings as they are written today and as they were."""
    settings = run.settings.model_dump(mode="json")
    for budget in ("auto", run.settings.optimisation.cells):
        optimisation = {**settings["optimisation"], "cell_budget": budget}
        yield {**settings, "optimisation": optimisation}
        before = {name: value for name, value in settings.items() if name != "task"}
        network = settings["network"].items()
        first = {name: value for name, value in network if name not in OTHER_SCHEMES}
        yield {**before, "network": first, "optimisation": optimisation}


def taken_over(old: dict[str, Any], run: Run, corpus: Corpus) -> Result:
    """An old result in the form of a study's."""
    sentences = sum(len(segment(document).sentences) for document in corpus.train)
    settings = run.identity
    notes = [NOTE]
    if old["system"] in GONE:
        settings["revisions"] = {"network.pair_map=low_rank": GONE[old["system"]]}
        notes.append(f"the low-rank pair map was {GONE[old['system']]}")
    mentions = sum(len(s.mentions) for d in corpus.train for s in segment(d).sentences)
    return Result(
        system=old["system"],
        corpus=corpus.name,
        protocol="cpu",
        seed=run.seed,
        settings=settings,
        data=corpus.hashes,
        train={"documents": len(corpus.train), "sentences": sentences, "mentions": mentions},
        parameters=old["parameters"],
        epochs=run.settings.optimisation.epochs,
        seconds=old["seconds"],
        device="cpu",
        signature=old["test"]["signature"],
        chosen={"overall": Chosen(None, old["dev"], old["test"])},
        notes=tuple(notes),
    )


def _parts(signature: str) -> dict[str, str]:
    return dict(part.split(":", 1) for part in signature.split("|"))


if __name__ == "__main__":
    try:
        main()
    except TrignerError as error:
        sys.exit(f"error: {error}")
