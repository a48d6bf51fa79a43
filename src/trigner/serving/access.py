"""ASGI middleware: which requests are let in at all, before anything of their body is read."""

from __future__ import annotations

import hmac
from base64 import b64decode
from collections.abc import Collection

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trigner.serving.clients import RateLimit, client_of
from trigner.serving.settings import ServiceSettings

LOCAL = ("localhost", "127.0.0.1", "::1")
"""Names of the machine itself, also where a container's port is forwarded: no site has them."""

Refusal = tuple[int, str, dict[str, str]]

# What browsers send to another site without asking it first.
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data", "text/plain")
_OWN = (b"same-origin", b"none")


class Access:
    """Refuses foreign hosts (421), too many requests (429), a wrong key (401) and forms (415).

    `open_paths` need no key and are not counted: probes, and the page's files, which hold no data.
    HEAD is answered as GET without its body.
    """

    def __init__(
        self, app: ASGIApp, *, settings: ServiceSettings, open_paths: Collection[str]
    ) -> None:
        self._app = app
        self._hosts = {*LOCAL, *map(_plain_name, settings.allowed_hosts)}
        self._suffixes = tuple(name[1:] for name in self._hosts if name.startswith("*."))
        self._key = settings.api_key and settings.api_key.get_secret_value().encode()
        self._rate = RateLimit(settings.rate_limit) if settings.rate_limit else None
        self._open_paths = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif refusal := self._refusal(scope):
            status, reason, headers = refusal
            response = JSONResponse({"detail": reason}, status, headers)
            await response(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self._app({**scope, "method": "GET"}, receive, _without_body(send))
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = dict(scope["headers"])
        if not self._knows_host(scope, headers):
            reason = "the service does not answer for this host: start it with --allowed-host NAME"
            return 421, reason, {}
        if scope["path"] in self._open_paths:
            return None
        if self._rate and (seconds := self._rate.wait(client_of(scope))):
            reason = f"too many requests of one client: retry in {seconds} s"
            return 429, reason, {"Retry-After": str(seconds)}
        if self._key and not hmac.compare_digest(_key_in(headers), self._key):
            challenges = 'Bearer, Basic realm="trigner: the key as password"'
            reason = "send the service's key as `Authorization: Bearer KEY`"
            return 401, reason, {"WWW-Authenticate": challenges}
        if scope["method"] == "POST" and not _is_ours(headers):
            return 415, "send JSON with `Content-Type: application/json`", {}
        return None

    def _knows_host(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        if b"host" not in headers:  # of HTTP/1.0, which no browser speaks
            return True
        name = _plain_name(headers[b"host"].decode("latin-1"))
        listening = scope.get("server") or ("", None)
        return (
            name in self._hosts
            or "*" in self._hosts
            or name == _plain_name(listening[0])
            or name.endswith(self._suffixes)
        )


def _plain_name(host: str) -> str:
    """`host`, `host:port`, `[address]:port` or an IPv6 address without its port."""
    host = host.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    name, _, rest = host.partition(":")
    return host if ":" in rest else name.rstrip(".")


def _key_in(headers: dict[bytes, bytes]) -> bytes:
    """The key that a request carries: as a bearer token or, from browsers, as a password."""
    scheme, _, value = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"bearer":
        return value.strip()
    if scheme.lower() == b"basic":
        try:
            return b64decode(value, validate=True).partition(b":")[2]
        except ValueError:
            return b""
    return b""


def _is_ours(headers: dict[bytes, bytes]) -> bool:
    """Whether no other site's page can have made a browser send this.

    JSON it cannot send without asking first. `curl -d`, which is not a browser, says that it sends
    a form, and may.
    """
    kind = headers.get(b"content-type", b"").decode("latin-1").partition(";")[0].strip().lower()
    if kind and kind not in _FORMS:
        return kind == "application/json" or kind.endswith("+json")
    if kind in _FORMS[1:]:
        return False
    return b"origin" not in headers and headers.get(b"sec-fetch-site", b"none") in _OWN


def _without_body(send: Send) -> Send:
    async def headers_alone(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await send(message)

    return headers_alone
