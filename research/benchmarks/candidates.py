"""Candidate extraction: all cells of a sentence at once, against loops over cells.

    python research/benchmarks/candidates.py [--sentences 5400] [--window 25] [--preset clean|paper]
                                    [--repeat 5] [--naive-sentences 540] [--seed 123]

The corpus is made up, of the size of CADEC's training split: sentences of 17 words on average, the
longest 200, 0.8 entities a sentence, about 20,000 anchors. The loops, written plainly from the
paper's definitions, run on every n-th sentence only; times are for the whole corpus.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from trigner.training.settings import resolve
from trigner.triplets import candidates

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from oracles.triplets_naive import naive_candidates

Words = tuple[int, ...]


def made_up_corpus(sentences: int, seed: int) -> list[tuple[list[Words], int]]:
    """Mentions and length of each sentence."""
    random = np.random.default_rng(seed)
    lengths = np.clip(np.rint(random.lognormal(2.6, 0.7, sentences)), 1, 200).astype(int)
    lengths[0] = 200
    corpus = []
    for length in lengths:
        # Long sentences hold more entities.
        count = random.poisson(0.8 * length / lengths.mean())
        corpus.append(([mention(random, int(length)) for _ in range(count)], int(length)))
    return corpus


def mention(random: np.random.Generator, length: int) -> Words:
    """One to twenty words, three in ten have one, one in ten has a gap."""
    words = 1 if random.random() < 0.3 else min(length, 20, 1 + int(random.geometric(0.38)))
    gap = int(random.integers(1, 6)) if words > 1 and random.random() < 0.1 else 0
    gap = min(gap, length - words)
    start = int(random.integers(0, length - words - gap + 1))
    after = int(random.integers(1, words)) if gap else words
    return tuple(start + w + (gap if w >= after else 0) for w in range(words))


def seconds(work: Callable[[], object], repeat: int) -> list[float]:
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return taken


def spread(taken: Sequence[float]) -> str:
    return f"{statistics.median(taken):.2f} s (from {min(taken):.2f} to {max(taken):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=5400)
    parser.add_argument("--window", type=int, default=25)
    parser.add_argument("--preset", choices=["clean", "paper"], default="paper")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--naive-sentences", type=int, default=540)
    parser.add_argument("--seed", type=int, default=123)
    options = parser.parse_args()
    settings = resolve(
        preset=options.preset, assignments=[f"triplets.window={options.window}"]
    ).triplets
    corpus = made_up_corpus(options.sentences, options.seed)

    found = [candidates(mentions, length, settings) for mentions, length in corpus]
    lengths = [length for _, length in corpus]
    print(
        f"{len(corpus)} sentences, {np.mean(lengths):.1f} words on average, longest {max(lengths)},"
        f" {sum(len(m) for m, _ in corpus)} entities;"
        f" {sum(len(c.anchors) for c in found)} anchors that take part in a triplet,"
        f" {sum(len(c.positives) for c in found):,} anchor-positive and"
        f" {sum(int(c.negatives.sum()) for c in found):,} anchor-negative pairs"
    )
    masks = sum(c.negatives.nbytes for c in found)
    pairs = sum(4 * int(c.negatives.sum()) for c in found)
    print(f"negatives held: {masks / 1e6:.1f} MB as masks ({pairs / 1e6:.1f} MB as index lists)")

    ours = seconds(lambda: [candidates(m, n, settings) for m, n in corpus], options.repeat)
    every = max(1, len(corpus) // options.naive_sentences)
    # The longest sentence comes first: leave it out, as each sentence counts `every` times.
    part = corpus[every // 2 :: every]
    scale = len(corpus) / len(part)
    naive = seconds(lambda: [naive_candidates(m, n, settings) for m, n in part], 3)
    naive = [scale * t for t in naive]
    own_part = seconds(lambda: [candidates(m, n, settings) for m, n in part], options.repeat)
    ratio = statistics.median(naive) / scale / statistics.median(own_part)
    each = 1000 * statistics.median(ours) / len(corpus)
    print(f"trigner  {spread(ours)}, {each:.3f} ms a sentence")
    print(f"loops    {spread(naive)}, from {len(part)} sentences")
    print(f"ratio    {ratio:.0f} on the same {len(part)} sentences")


if __name__ == "__main__":
    main()
