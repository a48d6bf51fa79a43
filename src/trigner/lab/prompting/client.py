"""Requests to an OpenAI-compatible server, retried when a failure may be temporary."""

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
from typing import TYPE_CHECKING, Any, Self

from trigner.errors import InputError, TrignerError, require_extra
from trigner.lab.prompting.endpoint import Endpoint

if TYPE_CHECKING:
    import httpx2
    from openai import APIStatusError, AsyncOpenAI

_RETRIED = {408, 409, 425, 429}
_REFUSED = {400, 413, 422, 451}
_FATAL = {401: "the key was refused", 403: "access denied", 404: "no such model or address"}


class CompletionError(TrignerError):
    """The server gave no completion for a prompt, after all attempts."""


class RefusalError(CompletionError):
    """The server looked at a prompt and does not want it, as too long or against its policy."""


class FatalError(TrignerError):
    """No request to this server can succeed: the key, the model or the address is wrong."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Timeout, number of attempts, and exponential backoff with jitter; times in seconds.

    `timeout` is for one attempt. The delay before attempt n + 1 is drawn from [d / 2, d] with
    d = `initial_delay` * 2^(n - 1), at most `max_delay`; a server's Retry-After replaces it, up to
    `max_retry_after`.
    """

    timeout: float = 300.0
    max_attempts: int = 6
    initial_delay: float = 1.0
    max_delay: float = 60.0
    max_retry_after: float = 600.0

    def delay(self, attempt: int) -> float:
        """Seconds to wait after the given failed attempt (1 is the first)."""
        longest = min(self.max_delay, self.initial_delay * 2.0 ** (attempt - 1))
        return longest * random.uniform(0.5, 1)


@dataclass(frozen=True, slots=True)
class Completion:
    """A server's answer; what the server does not report is None.

    `response_model` is the model named in the response, `seconds` the time from the request to the
    answer, retries and waits included.
    """

    text: str
    finish_reason: str | None
    response_model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    attempts: int
    seconds: float


