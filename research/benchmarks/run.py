"""Every figure of speed and memory: ours, the straightforward formulation, the bare encoder.

    python research/benchmarks/run.py [--quick] [--corpus FOLDER] [--model FOLDER] \
        [--encoder NAME ...] [--only SECTION ... [--update]]

Prints the table and writes it to `research/results/`. `--corpus` is a folder of documents to
extract from, such as spl-adr's test part; without it shipped and made-up sentences are used.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))  # slow, obvious versions
from speed import (
    decoding,
    extraction,
    forward,
    gpu,
    growth,
    made_up,
    precision,
    preparation,
    report,
    running,
    step,
    systems,
)
from speed.figures import Tell
from speed.running import Sections

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # fresh processes are started

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "research/results"
GPU = "gpu"
"""The section that is measured where there is a GPU."""


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    encoders: list[str]
    corpus: Path | None = None
    model: Path | None = None
    sentences: int = 400
    rounds: int = 7
    batch: int = 12
    longest: int = 32
    corpus_sentences: int = 5400
    loop_sentences: int = 540
    lengths: tuple[int, ...] = (16, 32, 64, 128, 256, 400)
    decoded: tuple[int, ...] = (25, 50, 100, 200, 400)
    recursive: tuple[int, ...] = (12, 16)
    corpus_sizes: tuple[int, ...] = (200, 400, 800)
    system_lengths: tuple[int, ...] = (25, 100, 400)
    copies: tuple[int, int] = (1, 10)

    def quick(self) -> Sizes:
        """A fast look: the same figures, with less behind each."""
        return Sizes(
            encoders=self.encoders[:1],
            corpus=self.corpus,
            model=self.model,
            sentences=100,
            rounds=3,
            loop_sentences=108,
            lengths=(16, 64, 400),
            decoded=(50, 400),
            recursive=(12,),
            corpus_sizes=(100, 200),
            system_lengths=(25, 100),
            copies=(1, 3),
        )


def sections(sizes: Sizes, tell: Tell) -> Sections:
    """A further section is one line."""
    s, first = sizes, sizes.encoders[0]
    rounds, step_size = s.rounds, {"size": s.batch, "longest": s.longest}
    return {
        "forward": lambda: forward.measure(
            s.encoders, s.corpus, sentences=s.sentences, rounds=rounds, tell=tell
        ),
        "step": lambda: step.measure(first, **step_size, rounds=rounds, tell=tell),
        "memory": lambda: step.memory_of(first, **step_size, tell=tell),
        "candidates": lambda: extraction.measure(
            sentences=s.corpus_sentences, loops=s.loop_sentences, rounds=rounds, tell=tell
        ),
        "decoding": lambda: decoding.measure(
            lengths=s.decoded, recursive=s.recursive, rounds=rounds, tell=tell
        ),
        "length": lambda: growth.measure(first, lengths=s.lengths, rounds=rounds, tell=tell),
        "corpus": lambda: extraction.corpus_size(first, sizes=s.corpus_sizes, tell=tell),
        "systems": lambda: systems.measure(
            first,
            s.corpus,
            **step_size,
            sentences=s.sentences // 2,
            lengths=s.system_lengths,
            rounds=rounds,
            tell=tell,
        ),
        "preparation": lambda: preparation.measure(first, s.corpus, copies=s.copies, tell=tell),
        "precision": lambda: precision.measure(
            first, s.corpus, s.model, sentences=s.sentences, rounds=rounds, tell=tell
        ),
        GPU: lambda: gpu.measure(
            first, s.corpus, sentences=s.sentences // 4, size=s.batch, rounds=rounds, tell=tell
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fast look, stored apart")
    parser.add_argument("--corpus", type=Path, help="documents to extract from")
    parser.add_argument("--model", type=Path, help="a trained model, for int8's cost in F1")
    parser.add_argument(
        "--encoder",
        action="append",
        help=f"name or folder, may be repeated; the first serves everything ({made_up.MPNET}: "
        "MPNet's shape with random weights). Default: minilm, then mpnet",
    )
    parser.add_argument("--only", nargs="+", default=[], help="only these sections, not stored")
    parser.add_argument(
        "--update", action="store_true", help="store what --only measures beside the other sections"
    )
    parser.add_argument("--threads", type=int, help="default: as many as cores")
    options = parser.parse_args()
    torch.set_num_threads(options.threads or os.cpu_count() or 1)
    sizes = Sizes(options.encoder or ["minilm", made_up.MPNET], options.corpus, options.model)
    if options.update and (options.quick or not options.only):
        parser.error("--update goes with --only, and not with --quick")
    known = sections(sizes, str)
    if unknown := [name for name in options.only if name not in known]:
        parser.error(f"no section {unknown[0]!r}; known are: {', '.join(known)}")
    console = Console()
    begin = time.perf_counter()
    chosen = sizes.quick() if options.quick else sizes
    only = options.only or [own for own in known if own != GPU or torch.cuda.is_available()]
    found = running.measure(lambda tell: sections(chosen, tell), only, console)
    report.show(found, console)
    console.print(f"{time.perf_counter() - begin:.0f} s")
    written = []
    if options.update:
        written = report.update(found, RESULTS)
    elif not options.only:
        written = report.write(found, RESULTS, quick=options.quick, kept=[gpu.TITLE])
    for path in written:
        console.print(f"written: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
