"""Entities to words character by character: the definition, written out."""

from __future__ import annotations

from collections.abc import Sequence

from trigner.mentions import Document, Entity, Fragment, Mention


def place_naive(
    document: Document, sentences: Sequence[Sequence[Fragment]], entity: Entity
) -> tuple[int, Mention] | str:
    """Sentence and mention of an entity of a raw text, or why there is none."""
    marked = {
        at
        for start, end in entity.fragments
        for at in range(start, end)
        if not document.text[at].isspace()
    }
    if not marked:
        return "empty"
    touched = {
        index
        for index, words in enumerate(sentences)
        if any(at in marked for start, end in words for at in range(start, end))
    }
    if len(touched) > 1:
        return "crosses a sentence boundary"
    (index,) = touched
    chosen = []
    for number, (start, end) in enumerate(sentences[index]):
        inside = [at in marked for at in range(start, end)]
        if any(inside):
            if not all(inside):
                return "not aligned to words"
            chosen.append(number)
    return index, Mention(tuple(chosen), entity.label)
