"""Everything together, with a real model that writes what it likes."""

from __future__ import annotations

import pytest

from trigner.corpora import Corpus, document_of
from trigner.mentions import Mention
from trigner.prompting import (
    SUBJECTS,
    Answers,
    Patience,
    Variant,
    endpoint,
    estimate,
    prepare,
    run,
)

WORDS = ["My", "hands", "and", "feet", "itch", "badly", "."]
KNEE = ["My", "left", "knee", "and", "hip", "hurt", "."]
DATA = Corpus((document_of("d", WORDS, [Mention((0, 1, 4), "ADR")]),), "grid", ())
TRAIN = Corpus(
    (
        document_of(
            "t", ["My", "left", "knee", "and", "hip", "hurt", "."], [Mention((1, 4, 5), "ADR")]
        ),
    ),
    "grid",
    (),
)


@pytest.mark.parametrize(
    "variant", [Variant(1), Variant(0, index_base=True, json_schema=True)], ids=lambda v: v.name
)
def test_a_real_server_answers_once(local_llm, tmp_path, variant):
    task = prepare(DATA, SUBJECTS["cadec"], train=TRAIN)
    path = tmp_path / "answers.jsonl"

    def ask(server):
        return run(
            task,
            variant,
            Answers(path),
            server,
            model="smollm2",
            parameters={"max_tokens": 48},
            patience=Patience(timeout=120, attempts=1),
        )

    outcome = ask(endpoint(local_llm))
    assert outcome.asked.is_complete, outcome.asked
    recorded = Answers(path).get(outcome.questions[0])
    assert recorded.finish_reason in ("stop", "length")
    assert 0 < recorded.answer_tokens <= 48
    assert outcome.scores["text"].overall.gold == 1
    if variant.json_schema:
        # The server held the answer to the schema: JSON as far as it goes.
        assert recorded.text.lstrip().startswith("{")
        assert recorded.finish_reason == "length" or not outcome.judged[0].answer.is_unparsable
    about = estimate(outcome.questions, []).prompt_tokens
    assert abs(about / recorded.prompt_tokens - 1) < 0.25
    again = ask(None)
    assert again.asked.recorded == 1
    assert again.as_json()["scores"] == outcome.as_json()["scores"]
