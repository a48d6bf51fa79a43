"""ASGI middleware: security headers on every response, and request metrics."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigner.serving.failures import without_texts
from trigner.serving.metrics import Metrics

log = logging.getLogger(__name__)

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
        " img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
NO_STORE = (b"cache-control", b"no-store")
"""Responses contain what users sent; the page's own files set another `Cache-Control`."""


class HeadersAndMetrics:
    """Adds `HEADERS` to every response and counts it, paths that are not ours as `other`."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics, paths: Collection[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500
        started_response = False
        started = time.perf_counter()

        async def send_with_headers(message: Message) -> None:
            nonlocal status, started_response
            if message["type"] == "http.response.start":
                started_response = True
                status = message["status"]
                headers = list(message.get("headers", ()))
                headers += [(k.lower().encode(), v.encode()) for k, v in HEADERS.items()]
                if not any(name == NO_STORE[0] for name, _ in headers):
                    headers.append(NO_STORE)
                message = {**message, "headers": headers}
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception as error:  # the server would log its message
            log.error("a request failed: %s", without_texts(error))
            if not started_response:
                response = JSONResponse({"detail": "internal error: see the service's log"}, 500)
                await response(scope, receive, send_with_headers)
        finally:
            path = scope["path"] if scope["path"] in self._paths else "other"
            self._metrics.request(path, status, time.perf_counter() - started)
