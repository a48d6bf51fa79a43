"""Where prompts go: the address, whether it is this machine, the key, what may be sent there."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from trigner.corpora import FORMATS
from trigner.errors import InputError

KEY_VARIABLES = {
    "api.openai.com": "OPENAI_API_KEY",
    "generativelanguage.googleapis.com": "GEMINI_API_KEY",
}
"""Host -> environment variable of its key. No other host is sent these keys unasked."""

OTHER_KEY_VARIABLE = "TRIGNER_LLM_API_KEY"

NO_KEY = "none"
"""What is sent where no key is set: servers of one's own want none."""

_HIDDEN = "[key]"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server; its key is in no `repr`."""

    base_url: str
    key_variable: str
    key: str = field(repr=False)
    is_loopback: bool

    def redacted(self, text: str) -> str:
        """The text without the key, should a server have repeated it."""
        return text if self.key == NO_KEY else text.replace(self.key, _HIDDEN)


def endpoint(base_url: str, *, key_variable: str | None = None) -> Endpoint:
    """The server at an address such as `http://127.0.0.1:8000/v1`.

    Its key is that of the environment variable `key_variable`, without one that of `KEY_VARIABLES`
    for known hosts and `TRIGNER_LLM_API_KEY` for others. Raises InputError for what is no address,
    for one with a password, query or fragment in it (addresses are recorded, keys are not), and
    when a variable that was named is not set.
    """
    try:
        parts = urlsplit(base_url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"the base URL is no address: {error}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise InputError(f"the base URL is no http or https address: {base_url}")
    if parts.username is not None or parts.query or parts.fragment:
        raise InputError(
            "the base URL has a password, query or fragment: addresses are recorded, so give"
            " the key in an environment variable"
        )
    variable = key_variable or KEY_VARIABLES.get(host, OTHER_KEY_VARIABLE)
    key = os.environ.get(variable, "").strip()
    if not key and key_variable is not None:
        raise InputError(f"the environment variable {key_variable} is not set")
    return Endpoint(base_url.rstrip("/"), variable, key or NO_KEY, _is_loopback(host))


def check_licence(
    formats: Iterable[str], server: Endpoint | None, *, has_permission: bool = False
) -> None:
    """Raises InputError when text of a credentialed corpus would leave this machine."""
    if server is None or server.is_loopback or has_permission:
        return
    for name in formats:
        if FORMATS[name].is_credentialed:
            raise InputError(
                f"{name} is a credentialed corpus: its licence does not allow to send it to others,"
                f" and {server.base_url} is not on this machine. Use a server on 127.0.0.1, or"
                " --i-have-permission if the owner of the data allows it"
            )


def _is_loopback(host: str) -> bool:
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
