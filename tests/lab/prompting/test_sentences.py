from __future__ import annotations

import json

import pytest

from llm_stub import QUICK_RETRIES, answered, serving
from trigner.corpora import Corpus
from trigner.corpora.words import document_of
from trigner.lab.prompting import endpoint
from trigner.lab.prompting.cache import CompletionCache
from trigner.lab.prompting.client import RetryPolicy
from trigner.lab.prompting.entity_types import ENTITY_TYPES
from trigner.lab.prompting.experiment import prepare_task, run_variant
from trigner.lab.prompting.prompts import Variant
from trigner.lab.prompting.sentences import read_sentences, words_sha256, write_sentences
from trigner.mentions import Mention

GOLD = document_of("d", ["sore", "left", "and", "right", "arm"], [Mention((0, 3, 4), "ADR")])
ITEMS = [
    {"entity": "sore right arm", "index": [0, 3, 4], "type": "ADR"},
    {"entity": "arm", "index": [9], "type": "ADR"},
]


def test_what_is_written_is_read_again(tmp_path):
    task = prepare_task(Corpus((GOLD,), "grid", ()), ENTITY_TYPES["cadec"])
    with serving(lambda _: answered(json.dumps(ITEMS))) as stub:
        result = run_variant(
            task,
            Variant(0),
            CompletionCache(tmp_path / "answers.jsonl"),
            endpoint(stub.base_url),
            model="m",
            retry_policy=RetryPolicy(**QUICK_RETRIES),
        )
    path = tmp_path / "sentences.jsonl"
    write_sentences(path, task, result)
    (read,) = read_sentences(path)
    assert (read.document, read.sentence, read.line) == ("d", 0, 1)
    assert read.types == ("ADR",)
    assert read.words == words_sha256(task.sentences[0].words) == "27b550173286c1d3"
    assert read.mentions == (Mention((0, 3, 4), "ADR"), Mention((4,), "ADR"))
    line = json.loads(path.read_text())
    assert [item["entity"] for item in line["items"]] == ["sore right arm", "arm"]


def test_the_hash_is_of_the_words():
    assert words_sha256(["left", "arm"]) != words_sha256(["left arm"])
    assert len(words_sha256(["\ud800"])) == 16


LINE = {"document": "d", "sentence": 0, "types": ["ADR"], "words_sha256": "0", "predicted": []}


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"document": "d"}',
        *(json.dumps({k: v for k, v in LINE.items() if k != left_out}) for left_out in LINE),
        json.dumps({**LINE, "types": "ADR"}),
        json.dumps(LINE).replace("{", '{"sentence": 1, '),
        json.dumps({**LINE, "predicted": [{"index": [2, 1], "type": "ADR"}]}),
        json.dumps({**LINE, "predicted": [{"index": [], "type": "ADR"}]}),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, refused):
    path = tmp_path / "sentences.jsonl"
    path.write_text(json.dumps(LINE) + "\n" + line + "\n")
    with refused() as caught:
        list(read_sentences(path))
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_a_file_that_is_not_there(tmp_path, refused):
    with refused():
        list(read_sentences(tmp_path / "absent.jsonl"))
