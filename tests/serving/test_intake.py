"""Many requests at once, slow ones, clients that go away: on an event loop of the test's own."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from trigner.serving import ServiceSettings, create_app


class Call:
    """One request to the application, spoken as a server would."""

    def __init__(self, app, body, *, hold=False):
        self.app = app
        self.messages = asyncio.Queue()
        self.status, self.headers, self.body = None, {}, b""
        if not hold:
            self.messages.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self.task = asyncio.ensure_future(self._run())

    def leave(self):
        self.messages.put_nowait({"type": "http.disconnect"})

    async def _run(self):
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
            "path": "/v1/extract", "raw_path": b"/v1/extract", "root_path": "", "scheme": "http",
            "query_string": b"", "headers": [], "client": ("test", 1), "server": ("test", 2),
        }  # fmt: skip
        await self.app(scope, self.messages.get, self._send)

    async def _send(self, message):
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {k.decode(): v.decode() for k, v in message["headers"]}
        else:
            self.body += message.get("body", b"")


def ask(**question):
    return json.dumps(question).encode()


def with_service(scenario, extract, **settings):
    """Run a scenario against a service that is started and stopped around it."""

    async def run():
        app = create_app(extract, ServiceSettings(**settings))
        async with app.router.lifespan_context(app):
            await asyncio.wait_for(scenario(app), 60)

    asyncio.run(run())


async def entered(gate):
    assert await asyncio.to_thread(gate.entered.wait, 20)


def test_what_is_too_much_comes_back_later(gated, gate):
    async def scenario(app):
        gate.shut()
        held = [Call(app, ask(text="no pain.")) for _ in range(3)]
        await entered(gate)
        refused = Call(app, ask(text="no pain."))
        await refused.task
        assert refused.status == 503
        assert int(refused.headers["retry-after"]) >= 1
        assert b"too many requests" in refused.body
        gate.open.set()
        for call in held:
            await call.task
        assert [call.status for call in held] == [200] * 3
        after = Call(app, ask(text="no pain."))
        await after.task
        assert after.status == 200

    with_service(scenario, gated, max_waiting=3)


def test_who_is_not_done_in_time_is_told(gated, gate):
    async def scenario(app):
        gate.shut()
        begun = Call(app, ask(text="no pain."))
        await entered(gate)
        waiting = Call(app, ask(text="no pain."))
        await asyncio.gather(begun.task, waiting.task)
        assert begun.status == 504
        assert b"within 0.5 seconds" in begun.body
        assert waiting.status == 503
        assert waiting.headers["retry-after"]
        gate.open.set()
        after = Call(app, ask(text="no pain."))
        await after.task
        assert after.status == 200

    with_service(scenario, gated, timeout=0.5)


def test_a_body_that_does_not_come_is_not_waited_for(extract):
    async def scenario(app):
        call = Call(app, b"", hold=True)
        await call.task
        assert call.status == 408

    with_service(scenario, extract, timeout=0.2)


def test_nothing_more_is_done_for_a_client_that_leaves(gated, gate):
    async def scenario(app):
        gate.shut()
        before = len(gate.sizes)
        call = Call(app, ask(text="My leg hurt. " * 500))
        await entered(gate)
        call.leave()
        await call.task
        gate.open.set()
        other = Call(app, ask(text="no pain."))
        await other.task
        assert other.status == 200
        assert len(gate.sizes) - before == 2

    with_service(scenario, gated)


def test_a_client_that_leaves_while_it_sends_leaves_nothing_behind(extract):
    async def scenario(app):
        call = Call(app, b"", hold=True)
        await asyncio.sleep(0.05)
        call.leave()
        await call.task
        assert call.status == 499
        for _ in range(3):
            after = Call(app, ask(text="no pain."))
            await after.task
            assert after.status == 200

    with_service(scenario, extract, max_waiting=1)


def test_a_failure_is_told_without_a_reason_and_the_service_stays(extract, caplog):
    def scorer(batch):
        if broken:
            raise ValueError("a secret of the machine")
        return extract.scorer(batch)

    broken = []

    async def scenario(app):
        broken.append(True)
        call = Call(app, ask(text="no pain."))
        await call.task
        assert call.status == 500
        assert b"secret" not in call.body
        broken.clear()
        after = Call(app, ask(text="no pain."))
        await after.task
        assert after.status == 200

    with_service(scenario, replace(extract, scorer=scorer))
    assert "secret" in caplog.text


@pytest.mark.parametrize("count", [40])
def test_many_at_once_get_what_is_theirs(extract, count):
    texts = [f"{'my left leg hurt, ' * (n % 5)} no pain in arm, numb {n}." for n in range(count)]
    expected = [
        [[list(f) for f in e.fragments] for e in document.entities]
        for document in extract.stream(texts)
    ]
    assert any(expected)

    async def scenario(app):
        calls = [Call(app, ask(text=text)) for text in texts]
        await asyncio.gather(*(call.task for call in calls))
        for call, own in zip(calls, expected, strict=True):
            assert call.status == 200
            entities = json.loads(call.body)["entities"]
            assert [entity["fragments"] for entity in entities] == own

    with_service(scenario, extract)
