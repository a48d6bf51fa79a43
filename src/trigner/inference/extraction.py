"""Text -> entities: the pipeline from documents to documents.

Sentences are scored in batches of similar length, decoded one by one and never kept as scores. A
sentence's entities depend on its own words alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trigner.batches import Batch, Example, SubwordTokenizer, Windowing, by_cost, collate, windowing
from trigner.corpora import document_of
from trigner.errors import InputError
from trigner.inference.chunks import chunks
from trigner.mentions import Document, Entity, Mention, ScoredMention, Sentence
from trigner.schemes import Decoding, Scheme
from trigner.text import entity_of, segment

Scorer = Callable[[Batch], NDArray[np.floating[Any]]]
"""A batch to logits, special words included: `[B, L, L, C]`, of a sequence scheme `[B, L, C]`."""

CELL_BUDGET = 60_000
"""Word pairs scored at a time, padding included; larger sentences go alone."""


@dataclass
class RunStatistics:
    """What a run met beside entities. Counts grow while documents are drawn from the run.

    `bounded`: sentences whose mentions hit the scheme's bound; `on_special_words`: decoded mentions
    that touch [POS] or [NEG] and were left out; `windowed`: sentences over the encoder's limit,
    read through windows; `truncated`: words represented by their first subwords only.
    """

    sentences: int = 0
    bounded: int = 0
    on_special_words: int = 0
    windowed: int = 0
    truncated: int = 0

    def add(self, sentences: int, windowing: Windowing) -> None:
        """Count sentences that are about to be read."""
        self.sentences += sentences
        self.windowed += windowing.windowed
        self.truncated += windowing.truncated

    def notices(self) -> list[str]:
        """A sentence for each thing worth telling."""
        told = [
            (
                self.bounded,
                "with more mentions than decoding's bounds: the best that it found are kept",
            ),
            (self.windowed, "over the encoder's limit: read through overlapping windows"),
        ]
        notices = [f"{n} of {self.sentences} sentences {what}" for n, what in told if n]
        if self.on_special_words:
            notices.append(f"{self.on_special_words} predictions on [POS] or [NEG] left out")
        if self.truncated:
            notices.append(f"{self.truncated} very long words represented by their first subwords")
        return notices


@dataclass(frozen=True)
class Extractor:
    """Finds entities in texts, documents or ready words.

    `max_subwords` is the encoder's limit. Logits are divided by `temperature`, which makes scores
    probabilities (`inference.calibration`) and changes no entity. `threshold` drops entities with
    a lower score; `thresholds` are those of single labels.
    """

    scorer: Scorer
    scheme: Scheme
    subwords: SubwordTokenizer
    padding_id: int
    max_subwords: int
    batch_size: int = 32
    temperature: float = 1.0
    threshold: float = 0.0
    thresholds: Mapping[str, float] = field(default_factory=dict)
    tally: RunStatistics = field(default_factory=RunStatistics)

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that this model can find."""
        return self.scheme.labels

    def __call__(self, text: str | None = None, *, words: Sequence[str] | None = None) -> Document:
        """Entities of one text, or of one sentence of ready words.

        With words, the document's text is the words joined by blanks and `Document.words` their
        character ranges. Raises InputError unless exactly one of the two is given.
        """
        if (text is None) == (words is None):
            raise InputError("give a text or words, one of the two")
        document = Document("text", text or "") if words is None else document_of("text", words)
        (found,) = self.documents([document])
        return found

    def stream(self, texts: Iterable[str], *, batch_size: int | None = None) -> Iterator[Document]:
        """Entities of each text, in order, in constant memory."""
        chosen = self if batch_size is None else replace(self, batch_size=batch_size)
        return chosen.documents(Document(str(n), text) for n, text in enumerate(texts))

    def documents(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents with what was found in place of their entities, in order.

        Memory does not grow with their number, and with the length of one by its entities alone.
        """
        for chunk in chunks(documents):
            found = self.mentions(chunk.sentences)
            for unfinished, sentence, mentions in zip(
                chunk.owners, chunk.sentences, found, strict=True
            ):
                unfinished.entities += self._entities(unfinished.document, sentence, mentions)
            for unfinished in chunk.ending:
                yield unfinished.finished()

    def _entities(
        self, document: Document, sentence: Sentence, mentions: Iterable[ScoredMention]
    ) -> Iterator[Entity]:
        for scored in mentions:
            if scored.score >= self.thresholds.get(scored.mention.label, self.threshold):
                entity = entity_of(document, sentence, scored.mention, scored.score)
                # Given words may be empty: what has no characters is no entity.
                if entity.text.strip():
                    yield entity

    def beyond_windows(self, documents: Iterable[Document]) -> int:
        """How many mentions of annotated documents lie whole in no window of a long sentence.

        They cannot be found; in text without annotations nobody can know of them.
        """
        lost = 0
        for document in documents:
            annotated = [s for s in segment(document).sentences if s.mentions]
            lost += len(windowing(annotated, self.subwords, self.max_subwords).lost)
        return lost

    def mentions(self, sentences: Sequence[Sentence]) -> list[list[ScoredMention]]:
        """The mentions of each sentence, best first."""
        found: list[list[ScoredMention]] = [[] for _ in sentences]
        bounded = set()
        for example, logits in self.scored(sentences):
            decoding = self.decode(example, logits)
            found[example.sentence] += decoding.mentions
            if not decoding.complete:
                bounded.add(example.sentence)
        self.tally.bounded += len(bounded)
        for mentions in found:
            mentions.sort(key=lambda scored: -scored.score)
        return found

    def scored(
        self, sentences: Sequence[Sentence]
    ) -> Iterator[tuple[Example, NDArray[np.floating[Any]]]]:
        """Each window of the sentences with its logits, padding still behind them."""
        parts = windowing(sentences, self.subwords, self.max_subwords)
        self.tally.add(len(sentences), parts)
        examples = parts.examples
        lengths = [example.length + len(self.subwords.special_words) for example in examples]
        for batch in by_cost(lengths, sentences=self.batch_size, cells=CELL_BUDGET):
            chosen = [examples[i] for i in batch]
            logits = self.scorer(collate([e.subwords for e in chosen], padding_id=self.padding_id))
            yield from zip(chosen, logits, strict=True)

    def decode(self, example: Example, logits: NDArray[np.floating[Any]]) -> Decoding:
        """The mentions of a window that it answers for, as mentions of its sentence."""
        specials = len(self.subwords.special_words)
        words = (slice(specials + example.length),) * self.scheme.tag_space.word_axes
        decoding = self.scheme.decode(logits[words] / self.temperature)
        found = []
        for scored in decoding.mentions:
            if scored.mention.words[0] < specials:
                self.tally.on_special_words += 1
                continue
            shifted = tuple(word - specials for word in scored.mention.words)
            own = Mention(shifted, scored.mention.label)
            mention = example.in_sentence(own)
            if mention is not None:
                found.append(ScoredMention(mention, scored.score))
        return Decoding(tuple(found), decoding.complete)
