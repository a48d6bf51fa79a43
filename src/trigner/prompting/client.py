"""One prompt to a server and its answer back, with patience: any OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import email.utils
import json
import random
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from trigner.errors import TrignerError, require_extra
from trigner.prompting.endpoint import Endpoint

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

_RETRIED = {408, 409, 425, 429}
_HOPELESS = {401: "the key is refused", 403: "access is denied", 404: "there is no such thing"}


class NoAnswerError(TrignerError):
    """The server gave no answer to a prompt, however often it was asked."""


class HopelessError(TrignerError):
    """The server will answer no prompt at all: the key, the model or the address is wrong."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait and how often to ask.

    `timeout` is for a whole answer, in seconds; a prompt is asked `attempts` times at most. The
    wait before attempt n + 1 is drawn from [w / 2, w] with w = `first_wait` * 2^(n - 1), at most
    `longest_wait`; a server's Retry-After counts instead, up to `longest_retry_after`.
    """

    timeout: float = 300.0
    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_retry_after: float = 600.0

    def wait(self, attempt: int) -> float:
        """Seconds to wait after the given failed attempt (1 is the first)."""
        longest = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        return longest * random.uniform(0.5, 1)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered. Token counts are None when it does not tell them."""

    text: str
    finish_reason: str | None
    model: str | None
    prompt_tokens: int | None
    answer_tokens: int | None
    attempts: int


class _PassingError(Exception):
    """A failure that may pass; `after` is how long the server asks to wait."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after


class Client:
    """Asks one server; use as an asynchronous context manager.

    Never follows redirects, and uses no proxy on the way to this machine: text goes to the given
    address and nowhere else. Raises TrignerError when the package `openai` is not installed.
    """

    def __init__(self, server: Endpoint, patience: Patience | None = None) -> None:
        require_extra("llm", "openai", "httpx2")
        self.server = server
        self.patience = patience or Patience()
        self._client: AsyncOpenAI | None = None
        self._not_before = 0.0

    async def __aenter__(self) -> Self:
        import httpx2
        from openai import AsyncOpenAI, Omit

        http = httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=not self.server.is_loopback,
            verify=_certificates(),
            timeout=self.patience.timeout,
        )
        # What the package would take from the environment is meant for OpenAI's own servers.
        unsent: Any = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
        self._client = AsyncOpenAI(
            api_key=self.server.key,
            base_url=self.server.base_url,
            max_retries=0,
            timeout=self.patience.timeout,
            http_client=http,
            default_headers=unsent,
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client is not None:
            await self._client.close()

    async def complete(self, prompt: str, model: str, parameters: Mapping[str, Any]) -> Reply:
        """The answer to a prompt.

        Failures that may pass (429, 408, 409, 5xx, timeouts, dropped connections, bodies that are
        no answer) are tried again. Raises NoAnswerError when the attempts are used up or the
        server refuses this prompt, HopelessError when it would refuse every one.
        """
        for attempt in range(1, self.patience.attempts + 1):
            await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
            try:
                async with asyncio.timeout(self.patience.timeout):
                    body = await self._send(prompt, model, parameters)
                return _reply(self.server.redacted(body), attempt)
            except TimeoutError:
                failure = _PassingError(f"no answer within {self.patience.timeout:g} s")
            except _PassingError as passing:
                failure = passing
            if attempt < self.patience.attempts:
                await self._pause(attempt, failure)
        tried = f" ({self.patience.attempts} attempts)" if self.patience.attempts > 1 else ""
        raise NoAnswerError(self.server.redacted(f"{failure}{tried}"))

    async def _send(self, prompt: str, model: str, parameters: Mapping[str, Any]) -> str:
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        if self._client is None:
            raise RuntimeError("a Client is an asynchronous context manager")
        try:
            response = await self._client.chat.completions.with_raw_response.create(
                model=model,
                messages=[{"role": "user", "content": prompt}],
                extra_body=dict(parameters),
            )
        except APITimeoutError as error:
            raise TimeoutError from error
        except APIStatusError as error:
            raise self._refusal(error) from error
        except APIConnectionError as error:
            cause = error.__cause__
            raise _PassingError(f"{error} ({type(cause).__name__}: {cause})") from error
        return response.text

    async def _pause(self, attempt: int, failure: _PassingError) -> None:
        if failure.after is None:
            await asyncio.sleep(self.patience.wait(attempt))
            return
        if failure.after > self.patience.longest_retry_after:
            raise HopelessError(
                self.server.redacted(f"{failure}: the server asks to wait {failure.after:,.0f} s")
            )
        # The server means all of us; those that wait start again one after the other.
        self._not_before = max(self._not_before, time.monotonic() + failure.after)
        await asyncio.sleep(failure.after + self.patience.wait(1) / 4)

    def _refusal(self, error: APIStatusError) -> Exception:
        status = error.status_code
        told = self.server.redacted(f"HTTP {status}: {_shortened(_message(error))}")
        if status in _HOPELESS:
            cure = f" ({self.server.key_variable} holds the key)" if status in (401, 403) else ""
            return HopelessError(f"{self.server.base_url}: {_HOPELESS[status]}{cure}: {told}")
        if status in _RETRIED or status >= 500:
            return _PassingError(told, _retry_after(error.response.headers))
        return NoAnswerError(told)


@cache
def _certificates() -> ssl.SSLContext:
    """Those that servers are held to, read once: it takes a third of a second."""
    import httpx2

    return httpx2.create_ssl_context()


def _reply(body: str, attempt: int) -> Reply:
    """The parts of a chat completion. Raises _PassingError for anything else: pages of proxies."""
    try:
        value = json.loads(body)
        choice = value["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        reason = choice.get("finish_reason")
        usage = value.get("usage") or {}
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        model = value.get("model")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _PassingError(
            f"the server's answer is no chat completion: {_shortened(body)}"
        ) from error
    if text is None and isinstance(refusal, str):
        text, reason = refusal, "refusal"
    if isinstance(text, list):  # parts of content, as some servers give it
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    return Reply(
        text=text if isinstance(text, str) else "",
        finish_reason=reason if isinstance(reason, str) else None,
        model=model if isinstance(model, str) else None,
        prompt_tokens=counts[0] if isinstance(counts[0], int) else None,
        answer_tokens=counts[1] if isinstance(counts[1], int) else None,
        attempts=attempt,
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header, a number or a date; None when there is none to be read."""
    given = headers.get("retry-after")
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(given).timestamp() - time.time()
        except (TypeError, ValueError, OverflowError):
            return None
    return max(0.0, seconds) if seconds == seconds else None


def _message(error: APIStatusError) -> str:
    body = error.body
    told = body.get("message") if isinstance(body, dict) else None
    return told if isinstance(told, str) else error.response.text


def _shortened(text: str) -> str:
    shown = " ".join(text.split())
    return shown[:200] + ("..." if len(shown) > 200 else "") if shown else "nothing"
