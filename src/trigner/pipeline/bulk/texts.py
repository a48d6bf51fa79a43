"""Many values at once that should be texts: what was found in each, or why nothing could be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from trigner.errors import LONGEST, InputError
from trigner.mentions import Document, Entity
from trigner.pipeline import Extracted, Extractor, RunStatistics, refuse_tables

TOGETHER = 64
"""Texts that are read together: should one fail, no more than these are read again, each alone."""

MOST_CHARACTERS = 10_000_000
"""Of a text; a longer one is an error of its row."""


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """The entities of a text as tables have them (`tables.ENTITIES`), or why there are none."""

    entities: list[dict[str, Any]] | None
    error: str | None = None


def annotate_texts(
    extractor: Extractor, texts: Sequence[object], *, most_characters: int = MOST_CHARACTERS
) -> tuple[list[AnnotatedText], RunStatistics]:
    """What is found in each text, in order, whatever the others are.

    Raises InputError for a table, as texts are one of its columns, and for an extractor with
    annotators, whose fields tables have no column for.
    """
    refuse_tables(texts)
    if extractor.annotators:
        raise InputError(
            "a table has no column for what annotators give (qualifiers, codes): load the model"
            " without them, or call it with the texts"
        )
    statistics = RunStatistics()
    annotated: list[AnnotatedText] = []
    for start in range(0, len(texts), TOGETHER):
        values = texts[start : start + TOGETHER]
        refused = [why_not(value, most_characters) for value in values]
        documents = [
            Document(str(n), str(value))
            for n, (value, reason) in enumerate(zip(values, refused, strict=True))
            if reason is None
        ]
        found, own = extractor.batch(documents)
        statistics.add(own)
        results = iter(found)
        annotated += [
            AnnotatedText(None, reason) if reason is not None else _annotated(next(results))
            for reason in refused
        ]
    return annotated, statistics


def why_not(value: object, most_characters: int) -> str | None:
    """Why nothing can be found in a value, None when it is a text."""
    if (
        value is None
        or (isinstance(value, float) and isnan(value))
        or repr(value) in ("<NA>", "NaT")
    ):
        return "the text is null"  # pandas has the others in place of None
    if not isinstance(value, str):
        return f"the text is of type {type(value).__name__}, not a string"
    if len(value) > most_characters:
        return f"the text has {len(value):,} characters, of {most_characters:,} at most"
    bad = why_not_unicode(value)
    return None if bad is None else f"the text {bad}"


def why_not_unicode(text: str) -> str | None:
    """What is wrong with the characters of a string, None when it can be written as UTF-8.

    Bytes that are not UTF-8 are expected as Python's `surrogateescape` decodes them.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        if "\udc80" <= text[error.start] <= "\udcff":
            return "is not UTF-8"
        return "has a lone surrogate (half a character)"
    return None


def _annotated(found: Extracted) -> AnnotatedText:
    if found.document is None:
        # A message may quote the text.
        reason = (found.error or "")[:LONGEST].encode("utf-8", "replace").decode("utf-8")
        return AnnotatedText(None, reason)
    return AnnotatedText([_as_struct(entity) for entity in found.document.entities])


def _as_struct(entity: Entity) -> dict[str, Any]:
    fragments = [{"start": start, "end": end} for start, end in entity.fragments]
    return {
        "label": entity.label,
        "fragments": fragments,
        "text": entity.text,
        "score": entity.score,
    }
