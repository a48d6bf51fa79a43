from __future__ import annotations

import asyncio
import time

import pytest

from llm_stub import PATIENT, Response, answered, failing, serving
from trigner.errors import TrignerError
from trigner.prompting import Answers, Patience, Question, ask, endpoint

PATIENCE = Patience(**PATIENT)


def asking(number):
    return [Question("m", f"prompt {n}", {}) for n in range(number)]


def echo(prompt):
    return answered(f"answer to {prompt}")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


def test_every_answer_goes_to_its_question(path):
    answers, told = Answers(path), []
    with serving(echo) as stub:
        asked = ask(
            asking(20),
            answers,
            endpoint(stub.base_url),
            patience=PATIENCE,
            finished=lambda done, total: told.append((done, total)),
        )
    assert asked.is_complete
    assert (asked.answered, asked.recorded) == (20, 0)
    assert told == [(n, 20) for n in range(1, 21)]
    for question in asking(20):
        assert answers.get(question).text == f"answer to {question.prompt}"


def test_nothing_is_asked_twice(path):
    with serving(echo) as stub:
        server = endpoint(stub.base_url)
        ask(asking(3) + asking(3), Answers(path), server, patience=PATIENCE)
        assert len(stub.requests) == 3
        asked = ask(asking(5), Answers(path), server, patience=PATIENCE)
        assert (asked.answered, asked.recorded) == (2, 3)
        assert len(stub.requests) == 5


def test_where_a_loop_runs_already_as_in_a_notebook(path):
    async def cell(server):
        return ask(asking(2), Answers(path), server, patience=PATIENCE)

    with serving(echo) as stub:
        assert asyncio.run(cell(endpoint(stub.base_url))).answered == 2


def test_no_more_than_so_many_at_once(path):
    def slow(prompt):
        time.sleep(0.05)
        return echo(prompt)

    with serving(slow) as stub:
        ask(asking(12), Answers(path), endpoint(stub.base_url), patience=PATIENCE, concurrency=3)
    assert stub.most_at_once == 3


@pytest.mark.parametrize(
    "bad",
    [Response(hangs=True), Response(cut=0, body=b"xx"), failing(500), failing(400),
     Response(body=b"<html></html>")],
    ids=["hangs", "drops", "500", "400", "html"],
)  # fmt: skip
def test_one_question_without_an_answer_costs_no_other(path, bad):
    with serving(lambda p: bad if p == "prompt 3" else echo(p)) as stub:
        server = endpoint(stub.base_url)
        patience = Patience(attempts=2, first_wait=0.01, timeout=0.5)
        asked = ask(asking(8), Answers(path), server, patience=patience)
    assert (asked.answered, list(asked.failed)) == (7, [asking(8)[3].key])
    assert not asked.is_complete
    with serving(echo) as stub:
        again = ask(asking(8), Answers(path), endpoint(stub.base_url), patience=PATIENCE)
        assert stub.prompts == ["prompt 3"]
    assert again.is_complete


@pytest.mark.parametrize(
    ("status", "told"), [(500, "5 questions in a row got no answer"), (401, "the key is refused")]
)
def test_a_server_that_is_gone_ends_the_run_and_keeps_what_there_is(path, status, told):
    def dies(prompt):
        return echo(prompt) if int(prompt.split()[1]) < 4 else failing(status)

    with serving(dies) as stub:
        server = endpoint(stub.base_url)
        asked = ask(asking(50), Answers(path), server, patience=PATIENCE, concurrency=1)
    assert told in asked.stopped
    assert asked.answered == len(Answers(path)) == 4
    assert len(stub.requests) <= 4 + 5 * PATIENCE.attempts


def test_without_a_server_only_what_is_recorded_counts(path):
    with serving(echo) as stub:
        ask(asking(2), Answers(path), endpoint(stub.base_url), patience=PATIENCE)
    asked = ask(asking(3), Answers(path), None)
    assert asked.recorded == 2
    assert list(asked.failed.values()) == ["no answer is recorded, and no server is given"]


def test_an_answer_that_cannot_be_recorded_ends_the_run(tmp_path):
    (tmp_path / "file").write_text("")
    answers = Answers(tmp_path / "file" / "answers.jsonl")
    with serving(echo) as stub, pytest.raises(TrignerError, match="cannot write"):
        ask(asking(3), answers, endpoint(stub.base_url), patience=PATIENCE)
