from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_answers import ANSWERS, TERRIBLE
from llm_stub import QUICK_RETRIES, answered, failing, serving
from oracles.alignment_naive import reachable
from trigner.corpora import Corpus
from trigner.corpora.words import document_of
from trigner.lab.prompting import endpoint
from trigner.lab.prompting.alignment import REPAIRS, align
from trigner.lab.prompting.cache import CompletionCache
from trigner.lab.prompting.client import Completion, RetryPolicy
from trigner.lab.prompting.completions import RequestSummary
from trigner.lab.prompting.entity_types import ENTITY_TYPES, EntityType, entity_types_of
from trigner.lab.prompting.experiment import (
    build_requests,
    mentions_of,
    prepare_task,
    run_variant,
    score_variant,
)
from trigner.lab.prompting.parsing import Item, ParsedAnswer
from trigner.lab.prompting.prompts import VARIANTS, Variant
from trigner.lab.prompting.sentences import read_sentences, write_sentences
from trigner.mentions import Document, Entity, Mention

ADR = ENTITY_TYPES["cadec"]
TEXT = "My left leg and arm hurt. No pain."
LEG = Entity("ADR", ((3, 11), (20, 24)), "left leg hurt")
ARM = Entity("ADR", ((3, 7), (16, 24)), "left arm hurt")
DATA = Corpus((Document("d", TEXT, (LEG, ARM)),), "brat", ())
TRAIN = Corpus(
    tuple(
        document_of(f"t{n}", f"one two three four five six {n}".split(), m)
        for n, m in enumerate([[Mention((0, 2), "ADR")], [Mention((1,), "ADR")], []] * 2)
    ),
    "grid",
    (),
)
GIVEN = [
    {"entity": "left leg hurt", "index": [1, 2, 5], "type": "ADR"},
    {"entity": "left arm hurt", "index": [1, 5], "type": "adr"},
]


def asked(tmp_path, answerer, variant=VARIANTS[0], data=DATA, **options):
    task = prepare_task(data, ADR, train=TRAIN)
    with serving(answerer) as stub:
        return run_variant(
            task,
            variant,
            CompletionCache(tmp_path / "answers.jsonl"),
            endpoint(stub.base_url),
            model="m",
            retry_policy=RetryPolicy(**QUICK_RETRIES),
            **options,
        )


def leg_and_arm(prompt):
    return answered(json.dumps(GIVEN if '"leg"' in prompt else []))


def test_predictions_have_the_characters_of_the_documents(tmp_path):
    result = asked(tmp_path, leg_and_arm)
    (document,) = result.predicted["text"]
    assert document.text == TEXT
    assert [(e.fragments, e.text) for e in document.entities] == [
        (LEG.fragments, "left leg hurt"),
        (ARM.fragments, "left arm hurt"),
    ]
    assert [result.scores[repair].overall.correct for repair in REPAIRS] == [1, 1, 1, 2]
    assert result.scores["text"].discontinuous.f1 == 1.0
    assert (result.by_text.correct, result.by_text.gold) == (2, 2)
    assert result.failures.counts["wrong indices"] == 1
    assert [one.flags for one in result.sentences] == [[], []]
    told = result.as_json()
    assert list(told["scores"]) == list(REPAIRS)
    assert told["sentences"] == told["answered"] == 2
    json.dumps(told)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_every_variant_asks_for_every_sentence(tmp_path, variant):
    result = asked(tmp_path, leg_and_arm, variant)
    assert len(result.requests) == len(result.sentences) == 2
    assert all(q.prompt.count("Expected") == variant.shots for q in result.requests)


def test_answers_that_are_none_are_empty_predictions_with_a_flag(tmp_path):
    def answerer(prompt):
        return failing(400) if '"leg"' in prompt else answered("It does not hurt.")

    result = asked(tmp_path, answerer)
    assert [document.entities for document in result.predicted["text"]] == [()]
    assert [one.flags for one in result.sentences] == [["no answer"], ["unparsable"]]
    assert result.scores["text"].overall.gold == 2
    assert result.failures.counts["no answer"] == result.failures.counts["unparsable"] == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('```json\n[{"entity": "left leg hurt", "index": ["1", "2", "5"]}]\n\'\'\'', 1),
        ('[{"entity": "left leg hurt", "index": [1, 2, 99], "type": "ADR"}]', 1),
        ('[{"index": [1, 2, 99], "type": "ADR"}]', 0),
        ('[{"entity": "left leg hurt", "index": [1, 2, 5], "type": "ADR"}, {"entity": "le', 1),
        ("I cannot help with medical questions.", 0),
        ("The left leg hurts.", 0),
    ],
    ids=["apostrophes and strings", "out of range", "and no text", "truncated", "refusal", "prose"],
)
def test_what_models_do_is_taken_as_far_as_it_goes(tmp_path, text, found):
    result = asked(tmp_path, lambda p: answered(text if '"leg"' in p else "[]"))
    score = result.scores["text"].overall
    assert (score.correct, score.predicted) == (found, found)


def test_a_sample_is_documents_of_its_own():
    many = Corpus((DATA.documents[0], Document("e", "My arm hurts. My leg is well.")), "brat", ())
    task = prepare_task(many, ADR, size=2, seed=3)
    assert len(task.documents) == len(task.sentences) == 2
    assert task.documents[0].id == "d:1"
    assert task.sentences[0].mentions == (Mention((1, 2, 5), "ADR"), Mention((1, 4, 5), "ADR"))
    assert all(document.words is not None for document in task.documents)
    assert len(prepare_task(many, ADR, stratified=True).sentences) == 2
    assert len(prepare_task(many, ADR, stratified=True, size=9).sentences) == 2
    assert len(prepare_task(many, ADR, stratified=True, size=1).sentences) == 1


