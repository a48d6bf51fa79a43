"""`sentences.jsonl`: what a variant's answers say of each sentence, one line per sentence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trigner.errors import InputError
from trigner.lab.prompting.experiment import Task, VariantResult
from trigner.machine import unique_keys, write_text
from trigner.mentions import Mention

SENTENCES = "sentences.jsonl"
"""Its name in a variant's folder."""


@dataclass(frozen=True, slots=True)
class SentencePrediction:
    """The mentions predicted in a sentence, with repair `text`; `line` is its line in the file.

    `types` are the labels that were asked for, `words` is the sentence's `words_sha256`.
    """

    document: str
    sentence: int
    types: tuple[str, ...]
    words: str
    mentions: tuple[Mention, ...]
    line: int


def words_sha256(words: Sequence[str]) -> str:
    """16 hex digits of a SHA-256 over the words, which tie a line to its sentence."""
    joined = "\x1f".join(words).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:16]


def write_sentences(path: Path, task: Task, result: VariantResult) -> None:
    """For each sentence its request, what was read from the answer, its flags and mentions."""
    types = [one.label for one in task.entity_types]
    lines = [
        {
            "document": sentence.document,
            "sentence": sentence.index,
            "words_sha256": words_sha256(sentence.words),
            "types": types,
            "request": request.key,
            "flags": one.flags,
            "found_in": one.answer.found_in,
            "written_as": one.answer.syntax,
            "items": [
                {"index": item.indices, "entity": item.text, "type": item.label}
                for item in one.answer.items
            ],
            "predicted": [{"index": m.words, "type": m.label} for m in one.predicted],
        }
        for sentence, request, one in zip(
            task.sentences, result.requests, result.sentences, strict=True
        )
    ]
    write_text(path, "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines))


def read_sentences(path: Path) -> Iterator[SentencePrediction]:
    """What `write_sentences` wrote. Raises InputError for a file that cannot be read or used."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path) from error
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line, object_pairs_hook=unique_keys)
            mentions = tuple(
                Mention(tuple(map(int, found["index"])), str(found["type"]))
                for found in value["predicted"]
            )
            yield SentencePrediction(
                document=str(value["document"]),
                sentence=int(value["sentence"]),
                types=_texts(value["types"]),
                words=str(value["words_sha256"]),
                mentions=mentions,
                line=number,
            )
        except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
            raise InputError(f"damaged line: {error}", path=path, line=number) from error


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("types must be a list of labels")
    return tuple(value)
