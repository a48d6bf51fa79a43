"""A document as notebooks show it: plain HTML, no script, text stays text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html import escape
from itertools import pairwise

from trigner.machine import counted
from trigner.mentions import Document, Entity

CHARACTERS, ENTITIES = 5_000, 200
"""How much of a document is shown at most."""

_COLOURS = ("#f9a82566", "#42a5f566", "#66bb6a66", "#ab47bc66", "#ef535066", "#26a69a66")


def register() -> None:
    """Let the notebook that this process works for, if any, show documents as `document_html`."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None:
        shell.display_formatter.formatters["text/html"].for_type(Document, document_html)


def document_html(document: Document) -> str:
    """The text with its entities marked and numbered, and a table of them; what is not shown is
    counted."""
    shown = document.entities[:ENTITIES]
    labels = list(dict.fromkeys(entity.label for entity in document.entities))
    colours = {label: _COLOURS[n % len(_COLOURS)] for n, label in enumerate(labels)}
    text = "".join(_marked(document.text[:CHARACTERS], shown, colours))
    rows = "".join(_row(number, entity) for number, entity in enumerate(shown, 1))
    head = "<tr><th></th><th>label</th><th>text</th><th>score</th></tr>"
    left = [
        f"{more:,} more {what}"
        for more, what in (
            (len(document.text) - CHARACTERS, "characters"),
            (len(document.entities) - ENTITIES, "entities"),
        )
        if more > 0
    ]
    page = (
        f'<div style="white-space: pre-wrap">{text}</div>'
        f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
        f"<p>{escape(', '.join(left) or counted(len(shown), 'entity', 'entities'))}</p>"
    )
    # Half a character, a lone surrogate, is no UTF-8, in which notebooks send what they show.
    return page.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _marked(text: str, entities: tuple[Entity, ...], colours: dict[str, str]) -> Iterator[str]:
    """The pieces of the text between any two bounds of fragments, marked by who covers them."""
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for number, entity in enumerate(entities):
        for start, end in entity.fragments:
            if start >= end:  # no character to mark
                continue
            starts.setdefault(min(start, len(text)), []).append(number)
            ends.setdefault(min(end, len(text)), []).append(number)
    open_entities: list[int] = []
    for start, end in pairwise(sorted({0, len(text), *starts, *ends})):
        for number in ends.get(start, ()):
            open_entities.remove(number)
        open_entities += starts.get(start, ())
        piece = escape(text[start:end])
        if not open_entities:
            yield piece
            continue
        inside = sorted(open_entities)
        names = escape(", ".join(entities[n].label for n in inside))
        numbers = ",".join(str(n + 1) for n in inside)
        colour = colours[entities[inside[0]].label]
        style = f'style="background: {colour}; color: inherit" title="{names}"'
        yield f"<mark {style}>{piece}<sub>{numbers}</sub></mark>"


def _row(number: int, entity: Entity) -> str:
    score = "" if entity.score is None else f"{entity.score:.2f}"
    cells = (str(number), entity.label, entity.text, score)
    return f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
