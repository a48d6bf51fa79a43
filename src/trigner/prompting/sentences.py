"""`sentences.jsonl`: what a variant's answers say of each sentence, one line each."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trigner.corpora.reading import write_text
from trigner.errors import InputError
from trigner.mentions import Mention
from trigner.prompting.running import Outcome, Task

SENTENCES = "sentences.jsonl"
"""The file's name in a variant's folder."""


@dataclass(frozen=True, slots=True)
class Predicted:
    """The mentions in a sentence, by the repair `text`; `line` is its place in the file."""

    document: str
    sentence: int
    mentions: tuple[Mention, ...]
    line: int


def write_sentences(path: Path, task: Task, outcome: Outcome) -> None:
    """For each sentence its question, what was read from the answer, its flags and mentions."""
    lines = [
        {
            "document": sentence.document,
            "sentence": sentence.index,
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
            yield Predicted(str(told["document"]), int(told["sentence"]), mentions, number)
        except (ValueError, TypeError, KeyError) as error:
            raise InputError(f"is damaged: {error}", path=path, line=number) from error
