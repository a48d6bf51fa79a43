"""One variant of prompting on one corpus: questions, answers, predictions, scores, failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from trigner.corpora import Corpus, document_of
from trigner.evaluation import Score, Scores, score, sign
from trigner.mentions import Document, Mention, Sentence
from trigner.prompting.alignment import REPAIRS, Repair, align, pieces
from trigner.prompting.answers import Answers, Question, Recorded
from trigner.prompting.asking import Asked, Finished, ask
from trigner.prompting.client import Patience
from trigner.prompting.endpoint import Endpoint, check_licence
from trigner.prompting.examples import chooser
from trigner.prompting.failures import Failures, Judged, answer_failures, count_failures
from trigner.prompting.parsing import Answer, parse
from trigner.prompting.prompts import Variant, prompt, response_format
from trigner.prompting.sampling import sample
from trigner.prompting.subjects import Subject, label_named
from trigner.text import entity_of, segment

PARAMETERS: Mapping[str, Any] = {"temperature": 0, "seed": 0, "max_tokens": 1024}
"""Of a request, unless the caller says otherwise; None takes one out."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked about: documents in sentences, and what to find in them.

    `corpora` are the formats that the texts and examples came in, for their licences.
    """

    documents: tuple[Document, ...]
    sentences: tuple[Sentence, ...]
    train: tuple[Sentence, ...]
    subjects: tuple[Subject, ...]
    corpora: tuple[str, ...]
    left_out: int = 0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a variant.

    `predicted` and `scores` are by repair; `by_text` compares texts of entities alone, wherever
    they stand, and is no exact match. `judged` are the sentences one by one, in order; `failures`
    looks at the predictions of the repair `text`. `recorded` are the raw answers, by question.
    """

    variant: Variant
    questions: tuple[Question, ...]
    asked: Asked
    predicted: Mapping[Repair, tuple[Document, ...]]
    scores: Mapping[Repair, Scores]
    by_text: Score
    failures: Failures
    judged: tuple[Judged, ...] = field(repr=False)

    def flags(self) -> list[list[str]]:
        """For each sentence, in which ways its answer as a whole went wrong."""
        return [answer_failures(one.text, one.finish_reason, one.answer) for one in self.judged]

    def as_json(self) -> dict[str, Any]:
        """Scores by repair, the match of texts, failures and what was asked."""
        return {
            "scores": {repair: scores.as_json() for repair, scores in self.scores.items()},
            "text_match": self.by_text.as_json(),
            "failures": self.failures.as_json(),
            "sentences": len(self.judged),
            "answered": self.asked.answered,
            "recorded_before": self.asked.recorded,
            "without_answer": len(self.asked.failed),
        }


def prepare(
    data: Corpus,
    subjects: Sequence[Subject],
    *,
    train: Corpus | None = None,
    stratified: bool = False,
    size: int | None = None,
    seed: int = 0,
) -> Task:
    """The task of finding `subjects` in a corpus, with examples from `train`.

    With `size`, `stratified` or both, of a sample (see `sample`): each of its sentences is then a
    document of ready words of its own, called `document:number`, so that scores are about the
    sample alone. Gold of other types is left out.
    """
    labels = {subject.label for subject in subjects}
    documents = tuple(_of_labels(document, labels) for document in data.documents)
    sentences = [s for document in documents for s in segment(document).sentences]
    if stratified or size is not None:
        drawn = sample(sentences, size, stratified=stratified, seed=seed)
        documents = tuple(
            document_of(f"{s.document}:{s.index + 1}", s.words, s.mentions) for s in drawn
        )
        sentences = [s for document in documents for s in segment(document).sentences]
    learned = () if train is None else train.documents
    return Task(
        documents=documents,
        sentences=tuple(sentences),
        train=tuple(s for d in learned for s in segment(_of_labels(d, labels)).sentences),
        subjects=tuple(subjects),
        corpora=tuple(dict.fromkeys([data.format, *([train.format] if train else [])])),
        left_out=data.left_out,
        seed=seed,
    )


def questions(
    task: Task, variant: Variant, model: str, parameters: Mapping[str, Any] | None = None
) -> tuple[Question, ...]:
    """One question for each sentence of the task, in order.

    `parameters` are set beside or in place of `PARAMETERS`. Raises InputError when the training
    part cannot give the variant's examples.
    """
    form = response_format(task.subjects, variant)
    wanted = {**PARAMETERS, "response_format": form, **(parameters or {})}
    sent = {name: value for name, value in wanted.items() if value is not None}
    examples = chooser(task.train, variant.shots, variant.examples, seed=task.seed)
    return tuple(
        Question(model, prompt(s.words, examples(s), task.subjects, variant), sent)
        for s in task.sentences
    )


