"""GLiNER's JSON: words with entities by their first and their last word, both inclusive.

    [{"tokenized_text": ["my", "leg", "hurts"], "ner": [[1, 2, "ADR"]]}]

A JSON list, or an object a line. `relations` are kept as an extra of this format; all else are the
sentence's fields. Source: Zaratiana et al., NAACL 2024; https://github.com/urchade/GLiNER
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trigner.corpora.documents import Item, read_items, write_list
from trigner.corpora.json_shapes import (
    Object,
    all_objects,
    chosen,
    extras_of,
    kept_in,
    listed,
    others,
    refuse_annotations,
)
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.words import (
    WordSentence,
    between,
    checked,
    document_of,
    words_of,
    written_sentences,
)
from trigner.mentions import Document, Mention, shortened

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
    return read_items(path, ENDINGS, reading, _document)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file, a JSON list; documents of raw text are split into sentences first."""
    dropped: Counter[str] = Counter()
    sentences = written_sentences(documents, dropped, keeps=NAME, of_document=_OF_DOCUMENT)
    write_list((_item(sentence, path, dropped) for sentence in sentences), path)
    return WriteReport(1, dict(dropped))


def _item(sentence: WordSentence, path: Path, dropped: Counter[str]) -> str:
    whole = [mention for mention in sentence.mentions if not mention.is_discontinuous]
    dropped["discontinuous entities"] += len(sentence.mentions) - len(whole)
    item = {
        _TEXT: list(sentence.words),
        "ner": [[mention.words[0], mention.words[-1], mention.label] for mention in whole],
        "id": sentence.id,
        **kept_in(sentence.extras, NAME, _KEPT, sentence.id, path),
        **others(sentence.fields, _OF_DOCUMENT),
    }
    return json.dumps(item, ensure_ascii=False)


def _document(item: Item) -> Document:
    own: Object = item.value if isinstance(item.value, dict) else {}
    words, given = words_of(own, _TEXT), listed(own, "ner")
    mentions = []
    for entry in given:
        with item.annotation():
            mentions.append(_mention(entry, words, item))
    document = document_of(item.id(own.get("id")), words, mentions)
    fields = others(own, {"id", *_OF_DOCUMENT})
    refuse_annotations(fields, document.text)
    return replace(document, extras=extras_of(NAME, chosen(own, _KEPT)), fields=fields)


def _mention(entry: Any, words: Sequence[str], item: Item) -> Mention:
    match entry:
        case [first, last, str(label)] if label and type(first) is type(last) is int:
            return checked(between(first, last, words), label, words, item.note)
    raise ValueError(f"an entity needs first word, last word and label: {shortened(entry)}")
