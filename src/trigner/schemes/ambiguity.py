"""What else tags could mean: all sets of mentions that a scheme writes with the same tags.

After Muis and Lu, Learning to Recognize Discontiguous Entities, 2016: an analysis of schemes whose
encoding loses something, by trying everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np

from trigner.mentions import Mention
from trigner.schemes.biohd import Biohd, Biohd1234
from trigner.schemes.chain import Segment, segments
from trigner.schemes.merging import Kind, words_of
from trigner.schemes.scheme import Tags

MOST_SEGMENTS = 4
"""Heads and parts of one label: their 15 possible mentions make 32,768 sets."""


def consistent_sets(scheme: Biohd | Biohd1234, tags: Tags) -> list[frozenset[Mention]]:
    """The sets of mentions whose encoding is `tags [L]`; empty for tags that nothing encodes to.

    Raises ValueError when a label has more than `MOST_SEGMENTS` heads and parts.
    """
    kinds = (len(scheme.tags) - 1) // 2 // len(scheme.labels)
    of_label: list[list[frozenset[Mention]]] = []
    for place, label in enumerate(scheme.labels):
        own = [s for s in segments(tags.astype(np.int64)) if s.kind // kinds == place]
        plain = frozenset(Mention(words_of(s), label) for s in own if s.kind % kinds == Kind.PLAIN)
        glued = [s for s in own if s.kind % kinds != Kind.PLAIN]
        if len(glued) > MOST_SEGMENTS:
            raise ValueError(f"{len(glued)} heads and parts of {label}: at most {MOST_SEGMENTS}")
        heads = [s.kind % kinds == Kind.HEAD for s in glued]
        of_label.append([plain | found for found in _sets(glued, heads, label)])
    together = (frozenset().union(*sets) for sets in product(*of_label))
    return [s for s in together if (scheme.encode(sorted(s), len(tags)).tags == tags).all()]


def _sets(glued: list[Segment], heads: list[bool], label: str) -> Iterator[frozenset[Mention]]:
    """Sets of mentions in which parts belong to one mention, heads to several."""
    places = range(len(glued))
    possible = [chosen for size in places for chosen in combinations(places, size + 1)]
    for size in range(len(possible) + 1):
        for chosen in combinations(possible, size):
            owners = [sum(place in mention for mention in chosen) for place in places]
            if all(n > 1 if head else n == 1 for n, head in zip(owners, heads, strict=True)):
                yield frozenset(
                    Mention(words_of(*(glued[place] for place in mention)), label)
                    for mention in chosen
                )
