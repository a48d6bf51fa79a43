"""Many requests at once, slow ones, clients that disconnect: on an event loop of the test's own."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from fastapi import HTTPException

from trigner.serving.admission import AdmissionControl
from trigner.serving.app import create_app
from trigner.serving.settings import ServiceSettings

SECRET = "what a user sent"


class Call:
    """One request to the application, sent as an ASGI server would."""

    def __init__(self, app, body, *, hold=False, client="test"):
        self.app = app
        self.client = client
        self.messages = asyncio.Queue()
        self.status, self.headers, self.body = None, {}, b""
        if not hold:
            self.messages.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self.task = asyncio.ensure_future(self._run())

    def disconnect(self):
        self.messages.put_nowait({"type": "http.disconnect"})

    async def _run(self):
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
            "path": "/v1/extract", "raw_path": b"/v1/extract", "root_path": "", "scheme": "http",
            "query_string": b"", "headers": [], "client": (self.client, 1), "server": ("test", 2),
        }  # fmt: skip
        await self.app(scope, self.messages.get, self._send)

    async def _send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {k.decode(): v.decode() for k, v in message["headers"]}
        else:
            self.body += message.get("body", b"")


def body(**fields):
    return json.dumps(fields).encode()


def with_service(scenario, extract, **settings):
    """Run a scenario against a service that is started and stopped around it."""

    async def run():
        app = create_app(extract, ServiceSettings(**settings))
        async with app.router.lifespan_context(app):
            await asyncio.wait_for(scenario(app), 60)

    asyncio.run(run())


async def entered(gate):
    assert await asyncio.to_thread(gate.entered.wait, 20)


def test_too_many_requests_get_503(gated, gate):
    async def scenario(app):
        gate.shut()
        held = [Call(app, body(text="no pain.")) for _ in range(3)]
        await entered(gate)
        refused = Call(app, body(text="no pain."))
        await refused.task
        assert refused.status == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert b"too many requests" in refused.body
        gate.open.set()
        for call in held:
            await call.task
        assert [call.status for call in held] == [200] * 3
        after = Call(app, body(text="no pain."))
        await after.task
        assert after.status == 200

    with_service(scenario, gated, max_waiting=3)


def test_when_to_retry_is_how_long_requests_took_on_average(monkeypatch):
    now = [100.0]
    clock = SimpleNamespace(monotonic=lambda: now[0])
    monkeypatch.setattr("trigner.serving.admission.time", clock)
    control = AdmissionControl(None, ServiceSettings(max_waiting=1, timeout=30))

    async def requests(number, *, seconds):
        for _ in range(number):
            async with control.admit() as deadline:
                assert deadline == now[0] + 30
                with pytest.raises(HTTPException) as raised:
                    await control.admit().__aenter__()
                now[0] += seconds
        return int(raised.value.headers["Retry-After"])

    waits = [(1, 20), (200, 7.5), (200, 900)]
    told = [asyncio.run(requests(number, seconds=seconds)) for number, seconds in waits]
    assert told == [1, 8, 30]


def test_timeouts(gated, gate):
    async def scenario(app):
        gate.shut()
        running = Call(app, body(text="no pain."))
        await entered(gate)
        waiting = Call(app, body(text="no pain."))
        await asyncio.gather(running.task, waiting.task)
        assert running.status == 504
        assert b"timed out after 0.5 seconds" in running.body
        assert waiting.status == 503
        assert b"timed out in the queue: retry in" in waiting.body
        assert waiting.headers["retry-after"]
        gate.open.set()
        after = Call(app, body(text="no pain."))
        await after.task
        assert after.status == 200

    with_service(scenario, gated, timeout=0.5)


def test_a_timeout_while_reading_the_body(extract):
    async def scenario(app):
        call = Call(app, b"", hold=True)
        await call.task
        assert call.status == 408
        assert b"timed out while reading the request body" in call.body

    with_service(scenario, extract, body_timeout=0.2)


def test_work_stops_when_the_client_disconnects(gated, gate):
    async def scenario(app):
        gate.shut()
        before = len(gate.sizes)
        call = Call(app, body(text="My leg hurt. " * 500))
        await entered(gate)
        call.disconnect()
        await call.task
        gate.open.set()
        other = Call(app, body(text="no pain."))
        await other.task
        assert other.status == 200
        assert len(gate.sizes) - before == 2

    with_service(scenario, gated)


def test_a_client_that_disconnects_while_it_sends_frees_its_slot(extract):
    async def scenario(app):
        call = Call(app, b"", hold=True)
        await asyncio.sleep(0.05)
        call.disconnect()
        await call.task
        assert call.status == 499
        for _ in range(3):
            after = Call(app, body(text="no pain."))
            await after.task
            assert after.status == 200

    with_service(scenario, extract, max_waiting=1)


def test_what_is_half_done_is_dropped_when_nobody_waits_any_more(gated, gate):
    """Sentences of two lengths are two batches of one turn: the second is not computed."""
    text = "My leg hurt. " * 4 + " ".join(["leg"] * 40) + "."

    async def scenario(app):
        gate.shut()
        before = len(gate.sizes)
        call = Call(app, body(text=text))
        await entered(gate)
        await call.task
        assert call.status == 504
        gate.open.set()
        after = Call(app, body(text="no pain."))
        await after.task
        assert after.status == 200
        assert len(gate.sizes) - before == 2

    with_service(scenario, gated, timeout=0.3)


def test_unfinished_bodies_are_bounded_by_client_and_take_no_place(extract):
    async def scenario(app):
        held = [Call(app, b"", hold=True) for _ in range(3)]
        await asyncio.sleep(0.05)
        refused = Call(app, body(text="no pain."))
        await refused.task
        assert (refused.status, refused.headers["retry-after"]) == (429, "1")
        other = Call(app, body(text="no pain."), client="another")
        await other.task
        assert other.status == 200  # although `max_waiting` is 1
        held[0].disconnect()
        await held[0].task
        again = Call(app, body(text="no pain."))
        await again.task
        assert again.status == 200
        await asyncio.gather(*(call.task for call in held))
        assert [call.status for call in held] == [499, 408, 408]

    with_service(scenario, extract, max_waiting=1, max_unfinished=3, body_timeout=1)


def test_all_bodies_together_are_bounded(extract):
    async def scenario(app):
        held = [Call(app, b"", hold=True) for _ in range(3)]
        for call in held:
            part = {"type": "http.request", "body": b" " * 90, "more_body": True}
            call.messages.put_nowait(part)
        await asyncio.gather(*(call.task for call in held))
        assert sorted(call.status for call in held) == [408, 408, 503]

    with_service(scenario, extract, max_waiting=2, max_body=100, body_timeout=0.5)


def test_a_failure_outside_of_work_is_answered_and_logged_without_texts(
    extract, monkeypatch, caplog
):
    def broken(*_):
        raise RuntimeError(f"the text was: {SECRET}")

    async def scenario(app):
        monkeypatch.setattr("trigner.serving.app.extraction", broken)
        call = Call(app, body(text="no pain."))
        await call.task
        assert call.status == 500
        assert SECRET.encode() not in call.body

    with_service(scenario, extract)
    assert "RuntimeError" in caplog.text
    assert SECRET not in caplog.text


def test_an_internal_error_hides_its_reason_and_the_service_goes_on(extract, caplog):
    def scorer(batch):
        if broken:
            raise ValueError(f"it was {SECRET}")
        return extract.predictor.scorer(batch)

    broken = []
    failing = replace(extract, predictor=replace(extract.predictor, scorer=scorer))

    async def scenario(app):
        broken.append(True)
        call = Call(app, body(text="no pain."))
        await call.task
        assert call.status == 500
        assert SECRET.encode() not in call.body
        broken.clear()
        after = Call(app, body(text="no pain."))
        await after.task
        assert after.status == 200

    with_service(scenario, failing)
    # Where it failed is logged; a message may quote what a user sent.
    assert "ValueError" in caplog.text
    assert "in scorer" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("count", [40])
def test_many_requests_at_once_get_their_own_results(extract, count):
    texts = [f"{'my left leg hurt, ' * (n % 5)} no pain in arm, numb {n}." for n in range(count)]
    expected = [
        [[list(f) for f in e.fragments] for e in document.entities]
        for document in extract.stream(texts)
    ]
    assert any(expected)

    async def scenario(app):
        calls = [Call(app, body(text=text)) for text in texts]
        await asyncio.gather(*(call.task for call in calls))
        for call, own in zip(calls, expected, strict=True):
            assert call.status == 200
            entities = json.loads(call.body)["entities"]
            assert [entity["fragments"] for entity in entities] == own

    with_service(scenario, extract)
