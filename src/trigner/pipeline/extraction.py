"""Text -> entities: the pipeline from documents to documents.

Sentences are predicted on in batches of similar length. A sentence's entities depend on its own
words alone, and where the model reads context along (`model.context_words`) on those around it;
on its batch, too, with the three settings of the published code that let padding in
(`model.empty_word=batch_minimum`, `model.mask_between=false`, `model.toe.mask_padding=false`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, overload

from trigner.batches import Prepared, by_cost
from trigner.corpora import document_of
from trigner.errors import InputError, TrignerError
from trigner.mentions import SCORE_DIGITS, Document, Entity, ScoredMention, Sentence, shortened
from trigner.pipeline.checks import check_words, checked
from trigner.pipeline.chunks import Chunk, DocumentPart, chunks, ordered
from trigner.pipeline.found import Extracted, PartialResult, Run, assembled
from trigner.pipeline.options import checked_thresholds, positive
from trigner.pipeline.statistics import RunStatistics
from trigner.pipeline.texts import as_document, as_documents, checked_documents, checked_words
from trigner.systems import Prediction, Predictor
from trigner.text import entity_of, segment

CELL_BUDGET = 20_000
"""Word pairs predicted on at a time, padding included; larger sentences go alone. Each
takes some 7 KB with the bundled model (research/decisions/streaming.md)."""

MENTIONS = 1_000
"""Of a sentence, at most, whether it is read through windows or not: the best are kept."""


Annotator = Callable[[Document, Sentence, Entity], Mapping[str, Any] | None]
"""Gives fields to an entity that was found in a sentence of a document, such as `negated`."""


class Source(Protocol):
    """Where an extractor's model was loaded from, so that another process can load it again."""

    @property
    def folder(self) -> Path:
        """The model's folder."""
        ...

    def load(self, **options: Any) -> Extractor:
        """The same model with these fields of an extractor."""
        ...


