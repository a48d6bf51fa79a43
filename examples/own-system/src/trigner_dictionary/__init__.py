"""A dictionary matcher: mentions of the training documents are found again, word by word."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from trigner.batches.examples import Prepared
from trigner.errors import InputError
from trigner.mentions import Mention, ScoredMention, Sentence
from trigner.models.folder import Description
from trigner.systems.protocols import Losses, Prediction, SavedState
from trigner.systems.spec import SystemSpec

ENTRIES = "entries.json"

Key = tuple[str, ...]
"""The words of a mention in lower case, its label last."""


class DictionarySettings(BaseModel):
    """The section `model` of a training with this system."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    window: int = Field(default=8, ge=1, description="words from a mention's first to its last")
    least: int = Field(default=1, ge=1, description="times that a mention must have been annotated")


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence of the `Prepared` inputs."""

    sentence: int
    words: tuple[str, ...]
    mentions: tuple[Mention, ...]

    @property
    def size(self) -> int:
        return len(self.words)


def prepare(sentences: Sequence[Sentence]) -> Prepared:
    """Every sentence as one input."""
    words = (tuple(word.lower() for word in s.words) for s in sentences)
    return Prepared(
        tuple(
            Example(n, w, s.mentions) for n, (w, s) in enumerate(zip(words, sentences, strict=True))
        )
    )


@dataclass(frozen=True)
class Dictionary:
    """A predictor: each entry with the share of its occurrences that were annotated."""

    labels: tuple[str, ...]
    entries: Mapping[Key, float]
    window: int

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        return prepare(sentences)

    def predict(self, inputs: Sequence[Example]) -> list[Prediction]:
        return [Prediction(tuple(self._found(each.words))) for each in inputs]

    def _found(self, words: Sequence[str]) -> Iterator[ScoredMention]:
        found = (
            ScoredMention(Mention(places, key[-1]), score)
            for key, score in self.entries.items()
            for places in occurrences(words, key[:-1], self.window)
        )
        yield from sorted(found, key=lambda scored: -scored.score)


def occurrences(
    words: Sequence[str], wanted: Sequence[str], window: int
) -> Iterator[tuple[int, ...]]:
    """Places of the wanted words in order: the nearest following word, within the window."""
    for start in (i for i, word in enumerate(words) if word == wanted[0]):
        places = [start]
        for word in wanted[1:]:
            rest = range(places[-1] + 1, min(start + window, len(words)))
            following = next((i for i in rest if words[i] == word), None)
            if following is None:
                break
            places.append(following)
        else:
            yield tuple(places)


class DictionarySystem:
    """The system that training sees. It has no parameters: it has learnt all in `initialise`."""

    def __init__(self, settings: Any, labels: tuple[str, ...]) -> None:
        import torch

        self.labels = labels
        self.network = torch.nn.Module()
        self._settings: DictionarySettings = settings.model
        self._entries: dict[Key, float] = {}

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        return prepare(sentences)

    def inexpressible(self, sentences: Sequence[Sentence]) -> int:
        window = self._settings.window
        return sum(m.words[-1] - m.words[0] >= window for s in sentences for m in s.mentions)

    def initialise(self, examples: Sequence[Example]) -> None:
        annotated = Counter(
            (*(e.words[i] for i in m.words), m.label) for e in examples for m in e.mentions
        )
        keys = [key for key, count in annotated.items() if count >= self._settings.least]
        seen = Counter(
            {
                key: sum(1 for e in examples for _ in occurrences(e.words, key[:-1], 10**9))
                for key in keys
            }
        )
        self._entries = {key: min(1.0, annotated[key] / max(1, seen[key])) for key in keys}

    def sizes(self, example: Example) -> Mapping[str, int]:
        return {}

    def collate(self, examples: Sequence[Example]) -> dict[str, Any]:
        return {}

    def loss(self, weights: Mapping[str, float], **batch: Any) -> Losses:
        raise TypeError("a dictionary has no loss: training updates nothing")

    def parameter_groups(self, optimisation: Any) -> list[dict[str, Any]]:
        return []

    def predictor(self, device: str = "auto") -> Dictionary:
        return Dictionary(self.labels, self._entries, self._settings.window)

    def saved_state(self) -> SavedState:
        entries = json.dumps([[*key, score] for key, score in self._entries.items()])
        return SavedState({ENTRIES: lambda path: path.write_text(entries, encoding="utf-8")})


def build(settings: Any, labels: tuple[str, ...], init_from: Path | None) -> DictionarySystem:
    return DictionarySystem(settings, labels)


def load(folder: Path, description: Description, *, device: str, threads: int | None) -> Dictionary:
    try:
        rows = json.loads((folder / ENTRIES).read_text(encoding="utf-8"))
        entries = {tuple(map(str, row[:-1])): float(row[-1]) for row in rows}
        settings = DictionarySettings.model_validate(description.model)
    except (OSError, ValueError, TypeError, IndexError) as error:
        raise InputError(f"is damaged: {error}", path=folder / ENTRIES) from error
    return Dictionary(description.labels, entries, settings.window)


SPEC = SystemSpec(
    name="dictionary",
    about="mentions of the training documents, found again by their words",
    build=build,
    load=load,
    settings=DictionarySettings,
    # It reads neither encoder nor batches: two runs that differ in those alone are one.
    encoder=None,
    sampling=None,
    optimisation=None,
)
