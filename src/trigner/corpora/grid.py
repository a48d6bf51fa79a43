"""Grid JSON, W2NER's format: `[{"sentence": [words], "ner": [{"index": [0, 3], "type": "ADR"}]}]`.

An `id` is optional. Word indices are sorted and freed of duplicates, which is noted. `word`, which
W2NER's own files have, repeats others and is not read; all else that a sentence or an entity has
are its fields, and written back.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trigner.corpora.documents import all_begin, has_key, place, read_files, values, write_list
from trigner.corpora.json_shapes import content_of, separated
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.words import (
    WordSentence,
    checked,
    document_of,
    dropped_with_words,
    fields_lost,
    sentences_of,
)
from trigner.errors import InputError
from trigner.mentions import ENTITY_KEYS, Document, Extra, Mention, shortened

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

    def read_file(file: Path, name: str, reading: Reading) -> Iterator[tuple[int, Document]]:
        for number, (line, item) in enumerate(values(file, reading), 1):
            where = place(number, line)
            yield line, _document(item, f"{name}-{number}", reading, file, line, where)

    return read_files(path, ENDINGS, reading, read_file)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file; documents of raw text are split into sentences first."""
    dropped: Counter[str] = Counter()

    def items() -> Iterator[str]:
        for document in documents:
            sentences, unreachable = sentences_of(document)
            yield from (_item(sentence, path) for sentence in sentences)
            dropped.update(dropped_with_words(document, unreachable, keeps=NAME))
            dropped.update(fields_lost(document, of_document=_READ, of_entity=_OF_ENTITY))

    write_list(items(), path)
    return WriteReport(1, dict(dropped))


def _item(sentence: WordSentence, path: Path) -> str:
    pairs = zip(sentence.mentions, sentence.entities, strict=True)
    item = {
        "id": sentence.id,
        "sentence": list(sentence.words),
        "ner": [
            {
                "index": list(mention.words),
                "type": mention.label,
                **_held(entity.fields, _OF_ENTITY),
            }
            for mention, entity in pairs
        ],
        **_held(sentence.fields, _READ),
    }
    for extra in sentence.extras:
        if extra.format == NAME:
            item = {**content_of(extra, sentence.id, path), **item}
    return json.dumps(item, ensure_ascii=False)


def _held(fields: Mapping[str, Any], taken: Collection[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in taken}


def _document(
    item: Any, name: str, reading: Reading, path: Path, line: int, where: str
) -> Document:
    def wrong(message: str) -> InputError:
        return InputError(where + message, path=path, line=line)

    if not isinstance(item, dict) or not isinstance(item.get("sentence"), list):
        raise wrong("expected an object with a list `sentence`")
    words, given, id = item["sentence"], item.get("ner", []), item.get("id", name)
    # Published corpora have words that are empty: they are kept, and have no characters.
    if not all(isinstance(word, str) for word in words):
        raise wrong("every word must be a string")
    if not isinstance(given, list):
        raise wrong("`ner` is not a list")
    if type(id) not in (str, int) or id == "":
        raise wrong(f"expected a string as `id`, found {shortened(id)}")
    mentions, fields = [], []
    for entry in given:
        mention = _mention(entry, words, reading, path, line, where)
        if mention is not None:
            mentions.append(mention)
            fields.append(_held(entry, {*_OF_ENTITY, *ENTITY_KEYS}))
    document = document_of(str(id), words, mentions)
    entities = tuple(
        replace(entity, fields=own) if own else entity
        for entity, own in zip(document.entities, fields, strict=True)
    )
    own, kept = separated(_held(item, _READ), document.text)
    extras = (Extra(NAME, json.dumps(kept, ensure_ascii=False)),) if kept else ()
    return replace(document, entities=entities, extras=extras, fields=own)


def _mention(
    entry: Any, words: Sequence[str], reading: Reading, path: Path, line: int, where: str
) -> Mention | None:
    indices = entry.get("index") if isinstance(entry, dict) else None
    label = entry.get("type") if isinstance(entry, dict) else None
    whole = isinstance(indices, list) and all(type(index) is int for index in indices)
    if not whole or not indices or not isinstance(label, str) or not label:
        message = f"{where}an entity needs `index` and `type`: {shortened(entry)}"
        reading.bad(message, path=path, line=line)
        return None
    unread = sorted(set(entry) & ENTITY_KEYS - _OF_ENTITY)
    if unread:
        reading.note(f"{where}ignored: {', '.join(unread)}", path=path, line=line)
    return checked(indices, label, words, reading, path=path, line=line, where=where)
