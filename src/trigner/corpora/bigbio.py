"""BigBio's knowledge-base JSON: documents of passages, entities with lists of offsets.

Everything that is no entity (passages, events, relations, normalisation) is kept and written back.
Offsets count in the document, whose text is its passages' texts placed at their offsets.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trigner.corpora.documents import files, peek, place, values
from trigner.corpora.reading import Reading, WriteReport, fault, write_text
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Extra

NAME = "bigbio"

_EMPTY: dict[str, list[Any]] = {"events": [], "coreferences": [], "relations": []}


def recognises(path: Path) -> bool:
    """JSON or JSON lines with `passages`."""
    found = files(path, (".json", ".jsonl"))
    return bool(found) and all('"passages"' in peek(file) for file in found)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all JSON files below a folder."""
    for file in files(path, (".json", ".jsonl")):
        for number, (line, item) in enumerate(values(file), 1):
            try:
                yield _document(item, reading, file, line or None, place(number, line))
            except (KeyError, TypeError, ValueError) as error:
                raise InputError(
                    f"{place(number, line)}does not follow the schema:"
                    f" {type(error).__name__} {error}",
                    path=file,
                    line=line or None,
                ) from error


def write(documents: Sequence[Document], path: Path) -> WriteReport:
    """One file, a JSON list."""
    lines = ",\n".join(json.dumps(_value(d), ensure_ascii=False) for d in documents)
    write_text(path, f"[\n{lines}\n]\n" if lines else "[]\n")
    return WriteReport(
        1,
        {
            "scores": sum(e.score is not None for d in documents for e in d.entities),
            "notes of other formats": sum(e.format != NAME for d in documents for e in d.extras),
            "given word boundaries": sum(d.words is not None for d in documents),
        },
    )


def _document(item: Any, reading: Reading, path: Path, line: int | None, where: str) -> Document:
    if not isinstance(item, dict) or not isinstance(item.get("passages"), list):
        raise InputError(f"{where}expected an object with `passages`", path=path, line=line)
    text = _text(item["passages"])
    entities = []
    rest: dict[str, Any] = {}
    for entry in item.get("entities", []):
        fragments = tuple(sorted((int(start), int(end)) for start, end in entry["offsets"]))
        surface = " ".join(text[start:end] for start, end in fragments)
        claimed = " ".join(entry.get("text", [])).split()
        given = " ".join(text[int(a) : int(b)] for a, b in entry["offsets"]).split()
        wrong = fault(fragments, len(text))
        if wrong is None and claimed and claimed not in (given, surface.split()):
            wrong = f"surface {' '.join(claimed)!r} is not what the text has there: {surface!r}"
        if wrong is not None:
            reading.bad(f"{where}{wrong}", path=path, line=line)
            continue
        entities.append(Entity(str(entry["type"]), fragments, surface, id=str(entry["id"])))
        if entry.get("normalized"):
            rest[str(entry["id"])] = entry["normalized"]
    kept = {key: value for key, value in item.items() if key not in {"id", "entities"}}
    kept["normalized"] = rest
    extras = (Extra(NAME, json.dumps(kept, ensure_ascii=False)),)
    return Document(str(item.get("document_id", item["id"])), text, tuple(entities), extras=extras)


def _text(passages: list[Any]) -> str:
    pieces: list[tuple[int, str]] = []
    for passage in passages:
        for (start, end), own in zip(passage["offsets"], passage["text"], strict=True):
            if end - start != len(own):
                raise ValueError(f"a passage of {len(own)} characters has offsets {start} {end}")
            pieces.append((start, own))
    text = ""
    for start, own in sorted(pieces):
        if start < len(text):
            raise ValueError(f"passages overlap at {start}")
        text += " " * (start - len(text)) + own
    return text


def _value(document: Document) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for extra in document.extras:
        if extra.format == NAME:
            kept = json.loads(extra.content)
    normalised = kept.pop("normalized", {})
    passage = {
        "id": f"{document.id}__text",
        "type": "text",
        "text": [document.text],
        "offsets": [[0, len(document.text)]],
    }
    entities = []
    taken = {e.id for e in document.entities}
    for number, entity in enumerate(document.entities, 1):
        name = entity.id
        if name is None:
            name = f"{document.id}__T{number}"
            while name in taken:
                name += "_"
        entities.append(
            {
                "id": name,
                "type": entity.label,
                "text": [document.text[start:end] for start, end in entity.fragments],
                "offsets": [list(fragment) for fragment in entity.fragments],
                "normalized": normalised.get(name, []),
            }
        )
    base = {"document_id": document.id, "passages": [passage], **_EMPTY, **kept}
    return {"id": document.id, **base, "entities": entities}
