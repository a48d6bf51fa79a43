"""Leaving the first sentences of a corpus out of every count, as one published evaluation does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from trigner.mentions import Document
from trigner.text import sentence_at, sentence_starts


def without_first(documents: Iterable[Document], sentences: int) -> Iterator[Document]:
    """The documents without the entities of their first `sentences` sentences, all together.

    Apply it to gold and to predictions; texts stay whole. TOE's released evaluation counts nothing
    in its first batch of dev and of test: figures made with it can be reproduced that way, and
    nothing else should be.
    """
    left = sentences
    for document in documents:
        if left <= 0:
            yield document
            continue
        starts = sentence_starts(document)
        counted = []
        for entity in document.entities:
            first, *_ = document.merged(entity.fragments) or entity.fragments
            if sentence_at(starts, first[0]) >= left:
                counted.append(entity)
        yield replace(document, entities=tuple(counted))
        left -= len(starts)
