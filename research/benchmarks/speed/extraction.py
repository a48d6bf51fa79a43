"""Candidate extraction by window, against plain loops; extraction from corpora of several sizes."""

from __future__ import annotations

import numpy as np
import torch
from candidates import Words, made_up_corpus

from oracles.triplets_naive import Found, naive_candidates
from speed import made_up
from speed.figures import (
    Figure,
    Section,
    Tell,
    at_least,
    in_turns,
    ratios,
    seconds,
    spread,
    told,
)
from trigner.families.tagging.predictor import TagPredictor
from trigner.pipeline.extraction import Extractor
from trigner.training.settings import resolve
from trigner.triplets import candidates
from trigner.triplets.candidates import Candidates

PAPER = resolve(preset="paper").triplets
WINDOWS = (None, 1, 5, 10, 15, 20, 25)
Corpus = list[tuple[list[Words], int]]


def measure(*, sentences: int, loops: int, rounds: int, tell: Tell) -> Section:
    """Ours at every window; the loops at 25, on `loops` sentences."""
    corpus = made_up_corpus(sentences, 123)
    settings = PAPER.model_copy(update={"window": 25})
    every = max(1, sentences // loops)
    # The longest sentence comes first: leave it out, as each sentence counts `every` times.
    part = corpus[every // 2 :: every]
    tell("candidates, plain loops")
    same(part[: len(part) // 4], settings)
    both = {"ours": lambda: _all(part, settings), "loops": lambda: _loops(part, settings)}
    taken = in_turns(both, 3)
    slow = spread([t * len(corpus) / len(part) for t in taken["loops"]])
    section = Section(
        "Candidate extraction",
        notes=[
            f"{sentences} made-up sentences like CADEC's training split "
            f"({np.mean([n for _, n in corpus]):.1f} words on average, the longest 200), preset "
            f"paper. Loops over cells on every {every}. sentence, extrapolated; equal to ours on "
            f"{len(part) // 4} of them.",
        ],
        figures=[
            at_least("window 25: loops to ours", 50, ratios(taken["loops"], taken["ours"])),
            Figure(
                "loops, window 25",
                f"{slow.median:.1f} s ({slow.low:.1f} to {slow.high:.1f})",
                "≤ 109 s",
                slow.median <= 109,
                slow.median,
                "extrapolated; 91 s was measured before",
            ),
        ],
    )
    for window in WINDOWS:
        tell(f"candidates, window {window}")
        own = PAPER.model_copy(update={"window": window})
        found = spread([seconds(lambda o=own: _all(corpus, o)) for _ in range(rounds)])
        section.figures.append(told(f"ours, window {window or 'none'}", found))
    return section


def _all(corpus: Corpus, settings: object) -> list[Candidates]:
    return [candidates(mentions, length, settings) for mentions, length in corpus]


def _loops(corpus: Corpus, settings: object) -> list[Found]:
    return [naive_candidates(mentions, length, settings) for mentions, length in corpus]


def same(corpus: Corpus, settings: object) -> None:
    """Raises unless both give the same anchors, positives and negatives."""
    for (mentions, length), loops in zip(corpus, _loops(corpus, settings), strict=True):
        found = candidates(mentions, length, settings)
        cells = [tuple(cell) for cell in found.cells.tolist()]
        ours = {
            cells[anchor]: (
                {cells[cell] for number, cell in found.positives.tolist() if number == place},
                {cells[cell] for cell in np.flatnonzero(found.negatives[place])},
            )
            for place, anchor in enumerate(found.anchors)
        }
        theirs = {a: (set(near), set(far)) for a, (near, far) in loops.items() if near}
        if ours != theirs:
            raise SystemExit(f"candidates differ from the loops' for {mentions}, {length} words")


def corpus_size(encoder: str, *, sizes: tuple[int, ...], tell: Tell) -> Section:
    """Sentences a second from words to mentions: steady, however many there are."""
    model = made_up.model(encoder)
    # What no training has shaped finds mentions everywhere: an extreme, not the rule.
    torch.nn.init.zeros_(model.tagger.co_predictor.grid.output.weight)
    torch.nn.init.zeros_(model.tagger.co_predictor.pairs.output.weight)
    model.tagger.co_predictor.grid.output.bias.data[0] = 10.0
    section = Section(
        "Extraction by size of corpus",
        notes=[
            "From ready words to mentions (subwords, batches, forward pass, decoding), float32."
        ],
    )
    random = np.random.default_rng(7)

    @torch.inference_mode()
    def scorer(batch: object) -> np.ndarray:
        return model.tagger(**made_up.inputs(batch)).logits.numpy()

    predictor = TagPredictor(scorer, model.scheme, inputs=model.inputs)
    extractor = Extractor(predictor, model.scheme.name)
    lengths = np.clip(np.rint(random.lognormal(2.6, 0.7, max(sizes))), 1, 60).astype(int)
    sentences = made_up.sentences(lengths.tolist(), 8)
    works = {str(size): lambda size=size: extractor.predictions(sentences[:size]) for size in sizes}
    tell("extraction by size of corpus")
    for size, taken in in_turns(works, 3).items():
        rate = spread([int(size) / t for t in taken])
        section.figures.append(
            Figure(
                f"{size} sentences",
                f"{rate.median:.0f} sentences a second ({rate.low:.0f} to {rate.high:.0f})",
                value=rate.median,
            )
        )
    return section
