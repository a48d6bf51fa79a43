"""Documents and comparisons as self-contained HTML files: nothing is loaded, text stays text.

What is shown travels as JSON in a data block. The styles and scripts of this package are inlined,
and the page's content security policy lets nothing but exactly them run.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from trigner.mentions import Document, Entity, Fragment
from trigner.rendering.snippets import snippets
from trigner.rendering.terminal import remarks

if TYPE_CHECKING:
    from trigner.evaluation import Comparison, Finding

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""
_DRAWN = """<main id="page"><noscript>This page draws its text with JavaScript.</noscript></main>
<script type="application/json" id="data">{data}</script>"""


def html_page(
    title: str, body: str, *, style: str, script: str = "", inline_styles: bool = False
) -> str:
    """A self-contained page that loads nothing, and runs nothing but `script`.

    `body` is HTML and must be escaped; only with `inline_styles` may its elements have styles of
    their own, as those of SVG figures do.
    """
    styles = "'unsafe-inline'" if inline_styles else _hash(style)
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; style-src {styles}; "
    if script:
        policy += f"script-src {_hash(script)}; "
        body += f"\n<script>{script}</script>"
    return _PAGE.format(policy=policy, title=html.escape(title), style=style, body=body)


def asset(name: str) -> str:
    """A static file of this package, such as `entities.js`."""
    return files("trigner.rendering").joinpath(name).read_text("utf-8")


def documents_page_parts(
    documents: Iterable[Document], *, title: str = "Entities"
) -> Iterator[str]:
    """A page that shows documents with their entities, whole texts in the order given.

    It comes part by part, one per document in addition to its beginning and end.
    """
    before, after = page({"mode": "documents", "title": title, "documents": []}).split("[]}</", 1)
    yield before + "["
    for number, document in enumerate(documents):
        shown = {
            "id": document.id,
            "text": document.text,
            "entities": [drawn_entity(e) for e in document.entities],
        }
        yield ("," if number else "") + _data_block(shown)
    yield "]}</" + after


def comparison_page(comparison: Comparison) -> str:
    """A page that shows gold next to predictions, sentence by sentence, what differs first."""
    shown: list[dict[str, Any]] = []
    others = 0
    for part in comparison.documents:
        found = snippets(part.document, [_extent(finding) for finding in part.findings])
        others += found.others
        for snippet in found.shown:
            findings = [part.findings[member] for member in snippet.members]
            shown.append(_compared(part.document, (snippet.start, snippet.end), findings))
    shown.sort(key=lambda snippet: not snippet["differs"])
    counts = [
        {"kind": kind, "gold": count.gold, "predicted": count.predicted}
        for kind, count in comparison.counts().items()
    ]
    return page(
        {
            "mode": "comparison",
            "title": "Gold and prediction",
            "documents": len(comparison.documents),
            "counts": counts,
            "snippets": shown,
            "others": others,
        }
    )


def systems_page(systems: Mapping[str, Comparison], *, title: str = "Systems side by side") -> str:
    """A page that shows gold next to several systems, sentence by sentence.

    `systems` are the comparisons with the same gold documents, by name, in the order in which they
    are shown. Sentences on whose entities the systems disagree most come first. Raises ValueError
    when the documents are not the same.
    """
    parts = [list(comparison.documents) for comparison in systems.values()]
    if any([p.document.id for p in part] != [p.document.id for p in parts[0]] for part in parts):
        raise ValueError("the systems are compared with different gold documents")
    shown: list[dict[str, Any]] = []
    others = 0
    for of_document in zip(*parts, strict=True):
        document = of_document[0].document
        findings = [
            (name, f) for name, d in zip(systems, of_document, strict=True) for f in d.findings
        ]
        found = snippets(document, [_extent(finding) for _, finding in findings])
        others += found.others
        for snippet in found.shown:
            inside = [findings[member] for member in snippet.members]
            span = (snippet.start, snippet.end)
            shown.append(_side_by_side(document, span, list(systems), inside))
    shown.sort(key=lambda snippet: -snippet["wrong"])
    return page(
        {
            "mode": "systems",
            "title": title,
            "systems": list(systems),
            "documents": len(parts[0]) if parts else 0,
            "snippets": shown,
            "others": others,
        }
    )


def _side_by_side(
    document: Document, span: Fragment, names: Sequence[str], inside: Sequence[tuple[str, Finding]]
) -> dict[str, Any]:
    """One snippet: gold, with how many systems found each entity, and what each system has."""
    start, end = span
    gold: dict[tuple[object, ...], Entity] = {}
    right: Counter[tuple[object, ...]] = Counter()
    columns: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for name, finding in inside:
        for entity in finding.gold:
            gold.setdefault(document.key(entity), entity)
            right[document.key(entity)] += finding.kind == "correct"
        columns[name] += [
            {**drawn_entity(e, start), "kind": finding.kind} for e in finding.predicted
        ]
    return {
        "document": document.id,
        "start": start,
        "text": document.text[start:end],
        "gold": [
            {**drawn_entity(entity, start), "kind": "correct", "found": right[key]}
            for key, entity in gold.items()
        ],
        "columns": columns,
        "wrong": sum(finding.kind != "correct" for _, finding in inside),
    }


def _compared(document: Document, span: Fragment, findings: Sequence[Finding]) -> dict[str, Any]:
    start, end = span
    sides: dict[str, list[dict[str, Any]]] = {"gold": [], "predicted": []}
    for group, finding in enumerate(findings):
        for side, entities in (("gold", finding.gold), ("predicted", finding.predicted)):
            for entity in entities:
                sides[side].append(
                    {**drawn_entity(entity, start), "kind": finding.kind, "group": group}
                )
    kinds = Counter(finding.kind for finding in findings)
    return {
        "document": document.id,
        "start": start,
        "text": document.text[start:end],
        "kinds": list(kinds),
        "differs": any(kind != "correct" for kind in kinds),
        **sides,
    }


def _extent(finding: Finding) -> list[Fragment]:
    return [f for entity in (*finding.gold, *finding.predicted) for f in entity.fragments]


def drawn_entity(entity: Entity, start: int = 0) -> dict[str, Any]:
    """An entity as `drawEntities` takes it, its offsets counted from `start`."""
    remark = remarks(entity)
    return {
        "label": entity.label,
        "fragments": [[a - start, b - start] for a, b in entity.fragments],
        "text": entity.text,
        "score": entity.score,
        **({"note": remark} if remark else {}),
    }


def page(data: Mapping[str, Any]) -> str:
    """A page with these data; `mode` among them says how `page.js` lays them out."""
    return html_page(
        str(data["title"]),
        _DRAWN.format(data=_data_block(data)),
        style=asset("entities.css") + asset("page.css"),
        script=asset("entities.js") + asset("page.js"),
    )


def _data_block(data: Mapping[str, Any]) -> str:
    """JSON without what could end a script element, all in ASCII, lone surrogates too."""
    written = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for character in "<>&":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return written


def _hash(content: str) -> str:
    digest = hashlib.sha256(content.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
