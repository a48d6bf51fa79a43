"""Raw text into sentences of words."""

from __future__ import annotations

from trigner.mentions import Fragment
from trigner.text.sentences import sentence_words


def split(text: str) -> tuple[tuple[Fragment, ...], ...]:
    """Character ranges of the words of `text`, sentence by sentence.

    Every character that is not white space belongs to exactly one word; ranges are strictly
    increasing; there is no empty word and no empty sentence. The same text always gives the same
    words, and a sentence's words do not depend on other sentences.
    """
    return tuple(sentence_words(text))
