"""Selection, loss and gradients of a batch of sentences, against loops over triplets.

    python research/benchmarks/triplet_loss.py [--sentences 12] [--words 32] [--long 0] \
        [--repeat 20]

Every sentence is made up and has two entities; `--long 200` makes the first one that long, with
twelve entities. The vectors have 3 dimensions (logits) and 512 (pair states). Window 25, preset
paper.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from trigner.training.settings import resolve
from trigner.triplets import candidates
from trigner.triplets.batch import collate
from trigner.triplets.loss import TripletLoss
from trigner.triplets.selection import SELECTIONS

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from oracles.triplets_naive import naive_candidates, naive_loss, naive_triplets


def milliseconds(work: Callable[[], object], repeat: int) -> list[float]:
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        taken.append(1000 * (time.perf_counter() - begin))
    return taken


def spread(taken: list[float]) -> str:
    return f"{statistics.median(taken):8.2f} ms (from {min(taken):.2f} to {max(taken):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=12)
    parser.add_argument("--words", type=int, default=32)
    parser.add_argument("--long", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--seed", type=int, default=123)
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    torch.manual_seed(options.seed)
    lengths = [options.words] * options.sentences
    counts = [2] * options.sentences
    if options.long:
        lengths[0], counts[0] = options.long, 12
    corpus = []
    for length, count in zip(lengths, counts, strict=True):
        starts = random.integers(0, length - 4, count).tolist()
        corpus.append(([tuple(range(start, start + 4)) for start in starts], length))
    settings = resolve(preset="paper").triplets
    found = [candidates(mentions, length, settings) for mentions, length in corpus]
    named = [naive_candidates(mentions, length, settings) for mentions, length in corpus]
    batch = collate(found)
    print(f"collate {spread(milliseconds(lambda: collate(found), options.repeat))}")
    print(f"{len(batch.rows)} cells, {len(batch.anchors)} anchors, {len(batch.pair_cells)} pairs")

    size = max(lengths) + 2
    for width in (3, 512):
        grids = [torch.randn(length + 2, length + 2, width) for length in lengths]
        grid = torch.zeros(len(grids), size, size, width)
        for padded, own in zip(grid, grids, strict=True):
            padded[: len(own), : len(own)] = own
        states = grid[batch.sentences, batch.rows, batch.columns].requires_grad_()
        del grid
        for number, name in enumerate(SELECTIONS):
            loss = TripletLoss(name)
            ours = milliseconds(lambda: loss(states, batch).loss.backward(), options.repeat)  # noqa: B023
            line = f"{width:4} {name:6} {spread(ours)}"
            # The loops take long: one width, without gradients.
            if number < 4 and width == 3:
                naive = milliseconds(
                    lambda: naive_loss(
                        naive_triplets(grids, named, name, 1.0),  # noqa: B023
                        1.0,
                        "mean_violating",
                    ),
                    1,
                )
                ratio = naive[0] / statistics.median(ours)
                line += f"   loops, no gradients {naive[0]:9.1f} ms, ratio {ratio:.0f}"
            print(line)


if __name__ == "__main__":
    main()
