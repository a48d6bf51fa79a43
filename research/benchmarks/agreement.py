"""Agreement: what is found when only mentions count that more than half of several runs found.

    python research/benchmarks/agreement.py systems --protocol cpu --data spl-adr=DIR \
        --results research/results/studies --system trigner-without --system toe --system corro
    python research/benchmarks/agreement.py best --protocol dense --data spl-adr=DIR \
        --results research/results/studies --system best --over seeds

Runs are found by their settings: `--preset`, `--set` and `--seeds` are those that they were made
with, as `trigner study` has them.

Nothing is trained: kept runs of `trigner study` hold what they found in the test part. Over systems
the runs of a seed vote, as often as there are seeds that all of them have; over seeds all runs of
each system. The differences are to the single runs of the first system, or over seeds of the same
one. More than half is the rule that needs no tuning: runs keep no predictions on dev for that.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from trigner.evaluation.scores import score
from trigner.evaluation.sentence_counts import sentence_counts
from trigner.evaluation.significance import compare_slices
from trigner.lab.studies.changes import Changes
from trigner.lab.studies.corpus import corpus_location, read_splits
from trigner.lab.studies.declaration import find_study
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import Result, read_results
from trigner.lab.studies.summary import Spread, gather
from trigner.mentions import Document

SLICES = ("overall", "discontinuous")


def voted(answers: Sequence[Sequence[Document]]) -> list[Document]:
    """The first answer's documents with the mentions that more than half of the answers have."""
    by_id = [{document.id: document for document in answer} for answer in answers]
    documents = []
    for document in answers[0]:
        found = {}
        votes: Counter[object] = Counter()
        for answer in by_id:
            own = {document.key(e): e for e in answer[document.id].entities}
            found.update(own)
            votes.update(own.keys())
        agreed = [found[key] for key, count in votes.items() if 2 * count > len(answers)]
        agreed.sort(key=lambda e: (e.fragments, e.label))
        documents.append(replace(document, entities=tuple(agreed)))
    return documents


def found_by(result: Result, gold: Sequence[Document]) -> list[Document]:
    """What the model that dev F1 overall chose found in the test part."""
    if result.found is None:
        raise SystemExit(f"{result.system}, seed {result.seed}: its predictions were not kept")
    return result.predictions()["overall"].on(gold)


def line(name: str, gold: Sequence[Document], answers: Sequence[Sequence[Document]]) -> str:
    """F1 of each slice and the precision of discontinuous mentions, mean and deviation."""
    slices = [score(gold, answer).slices for answer in answers]
    columns = [[getattr(each, name).f1 for each in slices] for name in SLICES]
    columns.append([each.discontinuous.precision for each in slices])
    cells = (f"{Spread(tuple(100 * rate for rate in column))!s:16}" for column in columns)
    return f"{name:24}{len(answers):3}  {''.join(cells).rstrip()}"


def tell(
    name: str,
    gold: Sequence[Document],
    single: Sequence[Sequence[Document]],
    agreed: Sequence[Sequence[Document]],
) -> None:
    """The line of the votes, and how far they are ahead of the single runs next to them:
    each of its own, or all of the one vote."""
    print(line(name, gold, agreed))
    before = [sentence_counts(gold, answer) for answer in single]
    after = [sentence_counts(gold, answer) for answer in agreed]
    if len(after) == 1:
        after *= len(before)
    tests = compare_slices(*([counts.slices for counts in side] for side in (before, after)))
    for slice_ in SLICES:
        test = tests[slice_]
        told, low, high = (100 * each for each in (test.difference, test.low, test.high))
        print(f"    {slice_}: {told:+.2f} [{low:+.2f}, {high:+.2f}] p {test.p_bootstrap:.4f}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", help="a study that comes with trigner, or a YAML file")
    parser.add_argument("--data", required=True, metavar="[NAME=]DIR")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--protocol", default="full")
    parser.add_argument("--preset")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE")
    parser.add_argument("--seeds", type=lambda text: tuple(map(int, text.split(","))))
    parser.add_argument("--system", action="append", required=True)
    parser.add_argument("--over", choices=["systems", "seeds"], default="systems")
    args = parser.parse_args(arguments)

    study, under = find_study(args.study), protocol(args.protocol)
    corpus = read_splits(corpus_location(args.data, study.corpus), under, types=study.types)
    results = read_results(args.results, corpus.name)
    changes = Changes(preset=args.preset, assignments=args.set, seeds=args.seeds)
    kept: Mapping[str, Mapping[int, list[Document]]] = {
        system.name: {r.seed: found_by(r, corpus.test) for r in system.with_model("overall")}
        for system in gather(runs(study, under, changes), results, corpus.hashes)
        if system.name in args.system
    }
    if absent := [name for name in args.system if not kept.get(name)]:
        raise SystemExit(f"no runs of {', '.join(absent)} by the protocol {args.protocol}")
    print(f"{'':24}{'n':>3}  {'overall':16}{'discontinuous':16}its precision")
    for name in args.system:
        print(line(name, corpus.test, list(kept[name].values())))
    if args.over == "seeds":
        for name in args.system:
            single = list(kept[name].values())
            tell(f"seeds of {name}", corpus.test, single, [voted(single)])
    else:
        seeds = sorted(set.intersection(*(set(kept[name]) for name in args.system)))
        if not seeds:
            raise SystemExit("there is no seed that all of these systems have")
        agreed = [voted([kept[name][seed] for name in args.system]) for seed in seeds]
        tell("systems", corpus.test, [kept[args.system[0]][seed] for seed in seeds], agreed)


if __name__ == "__main__":
    main()
