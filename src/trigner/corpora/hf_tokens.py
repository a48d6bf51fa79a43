"""Hugging Face's token datasets: words with a tag each, as JSON lines or Parquet.

    {"id": "0", "tokens": ["my", "leg", "hurts"], "ner_tags": ["O", "B-ADR", "I-ADR"]}

Tags may be numbers where something says what they stand for: the features that `datasets` writes
into Parquet, or a `dataset_info.json` next to the file. All else is the sentence's fields.
Source: https://huggingface.co/docs/datasets/nlp_load
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trigner.corpora.documents import Item, files, read_items, values
from trigner.corpora.json_shapes import Object, beginning, extras_of, kept_in, others, separated
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.tables import parquet_rows, parquet_schema, write_parquet
from trigner.corpora.tags import TAG, mentions_of, tags_of
from trigner.corpora.words import WordSentence, document_of, words_of, written_sentences
from trigner.errors import InputError
from trigner.machine import DuplicateKeyError, atomic_write, unique_keys
from trigner.mentions import Document, shortened

NAME = "hf-tokens"
ENDINGS: tuple[str, ...] = (".jsonl", ".json", ".parquet")

_WORDS = ("tokens", "words")
_TAGS = ("ner_tags", "tags", "labels")
_OF_DOCUMENT = {*_WORDS, *_TAGS}
_INFO = ("dataset_info.json", "dataset_infos.json")


def recognises(path: Path) -> bool:
    """Objects or rows with a list of words and one of tags, such as `tokens` and `ner_tags`."""
    found = [file for file in files(path, ENDINGS) if file.name not in _INFO]
    return bool(found) and all(map(_fits, found))


def _fits(file: Path) -> bool:
    if file.suffix.lower() == ".parquet":
        if find_spec("pyarrow") is None:
            return False
        try:
            names = {*parquet_schema(file).names}
        except InputError:  # reported when it is read
            return False
        return bool(names & {*_WORDS} and names & {*_TAGS})
    rows = beginning(file) if file.suffix.lower() in ("", *ENDINGS) else []
    return bool(rows) and all(isinstance(row, dict) and _is_sentence(row) for row in rows)


def _is_sentence(row: Object) -> bool:
    words, tags = _named(row, _WORDS), _named(row, _TAGS)
    lists = isinstance(words, list) and isinstance(tags, list) and len(words) == len(tags)
    return lists and all(isinstance(word, str) for word in words)


def _named(row: Object, names: Sequence[str]) -> Any:
    return next((row[name] for name in names if name in row), None)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each sentence of a file, or of all such files below a folder."""
    # Of each file once; another reading may find other files there.
    names = cache(_tag_names)

    def document(item: Item) -> Document:
        row: Object = item.value if isinstance(item.value, dict) else {}
        words, tags = words_of(row, *_WORDS), _named(row, _TAGS)
        if not isinstance(tags, list) or len(tags) != len(words):
            raise ValueError(f"expected a list `ner_tags` of {len(words)} tags")
        tags = [_tag(tag, names(item.path), item.path) for tag in tags]
        found = document_of(item.id(row.get("id")), words, mentions_of(tags))
        fields, kept = separated(others(row, {"id", *_OF_DOCUMENT}), found.text)
        return replace(found, extras=extras_of(NAME, kept), fields=fields)

    return read_items(path, ENDINGS, reading, document, _rows)


def _rows(file: Path, reading: Reading) -> Iterator[tuple[int, Any]]:
    if file.name in _INFO:
        return iter(())
    return (parquet_rows if file.suffix.lower() == ".parquet" else values)(file, reading)


def _tag(value: object, names: Sequence[str], path: Path) -> str:
    """A tag, given itself or by its number. Raises ValueError for anything else."""
    if type(value) is int:
        if not names:
            beside = path.with_name(_INFO[0])
            raise ValueError(f"tags are numbers, and no features name them; looked for {beside}")
        if not 0 <= value < len(names):
            raise ValueError(f"tag {value} is none of {len(names)}: {', '.join(names)}")
        value = names[value]
    if not isinstance(value, str) or not TAG.fullmatch(value):
        raise ValueError(f"expected a tag such as O or B-ADR, found {shortened(value)}")
    return value


def _tag_names(file: Path) -> tuple[str, ...]:
    """What the numbers of a file's tags stand for; nothing where nobody says so."""
    if file.suffix.lower() == ".parquet":
        metadata = parquet_schema(file).metadata or {}
        if found := _names_in(metadata.get(b"huggingface", b"{}"), file):
            return found
    for name in _INFO:
        beside = file.with_name(name)
        if beside.is_file() and (found := _names_in(beside.read_bytes(), beside)):
            return found
    return ()


def _names_in(info: bytes, path: Path) -> tuple[str, ...]:
    """The names of tags in the features of a dataset, of which there may be several (configs)."""
    try:
        value = json.loads(info, object_pairs_hook=unique_keys)
    except DuplicateKeyError as error:
        raise InputError(str(error), path=path) from error
    except (ValueError, RecursionError):
        return ()
    infos = [value, *value.values()] if isinstance(value, dict) else []
    for own in infos:
        features = own.get("features") if isinstance(own, dict) else None
        for tags in _TAGS:
            match features.get(tags) if isinstance(features, dict) else None:
                case {"feature": {"names": list(names)}} if all(type(n) is str for n in names):
                    return tuple(names)
    return ()


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file, Parquet if it is called so, else JSON lines; raw text is split into sentences."""
    dropped: Counter[str] = Counter()
    sentences = written_sentences(documents, dropped, keeps=NAME, of_document=_OF_DOCUMENT)
    rows = (_row(sentence, path, dropped) for sentence in sentences)
    if path.suffix.lower() == ".parquet":
        dropped.update(write_parquet(rows, path, columns=("id", _WORDS[0], _TAGS[0])))
    else:
        with atomic_write(path, keep=True) as put:
            for row in rows:
                put(json.dumps(row, ensure_ascii=False) + "\n")
    return WriteReport(1, dict(dropped))


def _row(sentence: WordSentence, path: Path, dropped: Counter[str]) -> Object:
    try:
        tags = tags_of(sentence, dropped)
    except ValueError as error:
        raise InputError(f"sentence {shortened(sentence.id)}: {error}", path=path) from error
    return {
        "id": sentence.id,
        _WORDS[0]: list(sentence.words),
        _TAGS[0]: tags,
        **others(kept_in(sentence.extras, NAME, None, sentence.id, path), {"id", *_OF_DOCUMENT}),
        **others(sentence.fields, _OF_DOCUMENT),
    }
