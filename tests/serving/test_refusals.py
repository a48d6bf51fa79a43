from __future__ import annotations

import asyncio
import json

import pytest

from trigner.serving.refusals import RefusedError, answer_refusal


def test_a_refusal_says_why_and_when_to_come_back():
    refusal = RefusedError(503, "busy", retry_after=3)
    response = asyncio.run(answer_refusal(None, refusal))
    assert response.status_code == 503
    assert json.loads(response.body) == {"detail": "busy"}
    assert response.headers["retry-after"] == "3"
    assert (
        "retry-after" not in asyncio.run(answer_refusal(None, RefusedError(413, "large"))).headers
    )


def test_other_errors_are_not_answered():
    with pytest.raises(KeyError):
        asyncio.run(answer_refusal(None, KeyError()))
