"""BigBio's knowledge-base JSON: documents of passages, entities with lists of offsets.

Everything else that the schema has (passages, events, relations, normalisation) is kept and written
back, other keys are fields of documents and entities.
Offsets count in the document, whose text is its passages' texts placed at their offsets.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trigner.corpora.documents import Item, all_begin, has_key, read_items, write_list
from trigner.corpora.json_shapes import chosen, extras_of, kept_in, listed, others, separated
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.words import fields_lost
from trigner.errors import InputError
from trigner.mentions import Document, Entity, fragment_from, shortened

NAME = "bigbio"

ENDINGS: tuple[str, ...] = (".json", ".jsonl")
_LISTS = ("events", "coreferences", "relations")
_OF_DOCUMENT = {"id", "document_id", "passages", "entities", "rest of entities", *_LISTS}
_KEPT_OF_ENTITY = {"normalized", "label", "fragments", "score"}
_OF_ENTITY = {"id", "type", "text", "offsets", *_KEPT_OF_ENTITY}


def recognises(path: Path) -> bool:
    """JSON or JSON lines with `passages`."""
    return all_begin(path, ENDINGS, lambda start: has_key(start, "passages"))


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all JSON files below a folder; ids are `document_id`."""
    return read_items(path, ENDINGS, reading, _document)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file, a JSON list. Entities without an id get one that is new in their document."""
    dropped: Counter[str] = Counter()

    def items() -> Iterator[str]:
        for document in documents:
            yield json.dumps(_value(document, path), ensure_ascii=False)
            dropped["scores"] += sum(e.score is not None for e in document.entities)
            names = (name for name, entity in _named(document) if entity.id not in (None, name))
            if renamed := sum(1 for _ in names):
                dropped["entity ids"] += renamed
            dropped["extras of other formats"] += sum(e.format != NAME for e in document.extras)
            dropped["given word boundaries"] += document.words is not None
            dropped.update(fields_lost(document, of_document=_OF_DOCUMENT, of_entity=_OF_ENTITY))

    write_list(items(), path)
    return WriteReport(1, dict(dropped))


def _document(item: Item) -> Document:
    own: Any = item.value
    if not isinstance(own, dict) or not isinstance(own.get("passages"), list):
        raise ValueError("expected an object with `passages`")
    id = own.get("document_id", own.get("id"))
    if not isinstance(id, str) or not id:
        raise ValueError("expected a string as `document_id` or `id`")
    text = _text(own["passages"])
    entities: dict[str | None, Entity] = {}
    normalised: dict[str, Any] = {}
    for entry in listed(own, "entities"):
        with item.annotation():
            entity = _entity(entry, text)
            if entity.id in entities:
                raise ValueError(f"duplicate id {entity.id}")
            entities[entity.id] = entity
            # Kept by id: entities may be filtered or joined by others before they are written.
            if rest := {k: v for k, v in entry.items() if k in _KEPT_OF_ENTITY and v}:
                normalised[str(entity.id)] = rest
    document = Document(id, text, tuple(entities.values()))
    fields, unread = separated(others(own, _OF_DOCUMENT), text)
    kept = {**_kept(own, document, normalised), **unread}
    extras = extras_of(NAME, kept)
    return Document(id, text, document.entities, extras=extras, fields=fields)


def _kept(item: dict[str, Any], document: Document, rest: dict[str, Any]) -> dict[str, Any]:
    """What the document itself does not say."""
    kept = chosen(item, ("id", "passages", *_LISTS))
    if kept.get("id") == document.id:
        del kept["id"]
    if kept["passages"] == [_passage(document)]:
        del kept["passages"]
    for key in _LISTS:
        if kept.get(key) == []:
            del kept[key]
    return {**kept, "rest of entities": rest} if rest else kept


def _entity(entry: Any, text: str) -> Entity:
    if not isinstance(entry, dict):
        raise ValueError(f"an entity is not an object: {shortened(entry)}")
    label, id, given = entry.get("type"), entry.get("id"), entry.get("offsets")
    if not isinstance(label, str) or not label or not isinstance(id, str) or not id:
        raise ValueError(f"an entity needs `id` and `type`: {shortened(entry)}")
    if not isinstance(given, list):
        raise ValueError(f"{id}: `offsets` is not a list: {shortened(given)}")
    claimed = entry.get("text")
    if isinstance(claimed, list) and all(isinstance(piece, str) for piece in claimed):
        claimed = " ".join(claimed)
    try:
        fragments = [fragment_from(pair) for pair in given]
        fields = {key: own for key, own in entry.items() if key not in _OF_ENTITY}
        return Entity.in_text(text, label, fragments, surface=claimed, id=id, fields=fields)
    except ValueError as error:
        raise ValueError(f"{id}: {error}") from error


def _text(passages: list[Any]) -> str:
    """The passages' texts at their offsets, blanks between them."""
    pieces: list[tuple[int, int, str]] = []
    for passage in passages:
        own = passage.get("text") if isinstance(passage, dict) else None
        given = passage.get("offsets") if isinstance(passage, dict) else None
        texts = [own] if isinstance(own, str) else own
        if not isinstance(texts, list) or not isinstance(given, list) or len(texts) != len(given):
            raise ValueError("a passage needs as many pieces of `text` as `offsets`")
        for pair, piece in zip(given, texts, strict=True):
            span = fragment_from(pair)
            if span[0] < 0 or not isinstance(piece, str):
                raise ValueError(f"a passage has offsets {shortened(pair)} or no text")
            if span[1] - span[0] != len(piece):
                raise ValueError(
                    f"a passage of {len(piece)} characters has offsets {span[0]} {span[1]}"
                )
            pieces.append((*span, piece))
    text = ""
    longest = 2 * sum(len(piece) for _, _, piece in pieces) + 1_000_000
    for start, _, piece in sorted(pieces):
        if start < len(text):
            raise ValueError(f"passages overlap at {start}")
        if start > longest:
            raise ValueError(f"a passage starts at {start}, far after all text before it")
        text += " " * (start - len(text)) + piece
    return text


