"""Words of a sentence that make up a text, found by trying every choice of words."""

from __future__ import annotations

import re
from itertools import chain, combinations

CUTS = (r"\w+|[^\w\s]", r"\w+")
"""Words with marks of punctuation, and without."""


def find_text(words, text, near):
    """As `trigner.lab.prompting.alignment.find_text`, straight from its description."""
    for cut in CUTS:
        found = []
        for chosen in matches(words, text, cut):
            distance = sum(min([abs(w - i) for i in near], default=0) for w in chosen)
            found.append((distance, chosen[-1] - chosen[0], chosen))
        if found:
            return min(found)[2]
    return None


def matches(words, text, cut):
    """Every choice of words, in order, that is the text."""
    wanted = re.findall(cut, text.casefold())
    for size in range(1, len(wanted) + 1):
        for chosen in combinations(range(len(words)), size):
            parts = [re.findall(cut, words[word].casefold()) for word in chosen]
            if all(parts) and [*chain(*parts)] == wanted:
                yield chosen


def reachable(words, indices, text):
    """The words that an item may stand for: those at its indices, and all that spell its text."""
    found = set()
    if indices is not None and all(0 <= index < len(words) for index in indices):
        found.add(tuple(sorted(set(indices))))
    if text is not None:
        found.update(*(matches(words, text, cut) for cut in CUTS))
    return found
