from __future__ import annotations

import asyncio
import time

import pytest

from llm_stub import QUICK_RETRIES, Response, answered, failing, serving
from trigner.errors import TrignerError
from trigner.lab.prompting import endpoint
from trigner.lab.prompting.cache import CompletionCache, CompletionRequest
from trigner.lab.prompting.client import RetryPolicy
from trigner.lab.prompting.completions import complete_all

POLICY = RetryPolicy(**QUICK_RETRIES)


def requests(number):
    return [CompletionRequest("m", f"prompt {n}", {}) for n in range(number)]


def echo(prompt):
    return answered(f"answer to {prompt}")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.jsonl"


def test_every_answer_goes_to_its_question(path):
    cache, told = CompletionCache(path), []
    with serving(echo) as stub:
        summary = complete_all(
            requests(20),
            cache,
            endpoint(stub.base_url),
            retry_policy=POLICY,
            on_progress=lambda done, total: told.append((done, total)),
        )
    assert (summary.failed, summary.stopped) == ({}, None)
    assert (summary.completed, summary.cached) == (20, 0)
    assert told == [(n, 20) for n in range(1, 21)]
    for request in requests(20):
        assert cache.get(request).text == f"answer to {request.prompt}"


def test_nothing_is_asked_twice(path):
    with serving(echo) as stub:
        server = endpoint(stub.base_url)
        complete_all(requests(3) + requests(3), CompletionCache(path), server, retry_policy=POLICY)
        assert len(stub.requests) == 3
        summary = complete_all(requests(5), CompletionCache(path), server, retry_policy=POLICY)
        assert (summary.completed, summary.cached) == (2, 3)
        assert len(stub.requests) == 5


def test_where_a_loop_runs_already_as_in_a_notebook(path):
    async def cell(server):
        return complete_all(requests(2), CompletionCache(path), server, retry_policy=POLICY)

    with serving(echo) as stub:
        assert asyncio.run(cell(endpoint(stub.base_url))).completed == 2


def test_no_more_than_so_many_at_once(path):
    def slow(prompt):
        time.sleep(0.05)
        return echo(prompt)

    with serving(slow) as stub:
        complete_all(
            requests(12),
            CompletionCache(path),
            endpoint(stub.base_url),
            retry_policy=POLICY,
            concurrency=3,
        )
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
        retry_policy = RetryPolicy(max_attempts=2, initial_delay=0.01, timeout=0.5)
        summary = complete_all(
            requests(8), CompletionCache(path), server, retry_policy=retry_policy
        )
    assert (summary.completed, list(summary.failed)) == (7, [requests(8)[3].key])
    assert summary.stopped is None
    with serving(echo) as stub:
        again = complete_all(
            requests(8), CompletionCache(path), endpoint(stub.base_url), retry_policy=POLICY
        )
        assert stub.prompts == ["prompt 3"]
    assert (again.failed, again.stopped) == ({}, None)


@pytest.mark.parametrize(
    ("status", "told"), [(500, "5 requests in a row failed"), (401, "the key was refused")]
)
def test_a_server_that_is_gone_ends_the_run_and_keeps_what_there_is(path, status, told):
    def dies(prompt):
        return echo(prompt) if int(prompt.split()[1]) < 4 else failing(status)

    with serving(dies) as stub:
        server = endpoint(stub.base_url)
        summary = complete_all(
            requests(50), CompletionCache(path), server, retry_policy=POLICY, concurrency=1
        )
    assert told in summary.stopped
    assert summary.completed == len(CompletionCache(path)) == 4
    assert len(stub.requests) <= 4 + 5 * POLICY.max_attempts


def test_refused_prompts_are_no_sign_that_the_server_is_gone(path):
    def refuses(prompt):
        return failing(400, "content policy") if int(prompt.split()[1]) < 12 else echo(prompt)

    def send(number):
        cache, server = CompletionCache(path), endpoint(stub.base_url)
        return complete_all(requests(number), cache, server, retry_policy=POLICY, concurrency=1)

    with serving(refuses) as stub:
        for completed, cached in ((18, 0), (0, 18)):  # what is refused is asked first again
            summary = send(30)
            assert (summary.completed, summary.cached, summary.stopped) == (completed, cached, None)
            assert list(summary.failed.values()) == ["HTTP 400: content policy"] * 12
        assert send(31).completed == 1


def test_a_server_that_refuses_every_prompt_is_not_asked_for_all(path):
    with serving(lambda _: failing(400, "no such parameter")) as stub:
        server = endpoint(stub.base_url)
        summary = complete_all(
            requests(50), CompletionCache(path), server, retry_policy=POLICY, concurrency=1
        )
        assert len(stub.requests) == 20
    assert (
        "none of the first 20 prompts was answered: check the model and its parameters"
        in summary.stopped
    )
    assert "no such parameter" in summary.stopped


def test_without_a_server_only_what_is_recorded_counts(path):
    with serving(echo) as stub:
        complete_all(
            requests(2), CompletionCache(path), endpoint(stub.base_url), retry_policy=POLICY
        )
    summary = complete_all(requests(3), CompletionCache(path), None)
    assert summary.cached == 2
    assert list(summary.failed.values()) == ["no answer is recorded, and no server is given"]


def test_an_answer_that_cannot_be_recorded_ends_the_run(tmp_path, refused):
    (tmp_path / "file").write_text("")
    cache = CompletionCache(tmp_path / "file" / "answers.jsonl")
    with serving(echo) as stub, refused(error=TrignerError):
        complete_all(requests(3), cache, endpoint(stub.base_url), retry_policy=POLICY)
