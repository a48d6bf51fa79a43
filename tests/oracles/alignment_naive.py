"""The spelling of a text by words of a sentence, found by trying every choice of words."""

from __future__ import annotations

import re
from itertools import chain, combinations


def spelling(words, text, near):
    """As `trigner.prompting.alignment.spelling`, straight from its description."""
    for pattern in (r"\w+|[^\w\s]", r"\w+"):
        wanted = re.findall(pattern, text.casefold())
        found = []
        for size in range(1, len(wanted) + 1):
            for chosen in combinations(range(len(words)), size):
                parts = [re.findall(pattern, words[word].casefold()) for word in chosen]
                if all(parts) and [*chain(*parts)] == wanted:
                    distance = sum(min([abs(w - i) for i in near], default=0) for w in chosen)
                    found.append((distance, chosen[-1] - chosen[0], chosen))
        if found:
            return min(found)[2]
    return None
