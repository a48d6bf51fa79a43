"""Samples of sentences, where a whole corpus would take too many requests."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import zip_longest

from trigner.mentions import Sentence

STRATA = ("with discontinuous mentions", "with continuous mentions only", "without mentions")


def stratum(sentence: Sentence) -> int:
    """Index of the sentence's stratum in `STRATA`, by its gold mentions."""
    if any(mention.is_discontinuous for mention in sentence.mentions):
        return 0
    return 1 if sentence.mentions else 2


def sample(
    sentences: Sequence[Sentence],
    size: int | None = None,
    *,
    stratified: bool = False,
    seed: int = 0,
) -> list[Sentence]:
    """At most `size` sentences, drawn from the three strata in turn, in the order of the corpus.

    With `stratified`, the other two strata are limited to the size of that with discontinuous
    mentions. The draw depends only on the seed and on each sentence's document and index, so a
    smaller sample is part of a larger one. A stratum that runs out leaves its turns to the others.
    """
    strata: list[list[Sentence]] = [[], [], []]
    for sentence in sorted(sentences, key=lambda s: _draw_order(s, seed)):
        strata[stratum(sentence)].append(sentence)
    if stratified:
        strata = [one[: len(strata[0])] for one in strata]
    drawn = [s for turn in zip_longest(*strata) for s in turn if s is not None][:size]
    chosen = {(sentence.document, sentence.index) for sentence in drawn}
    return [s for s in sentences if (s.document, s.index) in chosen]


def _draw_order(sentence: Sentence, seed: int) -> str:
    drawn_by = f"{seed}\0{sentence.document}\0{sentence.index}"
    return hashlib.sha256(drawn_by.encode("utf-8", "surrogatepass")).hexdigest()