@dataclass(frozen=True)
class Extractor:
    """Finds entities in texts, documents or ready words.

    `threshold` drops entities with a lower score; `thresholds` are those of single labels. What is
    found gets the fields of all `annotators`. One that was loaded from a folder can be pickled: it
    is loaded again from there.
    """

    predictor: Predictor
    system: str
    batch_size: int = 32
    threshold: float = 0.0
    thresholds: Mapping[str, float] = field(default_factory=dict, hash=False)
    source: Source | None = None
    annotators: tuple[Annotator, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The entity types that this model can find."""
        return self.predictor.labels

    @overload
    def __call__(  # type: ignore[overload-overlap]  # a string is one text, not many of a character
        self,
        text: str | Document,
        *,
        threshold: float | Mapping[str, float] | None = None,
        batch_size: int | None = None,
    ) -> Document: ...

    @overload
    def __call__(
        self,
        *,
        words: Sequence[str],
        threshold: float | Mapping[str, float] | None = None,
        batch_size: int | None = None,
    ) -> Document: ...

    @overload
    def __call__(
        self,
        text: Iterable[str | Document],
        *,
        threshold: float | Mapping[str, float] | None = None,
        batch_size: int | None = None,
    ) -> list[Document]: ...

    def __call__(
        self,
        text: str | Document | Iterable[str | Document] | None = None,
        *,
        words: Sequence[str] | None = None,
        threshold: float | Mapping[str, float] | None = None,
        batch_size: int | None = None,
    ) -> Document | list[Document]:
        """Entities of a text, a document, a list of these, or a sentence of ready words.

        A document's own entities are replaced. With words, the text is the words joined by blanks
        and `Document.words` their character ranges. `threshold` (as `with_threshold` takes it) and
        `batch_size` are for this call. Raises InputError unless either a text or words are given,
        and for what is not text, such as None or NaN in a list: it is named by its place. A table
        is none: give its column of texts.
        """
        if (text is None) == (words is None):
            raise InputError(
                "give either a text or words, not " + ("None" if text is None else "both")
            )
        chosen = self.with_threshold(threshold)._with_batch_size(batch_size)
        if words is not None:
            return next(chosen.documents([document_of("text", checked_words(words))]))
        if isinstance(text, str | Document):
            return next(chosen.documents([as_document(text, "text")]))
        return list(chosen.documents(as_documents(text)))

    def stream(
        self,
        texts: Iterable[str | Document],
        *,
        threshold: float | Mapping[str, float] | None = None,
        batch_size: int | None = None,
    ) -> Run:
        """Entities of each text or document, in order, in constant memory.

        Raises InputError for a single string or a table, and when it comes to what is not text.
        """
        if isinstance(texts, str | bytes):
            raise InputError("stream takes several texts: give a list, or call the model with one")
        chosen = self.with_threshold(threshold)._with_batch_size(batch_size)
        return chosen.documents(as_documents(texts))

    def with_threshold(self, threshold: float | Mapping[str, float] | None) -> Extractor:
        """The same with another threshold of all types, or of those that it names.

        Types that it does not name keep theirs, and None changes nothing. Raises InputError for one
        that is no number in [0, 1] and for a type that the model does not have.
        """
        if threshold is None:
            return self
        of_all, of_types = checked_thresholds(threshold, {}, self.labels)
        if isinstance(threshold, Mapping):
            of_all, of_types = self.threshold, {**self.thresholds, **of_types}
        return replace(self, threshold=of_all, thresholds=of_types)

    def _with_batch_size(self, batch_size: int | None) -> Extractor:
        if batch_size is None:
            return self
        return replace(self, batch_size=positive("batch_size", batch_size))

    def documents(
        self, documents: Iterable[Document], statistics: RunStatistics | None = None
    ) -> Run:
        """The documents with what was found in place of their entities, in order.

        Memory does not grow with their number, and with the length of one by its entities alone.
        What the run meets is added to `statistics` if they are given.
        """
        statistics = RunStatistics() if statistics is None else statistics
        return Run(self._found(self._prepared(documents), statistics), statistics)

    def repeatedly(self, documents: Iterable[Document]) -> Callable[[], list[Document]]:
        """What gives the documents with what the model finds at the time, as often as it is called.

        Sentences and inputs are made once, and stay in memory: for models that change.
        """
        prepared = list(self._prepared(documents))
        return lambda: list(self._found(prepared, RunStatistics()))

    def _prepared(self, documents: Iterable[Document]) -> Iterator[tuple[Chunk, Prepared]]:
        for chunk in chunks(documents):
            yield chunk, self.predictor.prepare(chunk.sentences)

    def batch(self, documents: Iterable[Document]) -> tuple[list[Extracted], RunStatistics]:
        """Each document under its own id, in order; one that fails ends with its own error.

        Documents are first read together. Should that fail, each is read alone. Raises InputError
        for what is no document.
        """
        documents = list(checked_documents(documents))
        try:
            run = self.documents(documents)
            found = [Extracted(document.id, document) for document in run]
        except Exception:
            statistics = RunStatistics()
            return [self._alone(document, statistics) for document in documents], statistics
        return found, run.statistics

    def _alone(self, document: Document, statistics: RunStatistics) -> Extracted:
        try:
            (found,) = self.documents([document], statistics)
        except Exception as error:  # whatever it is, it is this document's alone
            reason = (
                str(error)
                if isinstance(error, TrignerError)
                else f"{type(error).__name__}: {error}"
            )
            return Extracted(document.id, None, reason)
        return Extracted(document.id, found)

    def _found(
        self, prepared: Iterable[tuple[Chunk, Prepared]], statistics: RunStatistics
    ) -> Iterator[Document]:
        return assembled(self._partial_results(prepared, statistics))

    def partial_results(
        self, documents: Iterable[Document], statistics: RunStatistics
    ) -> Iterator[PartialResult]:
        """What `documents` finds, as it is found: a long document comes in several, in order."""
        return self._partial_results(self._prepared(documents), statistics)

    def _partial_results(
        self, prepared: Iterable[tuple[Chunk, Prepared]], statistics: RunStatistics
    ) -> Iterator[PartialResult]:
        for chunk, inputs in prepared:
            predictions = iter(self._mentions(len(chunk.sentences), inputs, statistics))
            for part in chunk.parts:
                if not (part.sentences or part.is_last):
                    continue
                found = [
                    entity
                    for sentence, mentions in zip(part.sentences, predictions, strict=False)
                    for entity in self.entities(part.document, sentence, mentions)
                ]
                yield PartialResult(part.document, tuple(ordered(found)), _end(part), part.is_last)

    def entities(
        self, document: Document, sentence: Sentence, mentions: Iterable[ScoredMention]
    ) -> Iterator[Entity]:
        """The mentions of a sentence as entities of its document, without those below threshold.

        A score has `SCORE_DIGITS` digits, and it is these that the threshold is compared with.
        """
        for scored in mentions:
            check_words(scored, sentence, self.system)
            score = min(1.0, round(float(scored.score), SCORE_DIGITS))
            if score >= self.thresholds.get(scored.mention.label, self.threshold):
                entity = _with_characters(
                    document, entity_of(document, sentence, scored.mention, score)
                )
                if entity.text.strip():
                    yield self._annotated(document, sentence, entity)

    def _annotated(self, document: Document, sentence: Sentence, entity: Entity) -> Entity:
        fields: dict[str, Any] = {}
        for annotator in self.annotators:
            given: Any = annotator(document, sentence, entity)
            if not isinstance(given, Mapping | None):
                expected = "an annotator gives a mapping of fields, or None"
                raise InputError(f"{expected}; {shortened(annotator)} gave {shortened(given)}")
            fields |= given or {}
        try:
            return replace(entity, fields=fields) if fields else entity
        except ValueError as error:
            raise InputError(f"an annotator gave an entity wrong fields: {error}") from error

    def predictions(
        self, sentences: Sequence[Sentence], statistics: RunStatistics | None = None
    ) -> list[list[ScoredMention]]:
        """The mentions of each sentence, best first, of one sentence at most `MENTIONS`."""
        prepared = self.predictor.prepare(sentences)
        return self._mentions(len(sentences), prepared, statistics or RunStatistics())

    def _mentions(
        self, sentences: int, prepared: Prepared, statistics: RunStatistics
    ) -> list[list[ScoredMention]]:
        statistics.add_prepared(sentences, prepared)
        found: list[list[ScoredMention]] = [[] for _ in range(sentences)]
        bounded: set[int] = set()
        for own, prediction in self.predicted(prepared.inputs):
            found[own.sentence] += prediction.mentions
            statistics.on_special_words += prediction.on_special_words
            if prediction.bounded:
                bounded.add(own.sentence)
        bounded.update(index for index, mentions in enumerate(found) if best_first(mentions))
        statistics.bounded += len(bounded)
        return found

    def predicted(self, inputs: Sequence[Any]) -> Iterator[tuple[Any, Prediction]]:
        """Each input with its prediction, checked, in batches of similar length."""
        labels = frozenset(self.labels)
        for chosen in self.batches(inputs):
            found = checked(self.predictor.predict(chosen), len(chosen), labels, self.system)
            yield from zip(chosen, found, strict=True)

    def batches(self, inputs: Sequence[Any]) -> Iterator[list[Any]]:
        """The inputs in batches of similar length, longest first."""
        sizes = [own.size for own in inputs]
        for batch in by_cost(sizes, sentences=self.batch_size, cells=CELL_BUDGET):
            yield [inputs[i] for i in batch]

    def beyond_windows(self, documents: Iterable[Document]) -> int:
        """How many mentions of annotated documents lie whole in no window of a long sentence.

        They cannot be found; in text without annotations nobody can know of them.
        """
        lost = 0
        for document in documents:
            annotated = [s for s in segment(document).sentences if s.mentions]
            lost += len(self.predictor.prepare(annotated).lost)
        return lost

    def __deepcopy__(self, _: object = None) -> Extractor:
        return self  # nothing of it changes

    __copy__ = __deepcopy__

    def __reduce__(self) -> tuple[Any, ...]:
        if self.source is None:
            raise TrignerError(
                "this extractor cannot be pickled: it was not loaded from a folder; make one with"
                " trigner.load(FOLDER), which can be"
            )
        options = {
            "batch_size": self.batch_size,
            "threshold": self.threshold,
            "thresholds": dict(self.thresholds),
            "annotators": self.annotators,
        }
        return partial(self.source.load, **options), ()


def best_first(mentions: list[ScoredMention]) -> bool:
    """Sort the mentions of a sentence by score and keep the best; whether there were too many."""
    mentions.sort(key=lambda scored: -scored.score)
    too_many = len(mentions) > MENTIONS
    del mentions[MENTIONS:]
    return too_many


def _with_characters(document: Document, entity: Entity) -> Entity:
    """Given words may be empty: a fragment without characters is none."""
    if all(start < end for start, end in entity.fragments):
        return entity
    fragments = tuple((start, end) for start, end in entity.fragments if start < end)
    return replace(entity, fragments=fragments, text=document.surface(fragments))


def _end(part: DocumentPart) -> int:
    """The character of a document behind a part of it."""
    return len(part.document.text) if part.is_last else part.sentences[-1].offsets[-1][1]