class _TransientError(Exception):
    """A failure that may be temporary; `retry_after` is the wait that the server asks for."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Client:
    """A client of one server; use it as an asynchronous context manager.

    It follows no redirects, and uses no proxy to reach this machine: text goes to the given
    address and nowhere else. Raises TrignerError when the package `openai` is not installed,
    InputError for an address that it cannot send to.
    """

    def __init__(self, server: Endpoint, retry_policy: RetryPolicy | None = None) -> None:
        require_extra("lab", "openai", "httpx2")
        import httpx2

        try:
            httpx2.URL(server.base_url)
        except httpx2.InvalidURL as error:
            raise InputError(f"invalid base URL: {error}") from error
        self.server = server
        self.retry_policy = retry_policy or RetryPolicy()
        self._client: AsyncOpenAI | None = None
        self._not_before = 0.0

    async def __aenter__(self) -> Self:
        import httpx2
        from openai import AsyncOpenAI, Omit

        http = httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=not self.server.is_loopback,
            verify=_certificates(),
            timeout=self.retry_policy.timeout,
            event_hooks={"response": [_as_utf8]},
        )
        # The package reads these from the environment; they are meant for OpenAI's own servers.
        omitted: Any = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
        self._client = AsyncOpenAI(
            api_key=self.server.key,
            base_url=self.server.base_url,
            max_retries=0,
            timeout=self.retry_policy.timeout,
            http_client=http,
            default_headers=omitted,
        )
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._client is not None:
            await self._client.close()

    async def complete(self, prompt: str, model: str, parameters: Mapping[str, Any]) -> Completion:
        """The completion of a prompt.

        Failures that may be temporary (429, 408, 409, 425, 5xx, timeouts, dropped connections,
        bodies that are not a chat completion) are retried. Raises CompletionError when no attempt
        is left, RefusalError when the server refuses this prompt, FatalError when it would refuse
        every prompt.
        """
        started = time.monotonic()
        policy = self.retry_policy
        for attempt in range(1, policy.max_attempts + 1):
            await asyncio.sleep(max(0.0, self._not_before - time.monotonic()))
            try:
                async with asyncio.timeout(policy.timeout):
                    body = await self._send(prompt, model, parameters)
                return _completion(self.server.redacted_answer(body), attempt, started)
            except TimeoutError:
                failure = _TransientError(f"no answer within {policy.timeout:g} s")
            except _TransientError as error:
                failure = error
            if attempt < policy.max_attempts:
                await self._back_off(attempt, failure)
        attempts = f" ({policy.max_attempts} attempts)" if policy.max_attempts > 1 else ""
        raise CompletionError(self.server.redacted(f"{failure}{attempts}"))

    async def _send(self, prompt: str, model: str, parameters: Mapping[str, Any]) -> str:
        from openai import APIConnectionError, APIStatusError, APITimeoutError

        if self._client is None:
            raise RuntimeError("use Client as an asynchronous context manager")
        try:
            response = await self._client.chat.completions.with_raw_response.create(
                model=model,
                messages=[{"role": "user", "content": prompt}],
                extra_body=dict(parameters),
            )
        except APITimeoutError as error:
            raise TimeoutError from error
        except APIStatusError as error:
            raise self._error_of(error) from error
        except APIConnectionError as error:
            cause = error.__cause__
            raise _TransientError(f"{error} ({type(cause).__name__}: {cause})") from error
        return response.text

    async def _back_off(self, attempt: int, failure: _TransientError) -> None:
        seconds = failure.retry_after
        if seconds is None:
            await asyncio.sleep(self.retry_policy.delay(attempt))
            return
        if seconds > self.retry_policy.max_retry_after:
            raise FatalError(
                self.server.redacted(f"{failure}: the server asks us to wait {seconds:,.0f} s")
            )
        # Retry-After holds for all requests; those that wait resume one after the other.
        self._not_before = max(self._not_before, time.monotonic() + seconds)
        await asyncio.sleep(seconds + self.retry_policy.delay(1) / 4)

    def _error_of(self, error: APIStatusError) -> Exception:
        status = error.status_code
        message = self.server.redacted(f"HTTP {status}: {_shortened(_message(error))}")
        if status in _FATAL:
            hint = f" (check {self.server.key_variable})" if status in (401, 403) else ""
            return FatalError(f"{self.server.base_url}: {_FATAL[status]}{hint}: {message}")
        if status in _RETRIED or status >= 500:
            return _TransientError(message, _retry_after(error.response.headers))
        return (RefusalError if status in _REFUSED else CompletionError)(message)


async def _as_utf8(response: httpx2.Response) -> None:
    """JSON is in UTF-8, whatever a header says; with errors replaced, and without a BOM."""
    response.encoding = "utf-8-sig"


@cache
def _certificates() -> ssl.SSLContext:
    """Trusted certificates, loaded once: that takes a third of a second."""
    import httpx2

    return httpx2.create_ssl_context()


def _completion(body: str, attempt: int, started: float) -> Completion:
    """Parses a chat completion. Raises _TransientError for other bodies, such as proxies' pages."""
    try:
        value = json.loads(body)
        choice = value["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content"), message.get("refusal")
        reason = choice.get("finish_reason")
        usage = value.get("usage") or {}
        prompt_tokens, completion_tokens = map(usage.get, ("prompt_tokens", "completion_tokens"))
        model = value.get("model")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _TransientError(
            f"the server's response is not a chat completion: {_shortened(body)}"
        ) from error
    if text is None and isinstance(refusal, str):
        text, reason = refusal, "refusal"
    if isinstance(text, list):  # content parts, as some servers send them
        text = "".join(str(part.get("text", "")) for part in text if isinstance(part, dict))
    return Completion(
        text=text if isinstance(text, str) else "",
        finish_reason=reason if isinstance(reason, str) else None,
        response_model=model if isinstance(model, str) else None,
        prompt_tokens=prompt_tokens if isinstance(prompt_tokens, int) else None,
        completion_tokens=completion_tokens if isinstance(completion_tokens, int) else None,
        attempts=attempt,
        seconds=round(time.monotonic() - started, 3),
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header, a number or a date; None without a readable one."""
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
    message = body.get("message") if isinstance(body, dict) else None
    return message if isinstance(message, str) else error.response.text


def _shortened(text: str) -> str:
    shown = " ".join(text.split())
    return shown[:200] + ("..." if len(shown) > 200 else "") if shown else "(empty)"
