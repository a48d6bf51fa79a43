"""`sentences.jsonl`: what a variant's answers say of each sentence, one line each."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trigner.atomic_files import write_text
from trigner.errors import InputError
from trigner.mentions import Mention
from trigner.prompting.running import Outcome, Task

SENTENCES = "sentences.jsonl"
"""The file's name in a variant's folder."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """The mentions in a sentence, by the repair `text`; `line` is its place in the file.

    `types` are the labels that were asked for, `words` is the sentence's `words_sha256`.
    """

    document: str
    sentence: int
    types: tuple[str, ...]
    words: str
    mentions: tuple[Mention, ...]
    line: int


def words_sha256(words: Sequence[str]) -> str:
    """What ties a line to its sentence: 16 hex digits of a SHA-256 over the words."""
    joined = "\x1f".join(words).encode("utf-8", "surrogatepass")
    return hashlib.sha256(joined).hexdigest()[:16]


def write_sentences(path: Path, task: Task, outcome: Outcome) -> None:
    """For each sentence what was asked, what was read from the answer, its flags and mentions."""
    types = [subject.label for subject in task.subjects]
    lines = [
        {
            "document": sentence.document,
            "sentence": sentence.index,
            "words_sha256": words_sha256(sentence.words),
            "types": types,
            "question": question.key,
            "flags": flags,
            "found_in": one.answer.place,
            "written_as": one.answer.spelling,
            "items": [
                {"index": item.indices, "entity": item.text, "type": item.label}
                for item in one.answer.items
            ],
            "predicted": [{"index": m.words, "type": m.label} for m in one.predicted],
        }
        for sentence, question, one, flags in zip(
            task.sentences, outcome.questions, outcome.judged, outcome.flags(), strict=True
        )
    ]
    write_text(path, "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines))


def read_sentences(path: Path) -> Iterator[Predicted]:
    """What `write_sentences` wrote. Raises InputError for a file that cannot be read or used."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", path=path) from error
    for number, line in enumerate(lines, 1):
        try:
            told = json.loads(line)
            mentions = tuple(
                Mention(tuple(map(int, found["index"])), str(found["type"]))
                for found in told["predicted"]
            )
            yield Predicted(
                document=str(told["document"]),
                sentence=int(told["sentence"]),
                types=_texts(told["types"]),
                words=str(told["words_sha256"]),
                mentions=mentions,
                line=number,
            )
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"is damaged: {error}", path=path, line=number) from error


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("types are no list of labels")
    return tuple(value)
