"""`trigner serve`."""

from __future__ import annotations

from typing import Annotated

import typer

from trigner.cli.options import ModelOrBundled, RunOptions, Threshold
from trigner.cli.output import errors
from trigner.errors import require_extra
from trigner.model_folder import BUNDLED, read_description


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
    max_waiting: Annotated[
        int,
        typer.Option("--max-waiting", min=1, help="Maximum requests in progress; more get 503."),
    ] = 64,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Seconds until a request times out.")
    ] = 30.0,
    stop_within: Annotated[
        float,
        typer.Option("--stop-within", min=1.0, help="Seconds to finish requests on shutdown."),
    ] = 20.0,
    *,
    running: RunOptions,
) -> None:
    """Serve a model over HTTP, with a web page to try it.

    POST texts to /v1/extract as {"text": ...} or {"texts": [...]}; /openapi.json describes the
    API. `--threshold` applies to requests without one. There is no authentication and no
    encryption: to make the service public, put it behind a reverse proxy that has both.

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
    )
    app = serving.create_app(running.load(model, threshold), settings, description=description)
    serving.serve(
        app,
        host=host,
        port=port,
        stop_within=stop_within,
        on_ready=lambda address: errors().print(
            f"serving on {address} (Ctrl+C stops)", highlight=False, soft_wrap=True
        ),
    )
