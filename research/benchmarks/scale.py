"""Rows a second and memory of `extract`, `annotate` and Spark; many rows, and a kill among them.

    python research/benchmarks/scale.py [--quick] [--corpus FOLDER] [--rows N] [--many N]
                               [--model FOLDER] [--many-model FOLDER]

Prints the table and writes it to `research/results/scale.md`. `--corpus` is a folder with .txt
files at any depth, of which sentences are taken, and may be repeated; without it they are those of
the shipped corpus. The many rows are read by a tiny model, unless `--many-model` names another:
what is measured with them does not depend on it.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))  # the tiny model
from speed import kill, on_paper, report, running, scale
from speed.figures import Figure, Section, Tell
from speed.running import Sections
from speed.scale import Measured
from speed.short_texts import short_texts

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # fresh processes are started
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "research/results"
MINUTES = 15

HEAD = """# Any number of documents

The same short documents through `extract`, `annotate` with one and two workers, and Spark; many
more through `annotate`, once in peace and once with a kill. Made by `make bench-scale`. Every
figure is of one run; ratios are of runs one after the other on the same machine.
"""


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    corpora: tuple[Path, ...] = ()
    model: str = "bundled"
    many_model: str | None = None
    rows: int = 20_000
    many: int = 200_000
    workers: tuple[int, ...] = (1, 2)
    spark: bool = True
    longest: int = 12
    many_longest: int = 8
    parts: int = 100_000

    def quick(self) -> Sizes:
        """A fast look: a tenth of the rows."""
        return replace(self, rows=self.rows // 10, many=self.many // 10, parts=self.parts // 10)


def sections(sizes: Sizes, folder: Path, tell: Tell) -> Sections:
    """Name -> what measures it; all are needed for the last."""
    found: dict[str, Measured] = {}
    many: list[kill.Many] = []

    def rates() -> Section:
        section, measured = scale.measure(
            short_texts(sizes.corpora, sizes.longest),
            sizes.rows,
            sizes.model,
            folder,
            workers=sizes.workers,
            spark=sizes.spark,
            tell=tell,
        )
        found.update(measured)
        return section

    def long_job() -> Section:
        section, measured = kill.measure(
            short_texts(sizes.corpora, sizes.many_longest),
            sizes.rows,
            sizes.many,
            sizes.many_model or _tiny_model(folder),
            folder,
            workers=max(sizes.workers),
            named=sizes.many_model or "a tiny one that is not trained and finds several a sentence",
            tell=tell,
        )
        many.append(measured)
        return section

    def paper() -> Section:
        one = found[scale.annotate_name(min(sizes.workers))]
        return on_paper.measure(one, many[0], parts=sizes.parts, tell=tell)

    return {"rates": rates, "many": long_job, "paper": paper}


def _tiny_model(folder: Path) -> str:
    from tiny_models import export, tiny_model

    return str(export(tiny_model(folder / "encoder"), folder / "tiny"))


def whole(seconds: float, sizes: Sizes) -> Section:
    """How long all of it took."""
    return Section(
        "The benchmark itself",
        [
            Figure(
                "all of it",
                f"{seconds / 60:.1f} minutes",
                f"≤ {MINUTES} minutes",
                seconds <= 60 * MINUTES,
                seconds,
                f"{sizes.rows:,} rows by each set-up, {sizes.many:,} by annotate",
            )
        ],
        ["The rows have few words so that it ends in this time on two cores."],
    )


def main(given: Sequence[str] | None = None, results: Path = RESULTS) -> None:
    standard = Sizes()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fast look, stored apart")
    parser.add_argument(
        "--corpus", action="append", type=Path, default=[], help="with .txt files; may be repeated"
    )
    parser.add_argument("--model", default=standard.model, help="that all set-ups have")
    parser.add_argument("--many-model", help="for the many rows; default: a tiny one")
    for name, what in (
        ("rows", "documents for every set-up"),
        ("many", "documents for annotate, with a kill among them"),
        ("longest", "words of a document at most"),
        ("many-longest", "words of one of the many at most"),
        ("parts", "of the job that is gone on with"),
    ):
        value = getattr(standard, name.replace("-", "_"))
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"{what} ({value:,})")
    parser.add_argument(
        "--workers", type=int, nargs="+", default=standard.workers, help="of annotate (1 2)"
    )
    parser.add_argument("--no-spark", dest="spark", action="store_false", help="leave Spark out")
    options = vars(parser.parse_args(given))
    quick, corpora = options.pop("quick"), tuple(options.pop("corpus"))
    chosen = standard.quick() if quick else standard
    sizes = replace(chosen, corpora=corpora, **{k: v for k, v in options.items() if v is not None})
    if absent := [folder for folder in corpora if not folder.is_dir()]:
        parser.error(f"no folder {absent[0]}")
    # What is being watched ends with this process, also when a time limit ends it.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    torch.set_num_threads(1)  # as many as a worker has: the table names them
    console = Console()
    begin = time.perf_counter()
    with TemporaryDirectory() as folder:
        found = running.measure(lambda tell: sections(sizes, Path(folder), tell), [], console)
    found.append(whole(time.perf_counter() - begin, sizes))
    report.show(found, console)
    for path in report.write(found, results, quick=quick, name="scale", head=HEAD):
        console.print(f"written: {path}")


if __name__ == "__main__":
    main()
