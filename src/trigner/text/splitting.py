"""Raw text into sentences of words."""

from __future__ import annotations

from trigner.mentions import Fragment
from trigner.text.sentences import sentence_ranges
from trigner.text.words import word_ranges


def split(text: str) -> tuple[tuple[Fragment, ...], ...]:
    """Character ranges of the words of `text`, sentence by sentence.

    Every character that is not white space belongs to exactly one word; ranges are strictly
    increasing; there is no empty word and no empty sentence. A sentence's words depend on the
    characters of that sentence only.
    """
    return tuple(
        tuple((start + first, start + last) for first, last in word_ranges(text[start:end]))
        for start, end in sentence_ranges(text)
    )