def _named(document: Document) -> Iterator[tuple[str, Entity]]:
    """Entities with an id each: their own where it is new, else one that is free."""
    taken = {entity.id for entity in document.entities}
    used: set[str] = set()
    number = 0
    for entity in document.entities:
        name = entity.id
        while not name or name in used:
            number += 1
            made = f"{document.id}__T{number}"
            name = None if made in taken else made
        used.add(name)
        yield name, entity


def _passage(document: Document) -> dict[str, Any]:
    return {
        "id": f"{document.id}__text",
        "type": "text",
        "text": [document.text],
        "offsets": [[0, len(document.text)]],
    }


def _value(document: Document, path: Path) -> dict[str, Any]:
    kept = kept_in(document.extras, NAME, None, document.id, path)
    if "passages" in kept:
        _check_passages(kept["passages"], document, path)
    rest = kept.pop("rest of entities", {})
    if not isinstance(rest, dict) or not all(isinstance(own, dict) for own in rest.values()):
        message = f"has extra data of format {NAME} on entities that is not an object"
        raise InputError(f"document {shortened(document.id)} {message}", path=path)
    entities = []
    for name, entity in _named(document):
        entities.append(
            {
                "id": name,
                "type": entity.label,
                "text": [document.text[start:end] for start, end in entity.fragments],
                "offsets": [list(fragment) for fragment in entity.fragments],
                "normalized": [],
                **others(entity.fields, _OF_ENTITY),
                **{k: v for k, v in rest.get(name, {}).items() if k in _KEPT_OF_ENTITY},
            }
        )
    return {
        "id": document.id,
        "document_id": document.id,
        "passages": [_passage(document)],
        **{key: [] for key in _LISTS},
        **others(document.fields, _OF_DOCUMENT),
        **others(kept, {"document_id", "entities"}),
        "entities": entities,
    }


def _check_passages(passages: Any, document: Document, path: Path) -> None:
    """Raises InputError for passages of an extra that are not the document's text."""
    try:
        if isinstance(passages, list) and _text(passages) == document.text:
            return
    except ValueError:
        pass
    message = f"has extra data of format {NAME} whose passages are from a different text"
    raise InputError(f"document {shortened(document.id)} {message}", path=path)
