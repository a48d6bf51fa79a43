"""Systems compared on a CPU: a thousand training sentences, ten epochs, several seeds.

The training documents are those of `accuracy-documents.txt`; dev and test are whole. Each finished
run is written at once to `--results`, and what is there already is not run again:

    python benchmarks/accuracy.py --corpus SPL-ADR --runs RUNS pair-map
    python benchmarks/accuracy.py table

Fewer sentences than the corpus has: enough to compare systems, too few to quote as theirs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

from trigner.corpora import read
from trigner.evaluation import score, sign
from trigner.inference import extractor
from trigner.training import train
from trigner.training.settings import resolve

HERE = Path(__file__).parent
DOCUMENTS = HERE / "accuracy-documents.txt"
RESULTS = HERE.parent / "docs" / "results" / "accuracy-on-cpu"

NO_TRIPLETS = ["triplets.weight=0"]
PROTOCOL = ["optimisation.epochs=10", "optimisation.precision=bfloat16"]

EXPERIMENTS: dict[str, dict[str, list[str]]] = {
    "pair-map": {
        "low-rank": [*NO_TRIPLETS, "network.pair_map=low_rank"],
        "folded": [*NO_TRIPLETS, "network.pair_map=folded"],
        "full": [*NO_TRIPLETS, "network.pair_map=full"],
    },
    "triplets": {
        "logits-0.001": ["triplets.source=logits", "triplets.weight=0.001"],
        "pair-states-0.01": ["triplets.source=pair_states", "triplets.weight=0.01"],
        "pair-states-0.1": ["triplets.source=pair_states", "triplets.weight=0.1"],
        "pair-states-1": ["triplets.source=pair_states", "triplets.weight=1"],
        "logits-0.01": ["triplets.source=logits", "triplets.weight=0.01"],
    },
}
"""Experiment -> system -> what it sets beside `PROTOCOL`."""


def run(system: str, assignments: list[str], seed: int, corpus: Path, runs: Path) -> None:
    """One training, scored on dev and test with the epoch that dev chose."""
    result = RESULTS / f"{system}-{seed}.json"
    if result.exists():
        return
    settings = resolve(assignments=[*PROTOCOL, *assignments], options={"seed": seed})
    chosen = set(DOCUMENTS.read_text(encoding="utf-8").split())
    documents = [d for d in read(corpus / "train").documents if d.id in chosen]
    if len(documents) != len(chosen):
        raise SystemExit(f"{corpus} holds {len(documents)} of the {len(chosen)} documents")
    dev, test = (read(corpus / part).documents for part in ("dev", "test"))
    out = runs / f"{system}-{seed}"
    started = time.perf_counter()
    trained = train(settings, documents, dev, out, resume=out.exists())
    seconds = time.perf_counter() - started
    scores = score(
        test,
        list(extractor(trained.model).documents(test)),
        signature=str(sign(test, settings=settings.model_dump(mode="json"), seed=seed)),
    )
    written = {
        "system": system,
        "seed": seed,
        "settings": assignments,
        "train": {"documents": len(documents), "sentences": trained.data.sentences},
        "parameters": sum(p.numel() for p in trained.model.tagger.parameters()),
        "seconds": round(seconds),
        "dev": trained.scores.as_json(),
        "test": scores.as_json(),
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    result.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


def table() -> str:
    """Mean and standard deviation over seeds of every system that has results, in percent."""
    by_system: dict[str, list[dict]] = {}
    for path in sorted(RESULTS.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        by_system.setdefault(found["system"], []).append(found)
    lines = [
        "| system | seeds | dev F1 | dev disc. F1 | test F1 | test disc. F1 | parameters (M) |",
        "|---|---|---|---|---|---|---|",
    ]
    for system, found in by_system.items():
        cells = [
            _spread([f[part][slice_]["f1"] for f in found])
            for part in ("dev", "test")
            for slice_ in ("overall", "discontinuous")
        ]
        size = f"{found[0]['parameters'] / 1e6:.1f}"
        lines.append(f"| {' | '.join([system, str(len(found)), *cells, size])} |")
    return "\n".join(lines)


def _spread(values: list[float]) -> str:
    percent = [100 * value for value in values]
    deviation = f" ± {statistics.stdev(percent):.2f}" if len(percent) > 1 else ""
    return f"{statistics.mean(percent):.2f}{deviation}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", choices=[*EXPERIMENTS, "table"])
    parser.add_argument("--corpus", type=Path, help="folder of spl-adr with train, dev and test")
    parser.add_argument("--runs", type=Path, default=Path("runs/accuracy"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--only", nargs="+", help="some of the experiment's systems")
    options = parser.parse_args()
    if options.experiment != "table":
        if options.corpus is None:
            parser.error("--corpus is needed to train")
        systems = EXPERIMENTS[options.experiment]
        for seed in options.seeds:
            for system in options.only or systems:
                run(system, systems[system], seed, options.corpus, options.runs)
    print(table())


if __name__ == "__main__":
    main()
