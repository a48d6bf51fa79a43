"""How much work a request is, found before any of it is done."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import HTTPException

from trigner.serving.batching import group_by_length
from trigner.serving.settings import ServiceSettings
from trigner.text import sentence_words

SHORTEST = 8
"""Words that a sentence counts as at least: one of two words takes as long as these do."""


def check_texts(texts: Sequence[str], settings: ServiceSettings) -> None:
    """Raises HTTPException (413) for too many texts, and for a text that is too long."""
    if len(texts) > settings.max_texts:
        raise HTTPException(413, f"more than {settings.max_texts} texts in one request")
    for number, text in enumerate(texts, 1):
        if len(text) > settings.max_characters:
            name = _name(number, len(texts))
            raise HTTPException(413, f"{name} is longer than {settings.max_characters} characters")


def check_sentences(texts: Sequence[str], settings: ServiceSettings) -> None:
    """Raises HTTPException (413) for a sentence that is too long, and for too many words or cells.

    Texts are read sentence by sentence, and no further than to where it is clear.
    """
    lengths: list[int] = []
    cells = counted = 0
    for number, text in enumerate(texts, 1):
        for words in sentence_words(text):
            if len(words) > settings.max_words:
                raise HTTPException(
                    413,
                    f"{_name(number, len(texts))} has a sentence of more than {settings.max_words}"
                    f" words, at character {words[0][0]}: end sentences with full stops or blank"
                    " lines",
                )
            lengths.append(len(words))
            counted += max(SHORTEST, len(words))
            if counted > settings.max_request_words:
                raise HTTPException(
                    413,
                    f"the request has more than {settings.max_request_words} words (a sentence"
                    f" counts as {SHORTEST} at least): send less text at a time",
                )
            cells += len(words) ** 2
            if cells > settings.max_cells:
                raise _too_many_cells(settings)
    if padded_cells(lengths) > settings.max_cells:
        raise _too_many_cells(settings)


def _too_many_cells(settings: ServiceSettings) -> HTTPException:
    limit = settings.max_cells
    message = f"the sentences of the request have more than {limit} word pairs"
    return HTTPException(413, f"{message}: send less text at a time")


def padded_cells(lengths: Sequence[int]) -> int:
    """Word pairs of sentences of so many words, padded to the longest of each group."""
    groups = group_by_length(lengths)
    return sum(len(group) * lengths[group[-1]] ** 2 for group in groups)


def _name(number: int, count: int) -> str:
    return f"text {number} of {count}" if count > 1 else "the text"
