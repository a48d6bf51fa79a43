"""Well-formed outputs of pointers and types, written down one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from trigner.mentions import Mention


def all_mentions(length: int, labels: Sequence[str]) -> list[Mention]:
    """Every mention of a sentence of so many words, by its words and then the order of types."""
    subsets = (w for n in range(1, length + 1) for w in combinations(range(length), n))
    return [Mention(words, label) for words in sorted(subsets) for label in labels]


def written(
    mention: Mention, labels: Sequence[str], counts: Sequence[int], representation: str
) -> tuple[int, ...]:
    """The tokens of one mention, as the paper's section 3.2 lists them.

    `counts` are the subwords of each word. Pointers are counted over the words (`word`), over the
    words' beginnings and ends (`span`), or over all subwords (`bpe`).
    """
    if representation == "word":
        targets = list(mention.words)
    elif representation == "span":
        targets = [t for first, last in mention.segments for t in (2 * first, 2 * last + 1)]
    else:
        sizes = [max(1, count) for count in counts]
        targets = [sum(sizes[:w]) + k for w in mention.words for k in range(sizes[w])]
    return (*(2 + len(labels) + t for t in targets), 2 + labels.index(mention.label))


def increasing_outputs(
    length: int, labels: Sequence[str], counts: Sequence[int], representation: str, most: int
) -> Iterator[tuple[int, ...]]:
    """Every output of at most so many mentions, each after the one before, `END` included."""
    mentions = all_mentions(length, labels)
    for n in range(most + 1):
        for chosen in combinations(mentions, n):
            tokens = (t for m in chosen for t in written(m, labels, counts, representation))
            yield (*tokens, 1)
