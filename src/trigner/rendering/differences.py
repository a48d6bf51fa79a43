"""A page that shows where two systems differ: gold and both of them, sentence by sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trigner.mentions import Document, Entity, Fragment
from trigner.rendering.html import drawn_entity, page
from trigner.rendering.snippets import snippets

Key = tuple[str, tuple[Fragment, ...]]


def differences_page(
    gold: Sequence[Document],
    systems: Mapping[str, Sequence[Document]],
    *,
    title: str = "Where two systems differ",
) -> str:
    """The sentences in which the two `systems` (name -> documents in the order of gold) differ.

    Those with discontinuous gold come first. Gold is marked by who finds it, what a system finds
    by whether it is right. Raises ValueError unless there are two systems with all documents.
    """
    if len(systems) != 2:
        raise ValueError(f"expected two systems, got {len(systems)}")
    shown: list[dict[str, Any]] = []
    alike = 0
    for document, first, second in zip(gold, *systems.values(), strict=True):
        sides = [_by_key(document, source) for source in (document, first, second)]
        keys = sorted({key for side in sides for key in side if key[1]}, key=lambda k: (k[1], k[0]))
        for snippet in snippets(document, [key[1] for key in keys]).shown:
            here = [keys[member] for member in snippet.members]
            if all((key in sides[1]) == (key in sides[2]) for key in here):
                alike += 1
            else:
                shown.append(
                    _snippet(document, snippet.start, snippet.end, here, sides, list(systems))
                )
    shown.sort(key=lambda snippet: not snippet.pop("discontinuous"))
    return page(
        {
            "mode": "differences",
            "title": title,
            "systems": list(systems),
            "snippets": shown,
            "alike": alike,
        }
    )


def _by_key(document: Document, source: Document) -> dict[Key, Entity]:
    """Entities by key; of several with one key the surest stays."""
    found: dict[Key, Entity] = {}
    for entity in source.entities:
        before = found.setdefault(document.key(entity), entity)
        if (entity.score or 0) > (before.score or 0):
            found[document.key(entity)] = entity
    return found


def _snippet(
    document: Document,
    start: int,
    end: int,
    keys: Sequence[Key],
    sides: Sequence[Mapping[Key, Entity]],
    names: Sequence[str],
) -> dict[str, Any]:
    gold, first, second = sides
    notes = {"both": "found by both", "neither": "found by neither"}
    notes |= {
        mark: f"found by {name}" for mark, name in zip(("first", "second"), names, strict=True)
    }
    outcomes = set()
    drawn: list[list[dict[str, Any]]] = [[], [], []]
    for key in keys:
        found_by = _mark(key in first, key in second)
        if key in gold:
            drawn[0].append(_drawn(document, key, start, None, found_by, notes[found_by]))
            outcomes |= {found_by} & {"first", "second"}
        elif found_by in ("first", "second"):
            outcomes.add("wrong")
        for column, side in ((1, first), (2, second)):
            if key in side:
                mark = "right" if key in gold else "wrong"
                drawn[column].append(_drawn(document, key, start, side[key].score, mark, mark))
    return {
        "document": document.id,
        "start": start,
        "text": document.text[start:end],
        "outcomes": sorted(outcomes),
        "discontinuous": any(len(key[1]) > 1 for key in keys if key in gold),
        "sides": drawn,
    }


def _mark(first: bool, second: bool) -> str:
    if first and second:
        return "both"
    return "first" if first else "second" if second else "neither"


def _drawn(
    document: Document, key: Key, start: int, score: float | None, mark: str, note: str
) -> dict[str, Any]:
    label, fragments = key
    entity = Entity(label, fragments, document.surface(fragments), score)
    return {**drawn_entity(entity, start), "mark": mark, "note": note}
