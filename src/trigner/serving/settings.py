"""What the service takes on, and how long it works on it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ServiceSettings(BaseModel):
    """Limits of the service. Each has an answer of its own when it is exceeded.

    `max_body` counts bytes, `max_characters` those of one text, `max_grid_words` those of the
    sentence whose grid is asked for. `max_waiting` requests are held at a time, more are sent away
    with 503. A request must be answered within `timeout` seconds, and on a stop what was taken
    within `stop_within`.
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
    gather: Annotated[float, Field(ge=0, le=1)] = 0.002
    """Seconds that an idle worker waits for a first request's company."""
