"""A sentence with the words around it as subwords, tokenized anew for every word left out."""

from __future__ import annotations

from collections.abc import Sequence

from trigner.batches.subwords import SubwordTokenizer


def ids_in_context(
    tokenizer: SubwordTokenizer,
    left: Sequence[str],
    words: Sequence[str],
    right: Sequence[str],
    *,
    separator: str,
    limit: int,
) -> tuple[list[int], int]:
    """The subwords' ids, at most `limit`, and how many words stand before the sentence's own."""
    left, right = [*left], [*right]

    def encoded(words: Sequence[str]) -> list[int]:
        (subwords,) = tokenizer([words])
        return subwords.ids.tolist()

    while True:
        before = [*left, separator] if left else []
        behind = [separator, *right] if right else []
        ids = encoded([*before, *words, *behind])
        if len(ids) <= limit or not (left or right):
            return ids, len(before)
        if left and (not right or len(encoded(before)) > len(encoded(behind))):
            del left[0]
        else:
            del right[-1]