def run(
    task: Task,
    variant: Variant,
    answers: Answers,
    server: Endpoint | None,
    *,
    model: str,
    parameters: Mapping[str, Any] | None = None,
    patience: Patience | None = None,
    concurrency: int = 4,
    has_permission: bool = False,
    finished: Finished | None = None,
) -> Outcome:
    """Ask a variant's questions, as far as they are not answered yet, and score the answers.

    A sentence without an answer, or with one that cannot be read, has no predictions, and is
    counted. Raises InputError when a credentialed corpus would leave this machine without
    `has_permission`; see `ask` for what else is raised.
    """
    check_licence(task.corpora, server, has_permission=has_permission)
    asking = questions(task, variant, model, parameters)
    asked = ask(
        asking,
        answers,
        server,
        patience=patience,
        concurrency=concurrency,
        finished=finished,
    )
    return judge(task, variant, asking, [answers.get(q) for q in asking], asked)


def judge(
    task: Task,
    variant: Variant,
    asking: Sequence[Question],
    recorded: Sequence[Recorded | None],
    asked: Asked,
) -> Outcome:
    """Predictions, scores and failures of answers, one (or None) for each sentence of the task."""
    parsed = [Answer() if one is None else parse(one.text) for one in recorded]
    by_repair = {
        repair: [
            mentions_of(answer, sentence.words, task.subjects, repair)
            for answer, sentence in zip(parsed, task.sentences, strict=True)
        ]
        for repair in REPAIRS
    }
    predicted = {repair: _documents(task, found) for repair, found in by_repair.items()}
    settings = {
        "variant": variant.name,
        "model": asking[0].model if asking else "",
        "parameters": dict(asking[0].parameters) if asking else {},
    }
    scores = {
        repair: score(
            task.documents,
            documents,
            signature=str(sign(task.documents, settings={**settings, "repair": repair})),
            left_out=task.left_out,
        )
        for repair, documents in predicted.items()
    }
    judged = tuple(
        Judged(
            words=sentence.words,
            gold=sentence.mentions,
            text=None if one is None else one.text,
            finish_reason=None if one is None else one.finish_reason,
            answer=answer,
            predicted=mentions,
        )
        for sentence, one, answer, mentions in zip(
            task.sentences, recorded, parsed, by_repair["text"], strict=True
        )
    )
    return Outcome(
        variant=variant,
        questions=tuple(asking),
        asked=asked,
        predicted=predicted,
        scores=scores,
        by_text=_text_match(judged, task.subjects),
        failures=count_failures(judged, task.subjects),
        judged=judged,
    )


def mentions_of(
    answer: Answer, words: Sequence[str], subjects: Sequence[Subject], repair: Repair
) -> tuple[Mention, ...]:
    """The mentions of an answer, each once, in its order.

    A type that was not asked for counts as the only one there is; of several it is dropped.
    """
    found: dict[Mention, None] = {}
    for item in answer.items:
        label = _label(item.label, subjects)
        chosen = align(item, words, repair)
        if label is not None and chosen is not None and not item.is_echo:
            found[Mention(chosen, label)] = None
    return tuple(found)


def _label(name: str | None, subjects: Sequence[Subject]) -> str | None:
    return subjects[0].label if len(subjects) == 1 else label_named(name, subjects)


def _of_labels(document: Document, labels: set[str]) -> Document:
    return replace(document, entities=tuple(e for e in document.entities if e.label in labels))


def _documents(task: Task, found: Sequence[Sequence[Mention]]) -> tuple[Document, ...]:
    """The task's documents with these mentions, by sentence, in place of their entities."""
    sources = {document.id: document for document in task.documents}
    entities: dict[str, list[Any]] = {name: [] for name in sources}
    for sentence, mentions in zip(task.sentences, found, strict=True):
        source = sources[sentence.document]
        entities[source.id] += [entity_of(source, sentence, mention) for mention in mentions]
    return tuple(
        replace(source, entities=tuple(entities[source.id]), extras=()) for source in task.documents
    )


def _text_match(judged: Sequence[Judged], subjects: Sequence[Subject]) -> Score:
    """Texts of entities, each once a sentence and type, without case and places."""
    gold, predicted = set(), set()
    for number, one in enumerate(judged):
        for mention in one.gold:
            text = " ".join(one.words[word] for word in mention.words)
            gold.add((number, mention.label, pieces(text)))
        for item in one.answer.items:
            label = _label(item.label, subjects)
            if item.text is not None and label is not None and not item.is_echo:
                predicted.add((number, label, pieces(item.text)))
    return Score(len(gold & predicted), len(predicted), len(gold))
