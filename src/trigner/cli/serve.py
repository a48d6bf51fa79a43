"""`trigner serve`."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from trigner.cli.annotating import AnnotatingOptions
from trigner.cli.options import ModelOrBundled, Threshold
from trigner.cli.output import errors
from trigner.errors import InputError, require_extra
from trigner.models import BUNDLED, read_description


def serve(
    model: ModelOrBundled = BUNDLED,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on; 0.0.0.0 for all interfaces.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port; 0 picks a free one.")
    ] = 8000,
    threshold: Threshold = "0",
    max_body: Annotated[
        int, typer.Option("--max-body", min=1, help="Maximum size of a request body in bytes.")
    ] = 2_000_000,
    max_texts: Annotated[
        int, typer.Option("--max-texts", min=1, help="Maximum number of texts per request.")
    ] = 256,
    max_characters: Annotated[
        int, typer.Option("--max-characters", min=1, help="Maximum characters per text.")
    ] = 100_000,
    max_words: Annotated[
        int, typer.Option("--max-words", min=1, help="Maximum words per sentence.")
    ] = 240,
    max_request_words: Annotated[
        int,
        typer.Option(
            "--max-request-words",
            min=1,
            help="Maximum words per request; a sentence counts as at least 8.",
        ),
    ] = 12_000,
    max_cells: Annotated[
        int,
        typer.Option(
            "--max-cells",
            min=1,
            help="Maximum word pairs of a request's sentences; limits its work and memory.",
        ),
    ] = 2_000_000,
    max_waiting: Annotated[
        int,
        typer.Option("--max-waiting", min=1, help="Maximum requests in progress; more get 503."),
    ] = 64,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Seconds until a request times out.")
    ] = 30.0,
    body_timeout: Annotated[
        float,
        typer.Option("--body-timeout", min=0.1, help="Seconds for a request to arrive."),
    ] = 10.0,
    stop_within: Annotated[
        float,
        typer.Option("--stop-within", min=1.0, help="Seconds to finish requests on shutdown."),
    ] = 20.0,
    max_connections: Annotated[
        int,
        typer.Option(
            "--max-connections",
            min=1,
            help="Maximum connections; one client may have half of them.",
        ),
    ] = 512,
    rate_limit: Annotated[
        float | None,
        typer.Option(
            "--rate-limit", min=0.01, help="Requests per second from one client; more get 429."
        ),
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allowed-host",
            metavar="NAME",
            help="Host name that the service answers for, besides localhost and its own addresses"
            " (repeatable; *.example.org for all its subdomains, * for any).",
        ),
    ] = None,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--trusted-proxy",
            metavar="ADDRESS",
            help="IP address or network (10.0.0.0/8) of a reverse proxy whose X-Forwarded-For says"
            " who the client is (repeatable).",
        ),
    ] = None,
    *,
    running: AnnotatingOptions,
) -> None:
    """Serve a model over HTTP, with a web page to try it.

    POST texts to /v1/extract as {"text": ...} or {"texts": [...]}; /openapi.json describes the
    API. `--threshold` applies to requests without one. With a key in the environment variable
    TRIGNER_API_KEY, requests must carry it. There is no encryption: before making the service
    public, put it behind a reverse proxy with TLS.

    Example:

      trigner serve --model model
    """
    require_extra("serve", "fastapi", "uvicorn", "prometheus_client")
    from trigner import serving

    description = read_description(model)
    settings = serving.ServiceSettings(
        max_body=max_body,
        max_texts=max_texts,
        max_characters=max_characters,
        max_waiting=max_waiting,
        timeout=timeout,
        stop_within=stop_within,
        batch_sentences=running.batch_size,
        max_words=max_words,
        max_request_words=max_request_words,
        max_cells=max_cells,
        body_timeout=body_timeout,
        rate_limit=rate_limit,
        allowed_hosts=(host, *(allowed_host or ())),
        api_key=_key(),
    )
    limits = serving.ConnectionLimits(
        connections=max_connections,
        of_one_client=max(1, max_connections // 2),
        head=body_timeout,
        reading=timeout,
        proxies=serving.Proxies(trusted_proxy or ()),
    )
    app = serving.create_app(running.load(model, threshold), settings, description=description)
    serving.serve(
        app,
        host=host,
        port=port,
        stop_within=stop_within,
        limits=limits,
        on_ready=lambda address: errors().print(
            f"serving on {address} (Ctrl+C stops)", highlight=False, soft_wrap=True
        ),
    )


def _key() -> Any:
    """The key of the environment, or None. An empty one is none that was meant."""
    key = os.environ.get("TRIGNER_API_KEY")
    if key is not None and not key.strip():
        raise InputError("TRIGNER_API_KEY is empty: give it a key, or unset it to serve everybody")
    if key is not None and (key != key.strip() or not key.isprintable()):
        raise InputError(
            "TRIGNER_API_KEY begins or ends with a blank, or holds a line break: no client could"
            " send it"
        )
    return key
