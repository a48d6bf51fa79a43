from __future__ import annotations

import asyncio
import email.utils
import time

import pytest

from llm_stub import QUICK_RETRIES, Response, answered, failing, serving
from trigner.lab.prompting import endpoint
from trigner.lab.prompting.client import (
    Client,
    CompletionError,
    FatalError,
    RetryPolicy,
    _retry_after,
)

GOOD = answered("[]")
PROXY = Response(body=b"<html>Bad gateway</html>", headers={"Content-Type": "text/html"})


def complete(base_url, prompt="p", parameters=None, **retry_policy):
    async def ask():
        async with Client(
            endpoint(base_url), RetryPolicy(**{**QUICK_RETRIES, **retry_policy})
        ) as client:
            return await client.complete(prompt, "m", parameters or {})

    return asyncio.run(ask())


def in_turn(*responses):
    remaining = iter(responses)
    return lambda _: next(remaining)


def test_an_answer_and_what_was_sent():
    with serving(lambda _: answered("[1]")) as stub:
        reply = complete(stub.base_url, "Pain – ü", {"temperature": 0, "max_tokens": 7})
    assert (reply.text, reply.finish_reason, reply.response_model) == ("[1]", "stop", "stub-1")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.attempts) == (10, 5, 1)
    (request,) = stub.requests
    assert request == {
        "model": "m",
        "messages": [{"role": "user", "content": "Pain – ü"}],
        "temperature": 0,
        "max_tokens": 7,
    }


@pytest.mark.parametrize(
    "failure",
    [
        failing(429),
        failing(500),
        failing(503),
        failing(408),
        PROXY,
        Response(502, b"<html>Bad gateway</html>", {"Content-Type": "text/html"}),
        Response(body=GOOD.body, headers=GOOD.headers, cut=20),
        Response(body=GOOD.body[:30], headers=GOOD.headers),
        Response(body=b"[]", headers=GOOD.headers),
        Response(body=b'{"choices": []}', headers=GOOD.headers),
        Response(body=b'{"choices": [{"message": null}]}', headers=GOOD.headers),
        Response(body=b"\xff\xfe", headers=GOOD.headers),
        Response(hangs=True),
    ],
    ids=lambda r: f"{r.status}-{'hangs' if r.hangs else r.body[:12]!r}-{r.cut}",
)
def test_failures_that_pass_are_tried_again(failure):
    with serving(in_turn(failure, failure, GOOD)) as stub:
        reply = complete(stub.base_url, timeout=1.0 if failure.hangs else 5.0)
    assert reply.text == "[]"
    assert reply.attempts == len(stub.requests) == 3


@pytest.mark.parametrize(
    "failure",
    [
        failing(500, "on fire"),
        PROXY,
        Response(hangs=True),
        Response(body=GOOD.body, headers=GOOD.headers, cut=20),
    ],
)
def test_attempts_come_to_an_end(failure, refused):
    with serving(lambda _: failure) as stub, refused(error=CompletionError) as error:
        complete(stub.base_url, timeout=0.2 if failure.hangs else 5.0)
    assert "(3 attempts)" in str(error.value)
    assert len(stub.requests) == 3


def test_nobody_listens(refused):
    with serving(lambda _: GOOD) as stub:
        pass
    with refused(error=CompletionError):
        complete(stub.base_url)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_prompt_that_is_refused_is_not_asked_again(status):
    refused = pytest.raises(CompletionError, match="too long")
    with serving(lambda _: failing(status, "too long")) as stub, refused:
        complete(stub.base_url)
    assert len(stub.requests) == 1


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_no_prompt_can_pass_is_fatal(status):
    fatal = pytest.raises(FatalError, match=f"HTTP {status}")
    with serving(lambda _: failing(status)) as stub, fatal:
        complete(stub.base_url)
    assert len(stub.requests) == 1


def test_retry_after_is_honoured():
    with serving(in_turn(failing(429, **{"Retry-After": "0.7"}), GOOD)) as stub:
        started = time.monotonic()
        assert complete(stub.base_url).attempts == 2
        assert time.monotonic() - started >= 0.7


def test_a_wait_that_is_too_long_ends_it(refused):
    busy = failing(429, "quota", **{"Retry-After": "7200"})
    with (
        serving(lambda _: busy) as stub,
        refused(error=FatalError),
    ):
        complete(stub.base_url)
    assert len(stub.requests) == 1


def test_retry_after_in_its_forms():
    assert _retry_after({"retry-after": "3"}) == 3
    assert _retry_after({"retry-after": "-3"}) == 0
    assert _retry_after({"retry-after": "soon"}) is None
    assert _retry_after({"retry-after": "nan"}) is None
    assert _retry_after({}) is None
    date = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert 90 < _retry_after({"retry-after": date}) <= 100


def test_waits_grow_and_vary():
    retry_policy = RetryPolicy(initial_delay=1, max_delay=5)
    for attempt, longest in ((1, 1), (2, 2), (3, 4), (4, 5), (500, 5)):
        waits = {retry_policy.delay(attempt) for _ in range(20)}
        assert len(waits) > 1
        assert all(longest / 2 <= wait <= longest for wait in waits)


@pytest.mark.parametrize(
    "url", ["http://☃.invalid/v1", "http://a/v1\x07", f"http://a/{'v' * 70_000}"]
)
def test_an_address_that_nothing_can_be_sent_to(url, refused):
    with refused():
        Client(endpoint(url))


@pytest.mark.parametrize("charset", ["base64", "rot13", "undefined", "idna", "utf-16", "x"])
def test_an_odd_character_set_is_not_believed(charset):
    headers = {"Content-Type": f"application/json; charset={charset}"}
    good = Response(body=b"\xef\xbb\xbf" + GOOD.body, headers=headers)
    with serving(in_turn(Response(500, b"on fire", headers), good)) as stub:
        assert complete(stub.base_url).text == "[]"


def test_redirects_are_not_followed(refused):
    elsewhere = serving(lambda _: GOOD)
    with elsewhere as other:
        moved = Response(307, b"", {"Location": f"{other.base_url}/chat/completions"})
        with serving(lambda _: moved) as stub, refused(error=CompletionError):
            complete(stub.base_url)
        assert not other.requests


def test_no_proxy_on_the_way_to_this_machine(monkeypatch):
    with serving(lambda _: GOOD) as proxy, serving(lambda _: GOOD) as stub:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.base_url)
        complete(stub.base_url)
    assert len(stub.requests) == 1
    assert not proxy.requests


def test_what_the_environment_holds_for_openai_is_not_sent_elsewhere(monkeypatch):
    secrets = {
        "OPENAI_API_KEY": "sk-secret",
        "OPENAI_ORG_ID": "org-secret",
        "OPENAI_PROJECT_ID": "proj-secret",
        "OPENAI_ADMIN_KEY": "adm-secret",
    }
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    with serving(lambda _: GOOD) as stub:
        complete(stub.base_url)
    sent = str(stub.headers)
    assert not any(secret in sent for secret in secrets.values())


@pytest.mark.parametrize(
    ("response", "text", "reason"),
    [
        (answered(None, refusal="I will not"), "I will not", "refusal"),
        (answered(None, finish_reason="content_filter"), "", "content_filter"),
        (answered("[", finish_reason="length"), "[", "length"),
        (answered([{"type": "text", "text": "[]"}]), "[]", "stop"),
    ],
)
def test_refusals_and_cut_answers_are_answers(response, text, reason):
    with serving(lambda _: response) as stub:
        reply = complete(stub.base_url)
    assert (reply.text, reply.finish_reason) == (text, reason)
