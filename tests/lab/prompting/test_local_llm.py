"""Everything together, with a real model that writes what it likes."""

from __future__ import annotations

import pytest

from trigner.corpora import Corpus
from trigner.corpora.words import document_of
from trigner.lab.prompting import endpoint, estimate
from trigner.lab.prompting.cache import CompletionCache
from trigner.lab.prompting.client import RetryPolicy
from trigner.lab.prompting.entity_types import ENTITY_TYPES
from trigner.lab.prompting.experiment import prepare_task, run_variant
from trigner.lab.prompting.prompts import Variant
from trigner.mentions import Mention

WORDS = ["My", "hands", "and", "feet", "itch", "badly", "."]
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
    task = prepare_task(DATA, ENTITY_TYPES["cadec"], train=TRAIN)
    path = tmp_path / "answers.jsonl"

    def ask(server):
        return run_variant(
            task,
            variant,
            CompletionCache(path),
            server,
            model="smollm2",
            parameters={"max_tokens": 48},
            retry_policy=RetryPolicy(timeout=120, max_attempts=1),
        )

    result = ask(endpoint(local_llm))
    assert not result.summary.failed, result.summary
    assert result.summary.stopped is None
    recorded = CompletionCache(path).get(result.requests[0])
    assert recorded.finish_reason in ("stop", "length")
    assert 0 < recorded.completion_tokens <= 48
    assert result.scores["text"].overall.gold == 1
    if variant.json_schema:
        # The server held the answer to the schema: JSON as far as it goes.
        assert recorded.text.lstrip().startswith("{")
        assert recorded.finish_reason == "length" or not result.sentences[0].answer.is_unparsable
    about = estimate(result.requests, []).prompt_tokens
    assert abs(about / recorded.prompt_tokens - 1) < 0.25
    again = ask(None)
    assert again.summary.cached == 1
    assert again.as_json()["scores"] == result.as_json()["scores"]
