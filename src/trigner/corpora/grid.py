"""Grid JSON, W2NER's format: `[{"sentence": [words], "ner": [{"index": [0, 3], "type": "ADR"}]}]`.

An `id` is optional. Word indices are sorted and freed of duplicates, which is noted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from trigner.corpora.documents import files, peek, place, values
from trigner.corpora.reading import Reading, WriteReport, write_text
from trigner.corpora.words import document_of, sentences_of
from trigner.errors import InputError
from trigner.mentions import Document, Mention

NAME = "grid"


def recognises(path: Path) -> bool:
    """JSON with `sentence` in it, and no text of its own."""
    found = files(path, (".json",))
    return bool(found) and all(_is_grid(peek(file)) for file in found)


def _is_grid(start: str) -> bool:
    return '"sentence"' in start and '"passages"' not in start and start.lstrip()[:1] == "["


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each sentence."""
    found = files(path, (".json",))
    for file in found:
        prefix = f"{file.stem}/" if len(found) > 1 else ""
        for number, (line, item) in enumerate(values(file), 1):
            words, given = _parts(item, file, number, line)
            where = place(number, line)
            mentions = [
                mention
                for entry in given
                if (mention := _mention(entry, len(words), reading, file, where)) is not None
            ]
            name = str(item.get("id", f"{file.stem}-{number}"))
            yield document_of(prefix + name, words, mentions)


def write(documents: Sequence[Document], path: Path) -> WriteReport:
    """One file; documents of raw text are split into sentences first."""
    sentences, unreachable = sentences_of(documents)
    items = [
        {
            "id": sentence.id,
            "sentence": list(sentence.words),
            "ner": [{"index": list(m.words), "type": m.label} for m in sentence.mentions],
        }
        for sentence in sentences
    ]
    lines = ",\n".join(json.dumps(item, ensure_ascii=False) for item in items)
    write_text(path, f"[\n{lines}\n]\n" if lines else "[]\n")
    return WriteReport(1, dropped_with_words(documents, unreachable))


def dropped_with_words(documents: Sequence[Document], unreachable: int) -> dict[str, int]:
    """What any format of ready words has no place for."""
    return {
        "entities that do not fit on words of one sentence": unreachable,
        "scores": sum(e.score is not None for d in documents for e in d.entities),
        "relations or notes": sum(len(d.extras) for d in documents),
    }


def _parts(item: Any, path: Path, number: int, line: int) -> tuple[list[str], list[Any]]:
    where = place(number, line)
    if not isinstance(item, dict) or not isinstance(item.get("sentence"), list):
        raise InputError(
            f"{where}expected an object with a list `sentence`", path=path, line=line or None
        )
    words = item["sentence"]
    # Published corpora have words that are empty: they are kept, and have no characters.
    if not all(isinstance(word, str) for word in words):
        raise InputError(f"{where}every word must be a string", path=path, line=line or None)
    given = item.get("ner", [])
    if not isinstance(given, list):
        raise InputError(f"{where}`ner` is no list", path=path, line=line or None)
    return words, given


def _mention(entry: Any, length: int, reading: Reading, path: Path, where: str) -> Mention | None:
    indices = entry.get("index") if isinstance(entry, dict) else None
    label = entry.get("type") if isinstance(entry, dict) else None
    whole = isinstance(indices, list) and all(type(index) is int for index in indices)
    if not whole or not indices or not isinstance(label, str) or not label:
        reading.bad(f"{where}an entity needs `index` and `type`: {entry!r}", path=path)
        return None
    return checked(indices, label, length, reading, path=path, where=where)


def checked(
    indices: list[int],
    label: str,
    length: int,
    reading: Reading,
    *,
    path: Path,
    line: int | None = None,
    where: str = "",
) -> Mention | None:
    """A mention of word indices in any order; None when one is outside the sentence."""
    outside = [index for index in indices if not 0 <= index < length]
    if outside:
        reading.bad(
            f"{where}word {outside[0]} is outside a sentence of {length} words",
            path=path,
            line=line,
        )
        return None
    words = tuple(sorted(set(indices)))
    if words != tuple(indices):
        reading.note(
            f"{where}word indices {indices} sorted, duplicates removed", path=path, line=line
        )
    return Mention(words, label)
