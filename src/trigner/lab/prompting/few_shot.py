"""Few-shot examples from the training data: the same for every text, or those most like it."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence

from trigner.errors import InputError
from trigner.lab.prompting.prompts import ExampleChoice
from trigner.lab.prompting.sampling import sample, stratum
from trigner.mentions import Sentence

SHORTEST, LONGEST = 5, 40
"""Words in an example: shorter sentences teach little, longer ones cost many tokens."""

K1, B = 1.2, 0.75
"""BM25: term-frequency saturation and length normalisation (Robertson & Zaragoza 2009)."""

FewShotExamples = Callable[[Sentence], tuple[Sentence, ...]]
"""A sentence to its examples."""


def few_shot_examples(
    train: Iterable[Sentence], shots: int, choice: ExampleChoice, *, seed: int = 0
) -> FewShotExamples:
    """A function that gives each sentence its `shots` examples.

    `fixed`: drawn by seed, first one with discontinuous mentions, then one with continuous
    mentions only, then one without mentions, and so on. `similar`: those most similar by BM25 over
    words, among sentences with mentions. A sentence is never its own example, nor is one of the
    same words. Raises InputError when too few training sentences qualify.
    """
    if shots == 0:
        return lambda _: ()
    candidates = [*{s.words: s for s in train if SHORTEST <= len(s.words) <= LONGEST}.values()]
    if choice == "fixed":
        ranked = _fixed(candidates, shots, seed)
    else:
        ranked = _similar([s for s in candidates if s.mentions], shots)

    def examples_of(sentence: Sentence) -> tuple[Sentence, ...]:
        others = [example for example in ranked(sentence) if example.words != sentence.words]
        if len(others) < shots:
            raise InputError(
                f"cannot choose {shots} examples: only {len(others)} training sentences qualify"
                f" ({SHORTEST} to {LONGEST} words, other than the text itself)"
            )
        return tuple(others[:shots])

    return examples_of


def _fixed(sentences: Sequence[Sentence], shots: int, seed: int) -> FewShotExamples:
    first = sorted(sample(sentences, shots, seed=seed), key=stratum)
    # The spare one replaces an example for a text that is itself among the examples.
    spare = [s for s in sample(sentences, shots + 1, seed=seed) if s not in first]
    examples = (*first, *spare)
    return lambda _: examples


def _similar(sentences: Sequence[Sentence], shots: int) -> FewShotExamples:
    index = Bm25([s.words for s in sentences])
    return lambda sentence: tuple(sentences[i] for i in index.best(sentence.words, shots + 1))


class Bm25:
    """An index of texts that ranks them by similarity to a query of words; case is ignored.

    The score of a text is the sum over the distinct words `w` of the query of
    `ln(1 + (N - n_w + 0.5) / (n_w + 0.5)) * f (K1 + 1) / (f + K1 (1 - B + B l / mean l))`, with
    `w` occurring `f` times in the text of `l` words and in `n_w` of the `N` texts.
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
        """Indices of the most similar texts, best first; among equals the earlier first."""
        scores = [0.0] * self._size
        for word in sorted(set(map(str.casefold, words))):
            having = self._weights.get(word, [])
            idf = math.log(1 + (self._size - len(having) + 0.5) / (len(having) + 0.5))
            for text, weight in having:
                scores[text] += idf * weight
        return sorted(range(self._size), key=lambda text: (-scores[text], text))[:number]
