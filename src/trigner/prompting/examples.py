"""Examples for prompts, from the training part: the same for every text, or those most like it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from trigner.errors import InputError
from trigner.mentions import Sentence
from trigner.prompting.prompts import Choice
from trigner.prompting.sampling import sample, stratum

SHORTEST, LONGEST = 5, 40
"""Words of a sentence that may be an example: shorter ones teach little, longer ones cost much."""

K1, B = 1.2, 0.75
"""Saturation of repeated words and weight of the length in BM25 (Robertson & Zaragoza 2009)."""

Chooser = Callable[[Sentence], tuple[Sentence, ...]]
"""A sentence to its examples."""


def chooser(train: Iterable[Sentence], shots: int, choice: Choice, *, seed: int = 0) -> Chooser:
    """How examples are chosen.

    `fixed`: one with discontinuous mentions, then one with continuous ones only, then one without,
    and so on, drawn by seed. `similar`: the most alike by BM25 over the words, of the sentences
    that have mentions. A sentence of the very words that are asked about is never its own example.
    Raises InputError when the training part has too few sentences that fit.
    """
    if shots == 0:
        return lambda _: ()
    fitting = {s.words: s for s in train if SHORTEST <= len(s.words) <= LONGEST}
    ranked = _fixed([*fitting.values()], shots, seed) if choice == "fixed" else None
    if ranked is None:
        ranked = _similar([s for s in fitting.values() if s.mentions], shots)

    def choose(sentence: Sentence) -> tuple[Sentence, ...]:
        others = [example for example in ranked(sentence) if example.words != sentence.words]
        if len(others) < shots:
            raise InputError(
                f"{shots} examples are asked for, and the training part has {len(others)} sentences"
                f" that fit ({SHORTEST} to {LONGEST} words, other than the text itself)"
            )
        return tuple(others[:shots])

    return choose


def _fixed(sentences: Sequence[Sentence], shots: int, seed: int) -> Chooser:
    first = sorted(sample(sentences, shots, seed=seed), key=stratum)
    # For the texts that are among the examples themselves.
    spare = [s for s in sample(sentences, shots + 1, seed=seed) if s not in first]
    examples = (*first, *spare)
    return lambda _: examples


def _similar(sentences: Sequence[Sentence], shots: int) -> Chooser:
    index = Bm25([s.words for s in sentences])
    return lambda sentence: tuple(sentences[i] for i in index.best(sentence.words, shots + 1))


class Bm25:
    """Texts of words, to be ranked by how much they have in common with another; case is ignored.

    The score of a text is the sum over the distinct words `w` of the other one of
    `ln(1 + (N - n_w + 0.5) / (n_w + 0.5)) * f (K1 + 1) / (f + K1 (1 - B + B l / mean l))`, with
    `f` times `w` in the text of `l` words and `n_w` of the `N` texts having it.
    """

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._size = len(texts)
        mean = sum(map(len, texts)) / len(texts) if texts else 0.0
        self._weights: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, words in enumerate(texts):
            for word, f in Counter(map(str.casefold, words)).items():
                length = K1 * (1 - B + B * len(words) / mean)
                self._weights[word].append((number, f * (K1 + 1) / (f + length)))

    def best(self, words: Sequence[str], number: int) -> list[int]:
        """Indices of the texts most alike, best first; of equal ones the earlier first."""
        scores = [0.0] * self._size
        for word in sorted(set(map(str.casefold, words))):
            having = self._weights.get(word, [])
            rarity = math.log(1 + (self._size - len(having) + 0.5) / (len(having) + 0.5))
            for text, weight in having:
                scores[text] += rarity * weight
        return sorted(range(self._size), key=lambda text: (-scores[text], text))[:number]
