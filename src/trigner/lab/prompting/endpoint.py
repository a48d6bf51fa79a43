"""The server that prompts are sent to: address, key, and which corpora may be sent there."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from trigner.corpora import FORMATS
from trigner.errors import InputError, TrignerError

KEY_VARIABLES = {
    "api.openai.com": "OPENAI_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
}
"""Host -> environment variable with its key, which no other host is sent by default."""

OTHER_KEY_VARIABLE = "TRIGNER_LLM_API_KEY"

NO_KEY = "none"
"""Sent when no key is set: local servers need none."""

_HIDDEN = "[key]"
_SHORTEST_SECRET = 12
"""Characters. Shorter keys are mostly words that stand in for one, as local servers need none."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server; `repr` does not show its key."""

    base_url: str
    key_variable: str
    key: str = field(repr=False)
    is_loopback: bool

    def redacted(self, text: str) -> str:
        """A message with the key masked, in case the server repeated it."""
        return text if self.key == NO_KEY else text.replace(self.key, _HIDDEN)

    def redacted_answer(self, text: str) -> str:
        """An answer with the key masked, unless it is a word that may stand in any text."""
        return text if len(self.key) < _SHORTEST_SECRET else self.redacted(text)


def endpoint(base_url: str, *, key_variable: str | None = None) -> Endpoint:
    """The server at a base URL such as `http://127.0.0.1:8000/v1`.

    Its key is in the environment variable `key_variable`; by default in that of `KEY_VARIABLES`
    for known hosts and in `TRIGNER_LLM_API_KEY` for others. Raises InputError for an invalid URL,
    for one with a password, query or fragment (URLs are recorded, keys must not be), when
    `key_variable` is given and not set, and for a key that no request can carry.
    """
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"invalid base URL: {error}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(
            f"the base URL must start with http:// or https:// and a host; got {base_url!r}"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise InputError(
            "the base URL must have no password, query or fragment: URLs are recorded; put the"
            " key into an environment variable"
        )
    variable = key_variable or KEY_VARIABLES.get(host, OTHER_KEY_VARIABLE)
    key = os.environ.get(variable, "").strip()
    if not key and key_variable is not None:
        raise InputError(f"the environment variable {key_variable} is not set")
    if not (key.isascii() and key.isprintable()):
        raise InputError(
            f"the key in {variable} has a character that no key has (an invisible one, perhaps):"
            " copy it again"
        )
    return Endpoint(base_url.rstrip("/"), variable, key or NO_KEY, _is_loopback(host))


def check_reachable(server: Endpoint) -> None:
    """Raises TrignerError when nothing listens at the address of a server on this machine.

    To others the way may lead over a proxy, and their first answer tells.
    """
    if not server.is_loopback:
        return
    parts = urlsplit(server.base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=5).close()
    except OSError as error:
        raise TrignerError(
            f"{server.base_url}: no server answers there ({error}): is it running?"
        ) from error


def check_licence(
    formats: Iterable[str], server: Endpoint | None, *, has_permission: bool = False
) -> None:
    """Raises InputError when texts of a credentialed corpus would be sent to another machine."""
    if server is None or server.is_loopback or has_permission:
        return
    for name in formats:
        if FORMATS[name].is_credentialed:
            raise InputError(
                f"{name} is a credentialed corpus: its licence forbids sending it to others, and"
                f" {server.base_url} is not on this machine. Use a server on 127.0.0.1, or"
                " --i-have-permission if the owner of the data allows it"
            )


def _is_loopback(host: str) -> bool:
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
