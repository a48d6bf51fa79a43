"""Requests that get no answer, and what they get instead."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import JSONResponse


class RefusedError(Exception):
    """An HTTP status and why; `retry_after` seconds are told to those who may come back."""

    def __init__(self, status: int, detail: str, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after


async def answer_refusal(request: Request, refusal: Exception) -> JSONResponse:
    """The response for a refusal. Raises what is none."""
    if not isinstance(refusal, RefusedError):
        raise refusal
    headers = {} if refusal.retry_after is None else {"Retry-After": str(refusal.retry_after)}
    return JSONResponse({"detail": refusal.detail}, refusal.status, headers)