def test_other_types_are_left_out_of_gold_and_examples():
    drug = Entity("Drug", ((26, 28),), "No")
    data = Corpus((Document("d", TEXT, (LEG, drug)),), "brat", ())
    task = prepare_task(data, ADR)
    assert [e.label for d in task.documents for e in d.entities] == ["ADR"]


def test_parameters_of_a_request():
    task = prepare_task(DATA, ADR)
    (first, _) = build_requests(task, VARIANTS[0], "m", {"max_tokens": None, "top_p": 1})
    assert first.parameters == {"temperature": 0, "seed": 0, "top_p": 1}
    (first, _) = build_requests(task, Variant(json_schema=True), "m")
    assert first.parameters["response_format"]["type"] == "json_schema"
    assert first.parameters["max_tokens"] == 1024


def test_credentialed_corpora_are_refused_also_from_python(tmp_path, refused):
    there = endpoint("http://192.0.2.1/v1")
    for data, train in ((Corpus(DATA.documents, "share13", ()), None), (DATA, "share14")):
        learned = None if train is None else Corpus(TRAIN.documents, train, ())
        task = prepare_task(data, ADR, train=learned)
        with refused():
            run_variant(task, VARIANTS[0], CompletionCache(tmp_path / "a.jsonl"), there, model="m")
    assert not (tmp_path / "a.jsonl").exists()


def test_types_of_answers():
    two = [EntityType(n, n, n) for n in ("ADR", "Drug")]
    answer = ParsedAnswer(
        tuple(Item((n,), None, t) for n, t in enumerate(["drug", None, "Dose", "ADR", "ADR"])),
        "list",
    )
    words = ["w"] * 9
    assert mentions_of(answer, words, two, "strict") == (
        Mention((0,), "Drug"),
        Mention((3,), "ADR"),
        Mention((4,), "ADR"),
    )
    assert {m.label for m in mentions_of(answer, words, ADR, "strict")} == {"ADR"}
    assert len(mentions_of(answer, words, ADR, "strict")) == 5


def test_mentions_stand_once_and_echoes_do_not():
    item = Item((1, 0), None, "ADR")
    answer = ParsedAnswer(
        (item, Item((0, 1), None, None), Item((2,), "x", "ADR", is_echo=True)), "list"
    )
    assert mentions_of(answer, ["a", "b", "c"], ADR, "strict") == (Mention((0, 1), "ADR"),)


@given(st.lists(ANSWERS, min_size=2, max_size=2))
def test_no_answer_ends_a_run(texts):
    assert_scored_and_saved(texts)


@pytest.mark.parametrize("text", TERRIBLE, ids=lambda text: text[:60])
def test_nothing_terrible_ends_a_run(text):
    assert_scored_and_saved([text, text])


def assert_scored_and_saved(texts):
    """Answers through alignment, scores and failures into the file of sentences."""
    task = prepare_task(DATA, ADR)
    requests = build_requests(task, VARIANTS[0], "m")
    completions = [Completion(text, "stop", None, None, None, 1, 0.0) for text in texts]
    result = score_variant(task, VARIANTS[0], requests, completions, RequestSummary(len(texts), 0))
    json.dumps([result.as_json(), [one.flags for one in result.sentences]])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sentences.jsonl"
        write_sentences(path, task, result)
        read = list(read_sentences(path))
    assert [one.mentions for one in read] == [one.predicted for one in result.sentences]


WORDS = ("pain", "in", "legs", "and", "pain", "in", "arms")
CHOICES = [(0,), (4,), (0, 1, 2), (4, 5, 6), (0, 5, 6), (0, 2), (0, 4), (1, 3, 5), (3, 4)]


@settings(max_examples=300)
@given(
    st.lists(
        st.builds(
            Item,
            st.one_of(
                st.none(),
                st.lists(st.integers(-1, 7), min_size=1, max_size=4).map(tuple),
                # The ends of what may be gold, and what is near to it.
                st.sampled_from([(0, 2), (4, 6)]),
                st.builds(
                    lambda choice, by: tuple(i + by for i in choice),
                    st.sampled_from(CHOICES),
                    st.sampled_from([-2, -1, 0, 1, 2, 3]),
                ),
            ),
            st.one_of(
                st.none(),
                st.sampled_from(["pain", "Pain in arms", "pain legs", "in pain", "pain in legs"]),
                st.sampled_from(["pain, in arms", "rash"]),
            ),
            st.just("ADR"),
        ),
        max_size=5,
    ),
    st.sets(st.sampled_from(CHOICES)),
)
def test_no_repair_beats_an_oracle(items, gold):
    """The oracle may take for each item whichever words it likes that fit its text or indices."""
    best = sum(not gold.isdisjoint(reachable(WORDS, item.indices, item.text)) for item in items)
    for repair in REPAIRS:
        assert sum(align(item, WORDS, repair) in gold for item in items) <= best
        found = mentions_of(ParsedAnswer(tuple(items), "list"), WORDS, ADR, repair)
        assert sum(mention.words in gold for mention in found) <= best
        assert len(found) <= len(items)


def test_subjects_come_from_the_documents():
    assert entity_types_of(DATA.documents, format=DATA.format) == (EntityType("ADR", "ADR", "ADR"),)
