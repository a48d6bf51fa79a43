"""Distillation: teachers, the agreement of all of them, and students that learn from all of them.

    python research/benchmarks/distillation.py --data mini-adr=DIR --teachers 5 --students 3 \
        --set optimisation.epochs=12

DIR holds `train`, `dev` and `test`. Teachers have the seeds 1, 2, ..., students 101, 102, ...; all
have the same settings. With `--teacher FOLDER`, repeated, models that are there teach. Models are
left in --work, so that what is finished is not trained again. What each reaches on dev and test
goes to research/results/distillation/NAME.json; differences are to the mean of the teachers, by a
paired bootstrap over the test part's sentences.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from agreement import SLICES, voted

import trigner
from trigner.corpora import read, with_types
from trigner.evaluation import sentence_counts
from trigner.evaluation.scores import score
from trigner.evaluation.signature import sign
from trigner.evaluation.significance import compare_slices
from trigner.mentions import Document
from trigner.training.run import train
from trigner.training.settings import resolve

RESULTS = Path(__file__).resolve().parents[2] / "research/results/distillation"


class Trials:
    """Trainings on one corpus with the same settings, each in a folder of its own."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        types = given.types.split(",") if given.types else None
        parts = (read(folder / part).documents for part in ("train", "dev", "test"))
        self.train, self.dev, self.test = (with_types(own, types) for own in parts)
        self.given = given

    def model(self, name: str, seed: int, teachers: Sequence[Path] = ()) -> Path:
        """The folder of a model, trained unless it is there."""
        out: Path = self.given.work / name
        settings = resolve(
            preset=self.given.preset, assignments=self.given.set, options={"seed": seed}
        )
        options: dict[str, Any] = {"teachers": teachers, "resume": out.exists()}
        train(settings, self.train, self.dev, out, device=self.given.device, **options)
        return out

    def found(self, folder: Path, part: Sequence[Document]) -> list[Document]:
        """What a model finds in documents."""
        return list(trigner.load(folder, device=self.given.device).documents(part))

    def scores(self, found: Sequence[Document], part: Sequence[Document]) -> dict[str, float]:
        """F1 of each slice."""
        slices = score(part, found).slices
        return {name: round(100 * getattr(slices, name).f1, 2) for name in SLICES}

    def differences(
        self, before: Sequence[Sequence[Document]], after: Sequence[Sequence[Document]]
    ) -> dict[str, Any]:
        """How far the one are ahead of the others on the test part, by slice."""
        counts = [[sentence_counts(self.test, own) for own in side] for side in (before, after)]
        tests = compare_slices(*([own.slices for own in side] for side in counts))
        return {name: asdict(tests[name]) for name in SLICES}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", required=True, metavar="NAME=DIR")
    parser.add_argument("--types", default="", help="only these, with commas between them")
    parser.add_argument("--preset", default="best")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--teachers", type=int, default=5)
    parser.add_argument("--teacher", type=Path, action="append", metavar="FOLDER")
    parser.add_argument("--students", type=int, default=3)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--work", type=Path, default=Path("runs/distillation"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    given = parser.parse_args(arguments)
    name, _, folder = given.data.partition("=")
    trials = Trials(given, Path(folder))

    teachers = given.teacher or [
        trials.model(f"teacher-{seed}", seed) for seed in range(1, given.teachers + 1)
    ]
    students = [
        trials.model(f"student-{n + 101}", n + 101, teachers) for n in range(given.students)
    ]
    on_test = {own.name: trials.found(own, trials.test) for own in (*teachers, *students)}
    single = [on_test[own.name] for own in teachers]
    learnt = [on_test[own.name] for own in students]
    agreed = voted(single)
    settings = {"preset": given.preset, "set": given.set, "types": given.types}
    told = {
        "settings": settings,
        "signature": sign(trials.test, settings=settings),
        "models": {
            own.name: {
                "dev": trials.scores(trials.found(own, trials.dev), trials.dev),
                "test": trials.scores(on_test[own.name], trials.test),
            }
            for own in (*teachers, *students)
        },
        "agreement": {"test": trials.scores(agreed, trials.test)},
        "ahead": {
            "students": trials.differences(*zip(*product(single, learnt), strict=True)),
            "agreement": trials.differences(single, [agreed] * len(single)),
        },
    }
    given.results.mkdir(parents=True, exist_ok=True)
    path = given.results / f"{name}.json"
    path.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
