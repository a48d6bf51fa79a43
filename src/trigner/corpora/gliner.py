"""GLiNER's JSON: words with entities by their first and their last word, both inclusive.

    [{"tokenized_text": ["my", "leg", "hurts"], "ner": [[1, 2, "ADR"]]}]

A JSON list, or an object a line. `relations` are kept as a note of this format; all else are the
sentence's fields. Source: Zaratiana et al., NAACL 2024; https://github.com/urchade/GLiNER
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trigner.corpora.documents import place, read_files, values, write_list
from trigner.corpora.json_shapes import Object, all_objects, content_of, refuse_annotations
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.words import (
    WordSentence,
    checked,
    document_of,
    dropped_with_words,
    sentences_of,
)
from trigner.errors import InputError
from trigner.mentions import Document, Extra, Mention, shortened

NAME = "gliner"
ENDINGS: tuple[str, ...] = (".json", ".jsonl")

_TEXT = "tokenized_text"
_KEPT = ("relations",)
_OF_DOCUMENT = {_TEXT, "ner", *_KEPT}


def recognises(path: Path) -> bool:
    """Objects with `tokenized_text`."""
    return all_objects(path, ENDINGS, lambda objects: all(_TEXT in own for own in objects))


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each sentence of a file, or of all such files below a folder."""

    def read_file(file: Path, name: str, reading: Reading) -> Iterator[tuple[int, Document]]:
        for number, (line, item) in enumerate(values(file, reading), 1):
            where = place(number, line)
            try:
                document = _document(item, f"{name}-{number}", reading, file, line, where)
            except ValueError as error:
                raise InputError(f"{where}{error}", path=file, line=line) from error
            yield line, document

    return read_files(path, ENDINGS, reading, read_file)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file, a JSON list; documents of raw text are split into sentences first."""
    dropped: Counter[str] = Counter()

    def items() -> Iterator[str]:
        for document in documents:
            sentences, unreachable = sentences_of(document)
            yield from (_item(sentence, path) for sentence in sentences)
            dropped.update(dropped_with_words(document, unreachable, keeps=NAME))
            torn = (m for sentence in sentences for m in sentence.mentions if m.is_discontinuous)
            dropped["discontinuous entities"] += sum(1 for _ in torn)
            dropped["fields of documents"] += len(document.fields.keys() & _OF_DOCUMENT)
            dropped["fields of entities"] += sum(len(e.fields) for e in document.entities)

    write_list(items(), path)
    return WriteReport(1, dict(dropped))


def _item(sentence: WordSentence, path: Path) -> str:
    kept: dict[str, Any] = {}
    for extra in sentence.extras:
        if extra.format == NAME:
            content = content_of(extra, sentence.id, path)
            kept |= {key: value for key, value in content.items() if key in _KEPT}
    spans = [
        [mention.words[0], mention.words[-1], mention.label]
        for mention in sentence.mentions
        if not mention.is_discontinuous
    ]
    fields = {key: value for key, value in sentence.fields.items() if key not in _OF_DOCUMENT}
    item = {_TEXT: list(sentence.words), "ner": spans, "id": sentence.id, **kept, **fields}
    return json.dumps(item, ensure_ascii=False)


def _document(
    item: Any, name: str, reading: Reading, path: Path, line: int, where: str
) -> Document:
    own: Object = item if isinstance(item, dict) else {}
    words, given, id = own.get(_TEXT), own.get("ner", []), own.get("id", name)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError(f"expected an object with a list of strings `{_TEXT}`")
    if not isinstance(given, list):
        raise ValueError("`ner` is not a list")
    if type(id) not in (str, int) or id == "":
        raise ValueError(f"expected a string as `id`, found {shortened(id)}")
    mentions = []
    for entry in given:
        mention = _mention(entry, words, reading, path, line, where)
        if mention is not None:
            mentions.append(mention)
    kept = {key: own[key] for key in _KEPT if key in own}
    read = {"id", _TEXT, "ner", *_KEPT}
    fields = {key: value for key, value in own.items() if key not in read}
    document = document_of(str(id), words, mentions)
    refuse_annotations(fields, document.text)
    extras = (Extra(NAME, json.dumps(kept, ensure_ascii=False)),) if kept else ()
    return replace(document, extras=extras, fields=fields)


def _mention(
    entry: Any, words: Sequence[str], reading: Reading, path: Path, line: int, where: str
) -> Mention | None:
    match entry:
        case [first, last, str(label)] if label and type(first) is type(last) is int:
            pass
        case _:
            message = f"{where}an entity needs first word, last word and label: {shortened(entry)}"
            reading.bad(message, path=path, line=line)
            return None
    if first > last:
        message = f"{where}words {first} to {last} end before they start"
        reading.bad(message, path=path, line=line)
        return None
    # Only the bounds are looked at when they are outside: they may be of any length.
    indices = range(first, last + 1) if first >= 0 and last < len(words) else (first, last)
    return checked(tuple(indices), label, words, reading, path=path, line=line, where=where)
