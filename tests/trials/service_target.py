"""The service by its ASGI interface, without a network: no request gets 500.

What gets another status than 200 counts as refused: of nothing but that there is no trial.
"""

from __future__ import annotations

import asyncio
import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

from tiny_models import extractor, tiny_model
from trials.targets import Target
from trigner.errors import InputError
from trigner.serving.app import create_app
from trigner.serving.settings import ServiceSettings

BODIES = (
    '{"text": "my left leg hurt. no pain in arm, numb after the tablet.", "threshold": 0.5}',
    '{"texts": ["no pain", "my arm hurt", ""], "threshold": {"ADR": 0.2, "Drug": 1}}',
    '{"text": "my leg \\ud83d\\ude35 hurt\\n\\nno pain", "at": 3}',
)
HEADS = (
    "POST /v1/extract\nhost: localhost\ncontent-type: application/json",
    "POST /v1/grid\nhost: localhost:80\naccept: */*",
    "GET /v1/model\nhost: 127.0.0.1\nif-none-match: x",
    "POST /v1/extract\nhost: [::1]:80\norigin: http://localhost\ncontent-length: 80",
    "HEAD /metrics\nhost: localhost\nauthorization: Bearer x",
)
BUSY = {503, 504}


def service(folder: Path) -> Target:
    """A service around a small model. An input is a request line, headers, a blank line, a body."""
    model = extractor(tiny_model(folder / "encoder"))
    limits = ServiceSettings(max_body=50_000, max_characters=5000, max_words=60, max_grid_words=20)
    app = create_app(model, limits)
    loop = asyncio.new_event_loop()
    lifespan = app.router.lifespan_context(app)
    loop.run_until_complete(lifespan.__aenter__())

    def check(data: bytes) -> None:
        head, _, body = data.partition(b"\n\n")
        first, *lines = head.split(b"\n")
        method, _, path = first.partition(b" ")
        headers = [tuple(own.strip() for own in line.partition(b":")[::2]) for line in lines]
        status, answer = loop.run_until_complete(
            asyncio.wait_for(asked(app, method, path, headers, body), 15)
        )
        assert status < 500 or status in BUSY, (status, answer[:300])
        if status != 200:
            told = answer.decode("utf-8", "replace").replace(
                '"', ""
            )  # messages lead without quotes
            raise InputError(f"{HTTPStatus(status).phrase}: {told}")
        if path == b"/v1/extract":
            json.loads(answer)

    def close() -> None:
        loop.run_until_complete(lifespan.__aexit__(None, None, None))
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

    seeds = [f"{head}\n\n{body}".encode() for head in HEADS for body in BODIES]
    return Target(seeds, check, close=close)


async def asked(
    app: Any, method: bytes, path: bytes, headers: list[tuple[bytes, ...]], body: bytes
) -> tuple[int, bytes]:
    """Status and body of the answer to a request, given to the application as a server would."""
    url, _, query = path.partition(b"?")
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        if messages:
            return messages.pop()
        await asyncio.sleep(3600)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "root_path": "",
        "method": method.decode("latin-1").upper(), "path": url.decode("utf-8", "replace"),
        "raw_path": url, "scheme": "http", "query_string": query, "client": ("test", 1),
        "headers": [(own[0].lower(), own[1]) for own in headers], "server": ("test", 2),
    }  # fmt: skip
    await app(scope, receive, send)
    parts = [own.get("body", b"") for own in sent if own["type"] == "http.response.body"]
    return sent[0]["status"], b"".join(parts)
