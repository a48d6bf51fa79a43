"""Grid JSON, W2NER's format: `[{"sentence": [words], "ner": [{"index": [0, 3], "type": "ADR"}]}]`.

An `id` is optional. Word indices are sorted and freed of duplicates, which is noted. `word`, which
W2NER's own files have, repeats others and is not read; all else that a sentence or an entity has
are its fields, and written back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trigner.corpora.documents import Item, all_begin, has_key, read_items, write_list
from trigner.corpora.json_shapes import Object, extras_of, kept_in, listed, others, separated
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.words import WordSentence, checked, document_of, words_of, written_sentences
from trigner.mentions import ENTITY_KEYS, Document, Mention, shortened

NAME = "grid"
ENDINGS: tuple[str, ...] = (".json",)

_READ = {"id", "sentence", "ner", "word"}
_OF_ENTITY = {"index", "type"}


def recognises(path: Path) -> bool:
    """JSON lists with `sentence` in them, and no text of their own."""
    return all_begin(path, ENDINGS, _is_grid)


def _is_grid(start: str) -> bool:
    list_begins = start.lstrip()[:1] == "["
    return list_begins and has_key(start, "sentence") and not has_key(start, "passages")


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each sentence of a file, or of all `.json` below a folder."""
    return read_items(path, ENDINGS, reading, _document)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file; documents of raw text are split into sentences first."""
    dropped: Counter[str] = Counter()
    sentences = written_sentences(
        documents, dropped, keeps=NAME, of_document=_READ, of_entity=_OF_ENTITY
    )
    write_list((_item(sentence, path) for sentence in sentences), path)
    return WriteReport(1, dict(dropped))


def _item(sentence: WordSentence, path: Path) -> str:
    pairs = zip(sentence.mentions, sentence.entities, strict=True)
    entries = [
        {"index": list(mention.words), "type": mention.label, **others(entity.fields, _OF_ENTITY)}
        for mention, entity in pairs
    ]
    item = {
        **kept_in(sentence.extras, NAME, None, sentence.id, path),
        "id": sentence.id,
        "sentence": list(sentence.words),
        "ner": entries,
        **others(sentence.fields, _READ),
    }
    return json.dumps(item, ensure_ascii=False)


def _document(item: Item) -> Document:
    own: Object = item.value if isinstance(item.value, dict) else {}
    words = words_of(own, "sentence")
    mentions, fields = [], []
    for entry in listed(own, "ner"):
        with item.annotation():
            mentions.append(_mention(entry, words, item))
            fields.append(others(entry, {*_OF_ENTITY, *ENTITY_KEYS}))
    document = document_of(item.id(own.get("id")), words, mentions)
    entities = tuple(
        replace(entity, fields=kept) if kept else entity
        for entity, kept in zip(document.entities, fields, strict=True)
    )
    own_fields, rest = separated(others(own, _READ), document.text)
    extras = extras_of(NAME, rest)
    return replace(document, entities=entities, extras=extras, fields=own_fields)


def _mention(entry: Any, words: Sequence[str], item: Item) -> Mention:
    indices = entry.get("index") if isinstance(entry, dict) else None
    label = entry.get("type") if isinstance(entry, dict) else None
    whole = isinstance(indices, list) and all(type(index) is int for index in indices)
    if not whole or not indices or not isinstance(label, str) or not label:
        raise ValueError(f"an entity needs `index` and `type`: {shortened(entry)}")
    unread = sorted(set(entry) & ENTITY_KEYS - _OF_ENTITY)
    if unread:
        item.note(f"ignored: {', '.join(unread)}")
    return checked(indices, label, words, item.note)
