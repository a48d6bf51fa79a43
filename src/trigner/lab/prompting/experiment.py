"""One prompt variant on one corpus: requests, completions, predictions, scores, failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trigner.corpora import Corpus, document_of, with_types
from trigner.evaluation import Score, Scores, score, sign
from trigner.lab.prompting.alignment import REPAIRS, Repair, align, tokens
from trigner.lab.prompting.cache import CompletionCache, CompletionRequest
from trigner.lab.prompting.client import Completion, RetryPolicy
from trigner.lab.prompting.completions import OnProgress, RequestSummary, complete_all
from trigner.lab.prompting.endpoint import Endpoint, check_licence
from trigner.lab.prompting.entity_types import EntityType, label_named
from trigner.lab.prompting.failures import FailureCounts, SentenceResult, count_failures
from trigner.lab.prompting.few_shot import few_shot_examples
from trigner.lab.prompting.parsing import ParsedAnswer, parse
from trigner.lab.prompting.prompts import Variant, build_prompt, response_format
from trigner.lab.prompting.sampling import sample
from trigner.mentions import Document, Mention, Sentence
from trigner.text import entity_of, segment

DEFAULT_PARAMETERS: Mapping[str, Any] = {"temperature": 0, "seed": 0, "max_tokens": 1024}
"""Request parameters unless the caller sets others; None removes one."""


@dataclass(frozen=True, slots=True)
class Task:
    """What to ask about: documents, their sentences, and the entity types to find.

    `corpora` are the formats of the texts and of the training data, for their licences.
    """

    documents: tuple[Document, ...]
    sentences: tuple[Sentence, ...]
    train: tuple[Sentence, ...]
    entity_types: tuple[EntityType, ...]
    corpora: tuple[str, ...]
    left_out: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class VariantResult:
    """The result of one variant.

    `predicted` and `scores` are by repair; `by_text` compares only the texts of entities, wherever
    they occur, and is not an exact match. `sentences` are the single results, in order; they and
    `failures` use the predictions with repair `text`.
    """

    variant: Variant
    requests: tuple[CompletionRequest, ...]
    summary: RequestSummary
    predicted: Mapping[Repair, tuple[Document, ...]]
    scores: Mapping[Repair, Scores]
    by_text: Score
    failures: FailureCounts
    sentences: tuple[SentenceResult, ...] = field(repr=False)

    def as_json(self) -> dict[str, Any]:
        """Scores by repair, text match, failures and numbers of answers."""
        return {
            "scores": {repair: scores.as_json() for repair, scores in self.scores.items()},
            "text_match": self.by_text.as_json(),
            "failures": self.failures.as_json(),
            "sentences": len(self.sentences),
            "answered": self.summary.completed,
            "recorded_before": self.summary.cached,
            "without_answer": len(self.summary.failed),
        }


def prepare_task(
    data: Corpus,
    entity_types: Sequence[EntityType],
    *,
    train: Corpus | None = None,
    stratified: bool = False,
    size: int | None = None,
    seed: int = 0,
) -> Task:
    """The task of finding these entity types in a corpus, with examples from `train`.

    With `size`, `stratified` or both, in a sample of it (see `sample`): each sampled sentence then
    becomes a pretokenised document called `document:number`, so that scores are about the sample
    only. Gold entities of other types are ignored.
    """
    labels = {one.label for one in entity_types}
    documents = with_types(data.documents, labels)
    sentences = [s for document in documents for s in segment(document).sentences]
    if stratified or size is not None:
        drawn = sample(sentences, size, stratified=stratified, seed=seed)
        documents = tuple(
            document_of(f"{s.document}:{s.index + 1}", s.words, s.mentions) for s in drawn
        )
        sentences = [s for document in documents for s in segment(document).sentences]
    training = () if train is None else train.documents
    return Task(
        documents=documents,
        sentences=tuple(sentences),
        train=tuple(s for d in with_types(training, labels) for s in segment(d).sentences),
        entity_types=tuple(entity_types),
        corpora=tuple(dict.fromkeys([data.format, *([train.format] if train else [])])),
        left_out=data.left_out,
        seed=seed,
    )


def build_requests(
    task: Task, variant: Variant, model: str, parameters: Mapping[str, Any] | None = None
) -> tuple[CompletionRequest, ...]:
    """One request for each sentence of the task, in order.

    `parameters` add to `DEFAULT_PARAMETERS` or replace them. Raises InputError when the training
    data has too few sentences for the variant's examples.
    """
    schema = response_format(task.entity_types, variant)
    merged = {**DEFAULT_PARAMETERS, "response_format": schema, **(parameters or {})}
    sent = {name: value for name, value in merged.items() if value is not None}
    examples = few_shot_examples(task.train, variant.shots, variant.examples, seed=task.seed)
    return tuple(
        CompletionRequest(
            model, build_prompt(s.words, examples(s), task.entity_types, variant), sent
        )
        for s in task.sentences
    )


def run_variant(
    task: Task,
    variant: Variant,
    cache: CompletionCache,
    server: Endpoint | None,
    *,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    retry_policy: RetryPolicy | None = None,
    concurrency: int = 4,
    has_permission: bool = False,
    on_progress: OnProgress | None = None,
) -> VariantResult:
    """Send a variant's requests, except those in the cache, and score the completions.

    A sentence without a completion, or with an unparsable one, has no predictions and counts as a
    failure. Raises InputError when a credentialed corpus would leave this machine without
    `has_permission`, and the errors of `complete_all`.
    """
    check_licence(task.corpora, server, has_permission=has_permission)
    requests = build_requests(task, variant, model, parameters)
    summary = complete_all(
        requests,
        cache,
        server,
        retry_policy=retry_policy,
        concurrency=concurrency,
        on_progress=on_progress,
    )
    return score_variant(task, variant, requests, [cache.get(r) for r in requests], summary)


def score_variant(
    task: Task,
    variant: Variant,
    requests: Sequence[CompletionRequest],
    completions: Sequence[Completion | None],
    summary: RequestSummary,
) -> VariantResult:
    """The result of a variant from one completion (or None) for each sentence of the task."""
    answers = [ParsedAnswer() if one is None else parse(one.text) for one in completions]
    by_repair = {
        repair: [
            mentions_of(answer, sentence.words, task.entity_types, repair)
            for answer, sentence in zip(answers, task.sentences, strict=True)
        ]
        for repair in REPAIRS
    }
    predicted = {repair: _documents(task, found) for repair, found in by_repair.items()}
    settings = {
        "variant": variant.name,
        "model": requests[0].model if requests else "",
        "parameters": dict(requests[0].parameters) if requests else {},
    }
    scores = {
        repair: score(
            task.documents,
            documents,
            signature=sign(task.documents, settings={**settings, "repair": repair}),
            left_out=task.left_out,
        )
        for repair, documents in predicted.items()
    }
    sentences = tuple(
        SentenceResult(sentence.words, sentence.mentions, completion, answer, mentions)
        for sentence, completion, answer, mentions in zip(
            task.sentences, completions, answers, by_repair["text"], strict=True
        )
    )
    return VariantResult(
        variant=variant,
        requests=tuple(requests),
        summary=summary,
        predicted=predicted,
        scores=scores,
        by_text=_text_match(sentences, task.entity_types),
        failures=count_failures(sentences, task.entity_types),
        sentences=sentences,
    )


def mentions_of(
    answer: ParsedAnswer, words: Sequence[str], entity_types: Sequence[EntityType], repair: Repair
) -> tuple[Mention, ...]:
    """The distinct mentions of an answer, in its order.

    An unknown type is taken for the one asked for; if several were, its item is dropped.
    """
    found: dict[Mention, None] = {}
    for item in answer.items:
        label = _label(item.label, entity_types)
        chosen = align(item, words, repair)
        if label is not None and chosen is not None and not item.is_echo:
            found[Mention(chosen, label)] = None
    return tuple(found)


def _label(name: str | None, entity_types: Sequence[EntityType]) -> str | None:
    return entity_types[0].label if len(entity_types) == 1 else label_named(name, entity_types)


def _documents(task: Task, found: Sequence[Sequence[Mention]]) -> tuple[Document, ...]:
    """The task's documents with the mentions found in each sentence as their entities."""
    sources = {document.id: document for document in task.documents}
    entities: dict[str, list[Any]] = {name: [] for name in sources}
    for sentence, mentions in zip(task.sentences, found, strict=True):
        source = sources[sentence.document]
        entities[source.id] += [entity_of(source, sentence, mention) for mention in mentions]
    return tuple(
        replace(source, entities=tuple(entities[source.id]), extras=()) for source in task.documents
    )


def _text_match(sentences: Sequence[SentenceResult], entity_types: Sequence[EntityType]) -> Score:
    """Compares the texts of entities by sentence and type, ignoring case and positions."""
    gold, predicted = set(), set()
    for number, one in enumerate(sentences):
        for mention in one.gold:
            text = " ".join(one.words[word] for word in mention.words)
            gold.add((number, mention.label, tokens(text)))
        for item in one.answer.items:
            label = _label(item.label, entity_types)
            if item.text is not None and label is not None and not item.is_echo:
                predicted.add((number, label, tokens(item.text)))
    return Score(len(gold & predicted), len(predicted), len(gold))
