"""Limits of the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr

Count = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class ServiceSettings(BaseModel):
    """Limits of the service. Each has a status code of its own when it is exceeded.

    `max_body` is in bytes, `max_characters` applies to each text, `max_words` to each sentence,
    `max_request_words` to the words of a request (`sizes.SHORTEST` for a sentence at least),
    `max_cells` to the word pairs of all its sentences, padding included,
    `max_grid_words` to the sentence of a grid request. At most `max_waiting` requests are in
    progress, more get 503. A body must have arrived within `body_timeout` seconds, a request be
    answered within `timeout` after that, requests in progress on shutdown within `stop_within`.

    A client is an IP address (of IPv6 a network of 64 bits): it may have `max_unfinished` bodies
    that are still arriving and send `rate_limit` requests a second (None: any number). Requests
    must name an address that the service listens on, localhost or one of `allowed_hosts`
    (`*.example.org` allows all names below, `*` any). With `api_key` requests must carry it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_body: Count = 2_000_000
    max_texts: Count = 256
    max_characters: Count = 100_000
    max_words: Count = 240
    max_request_words: Count = 12_000
    max_cells: Count = 2_000_000
    max_grid_words: Count = 80
    max_waiting: Count = 64
    max_unfinished: Count = 32
    body_timeout: Seconds = 10.0
    timeout: Seconds = 30.0
    stop_within: Seconds = 20.0
    batch_sentences: Count = 32
    batch_delay: Annotated[float, Field(ge=0, le=1)] = 0.002
    """Seconds that an idle worker waits after a first request for more to batch with it."""
    rate_limit: Seconds | None = None
    allowed_hosts: tuple[str, ...] = ()
    api_key: Annotated[SecretStr, Field(min_length=1)] | None = None
