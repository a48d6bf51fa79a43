"""An OpenAI-compatible server on loopback that answers as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

QUICK_RETRIES = {"max_attempts": 3, "initial_delay": 0.01, "timeout": 5.0}
"""For `RetryPolicy`: quick, and three attempts."""


@dataclass(frozen=True)
class Response:
    """What is sent back. `cut` drops the connection after so many bytes of the body."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: int | None = None
    hangs: bool = False


def answered(text: str | None, *, finish_reason: str = "stop", **message: Any) -> Response:
    """A chat completion."""
    value = {
        "id": "stub",
        "object": "chat.completion",
        "created": 0,
        "model": "stub-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
    return Response(body=json.dumps(value).encode(), headers={"Content-Type": "application/json"})


def failing(status: int, message: str = "no", **headers: str) -> Response:
    """An error as OpenAI's servers write it."""
    body = json.dumps({"error": {"message": message}}).encode()
    return Response(status, body, {"Content-Type": "application/json", **headers})


Answerer = Callable[[str], Response]
"""A prompt to what is sent back."""


@dataclass
class Stub:
    """A running server: `base_url`, and bodies and headers (by names in small letters) so far."""

    base_url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    slow: bool = False
    """For answerers that ask it."""

    @property
    def prompts(self) -> list[str]:
        return [request["messages"][0]["content"] for request in self.requests]


@contextmanager
def serving(answerer: Answerer) -> Iterator[Stub]:
    """A server that answers each prompt with `answerer(prompt)`."""
    stub = Stub()
    lock = threading.Lock()
    stopped = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                stub.requests.append(body)
                stub.headers.append({n.lower(): v for n, v in self.headers.items()})
                stub.at_once += 1
                stub.most_at_once = max(stub.most_at_once, stub.at_once)
            response = answerer(body["messages"][0]["content"])
            with lock:
                stub.at_once -= 1
            self._send(response)

        def _send(self, response: Response) -> None:
            if response.hangs:
                stopped.wait(30)
                self.close_connection = True
                return
            self.send_response(response.status)
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body[: response.cut])
            if response.cut is not None:
                self.close_connection = True

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    stub.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield stub
    finally:
        stopped.set()
        server.shutdown()
        server.server_close()
        thread.join()
