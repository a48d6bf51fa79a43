"""Limits of the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ServiceSettings(BaseModel):
    """Limits of the service. Each has a status code of its own when it is exceeded.

    `max_body` is in bytes, `max_characters` applies to each text, `max_grid_words` to the sentence
    of a grid request. At most `max_waiting` requests are in progress, more get 503. A request must
    be answered within `timeout` seconds, requests in progress on shutdown within `stop_within`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_body: Count = 2_000_000
    max_texts: Count = 256
    max_characters: Count = 100_000
    max_grid_words: Count = 80
    max_waiting: Count = 64
    timeout: Seconds = 30.0
    stop_within: Seconds = 20.0
    batch_sentences: Count = 32
    batch_delay: Annotated[float, Field(ge=0, le=1)] = 0.002
    """Seconds that an idle worker waits after a first request for more to batch with it."""
