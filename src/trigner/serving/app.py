"""The application and its endpoints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from trigner import __version__
from trigner.errors import InputError
from trigner.models import Description, Provenance
from trigner.pipeline import Extractor
from trigner.serving.access import Access
from trigner.serving.admission import AdmissionControl
from trigner.serving.batching import Batcher
from trigner.serving.grid import grid, sentence_around
from trigner.serving.messages import (
    EXTRACT_EXAMPLES,
    GRID_EXAMPLES,
    OFFSETS,
    SENTENCE,
    ErrorResponse,
    ExtractRequest,
    GridRequest,
    GridResponse,
    TextResponse,
    TextsResponse,
    parse,
)
from trigner.serving.metrics import CONTENT_TYPE, Metrics
from trigner.serving.middleware import HeadersAndMetrics
from trigner.serving.page_files import page_files
from trigner.serving.settings import ServiceSettings
from trigner.serving.sizes import check_sentences, check_texts
from trigner.serving.work import extraction
from trigner.systems import GridView

PROBES = ("/healthz", "/readyz")

STUCK_AFTER = 5
"""Times the time limit of a request that one batch may take before the worker counts as stuck."""

_DESCRIPTIONS = {
    400: "The body is not valid JSON in UTF-8.",
    401: "The service has a key, and the request does not carry it.",
    408: "Timed out while reading the body.",
    413: "Body too large, too many texts or words, or a text or a sentence too long.",
    415: "Not JSON.",
    421: "The service does not answer for this host.",
    422: "Unknown fields, wrong types, missing fields.",
    429: "Too many requests of one client: retry after `Retry-After` seconds.",
    503: "Busy or shutting down: retry after `Retry-After` seconds.",
    504: "Timed out.",
}
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorResponse, "description": text} for status, text in _DESCRIPTIONS.items()
}


def create_app(
    extractor: Extractor,
    settings: ServiceSettings | None = None,
    *,
    description: Description | None = None,
) -> FastAPI:
    """The service for an extractor, which must not be used elsewhere from now on.

    `description` is that of the model's folder (`model_folder.read_description`).
    """
    settings = settings or ServiceSettings()
    batcher = Batcher(
        sentences=settings.batch_sentences,
        delay=settings.batch_delay,
        observe=lambda sentences, seconds: metrics.batch(sentences, seconds),
    )
    admission = AdmissionControl(batcher, settings)
    metrics = Metrics(lambda: admission.in_progress)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        # The first pass is slow: warm up before the service is ready.
        warm_up = extraction(extractor, [SENTENCE])
        batcher.submit(warm_up)
        await asyncio.wrap_future(warm_up.future)
        try:
            yield
        finally:
            await asyncio.to_thread(batcher.close)

    app = FastAPI(
        title="trigner",
        version=__version__,
        description="Named entity recognition, including discontinuous entities. " + OFFSETS,
        lifespan=lifespan,
        docs_url=None,  # its page loads assets from other servers
        redoc_url=None,
        redirect_slashes=False,
    )
    _add_extraction(app, extractor, admission, metrics)
    _add_grid(app, extractor, admission)
    info = _model_info(extractor, settings, description)
    _add_information(app, batcher, metrics, info, STUCK_AFTER * settings.timeout)
    _add_page(app)
    paths = [path for route in app.routes if isinstance(path := getattr(route, "path", None), str)]
    open_paths = {*page_files(), *PROBES}
    app.add_middleware(Access, settings=settings, open_paths=open_paths)
    app.add_middleware(HeadersAndMetrics, metrics=metrics, paths=paths)
    return app


def _add_extraction(
    app: FastAPI, extractor: Extractor, admission: AdmissionControl, metrics: Metrics
) -> None:
    settings = admission.settings

    @app.post(
        "/v1/extract",
        summary="Entities of one or many texts",
        response_model=TextResponse | TextsResponse,
        responses=ERRORS,
        openapi_extra=_body(ExtractRequest, EXTRACT_EXAMPLES),
    )
    async def extract(request: Request) -> Response:
        """Returns `entities` for `text`, and `documents`, in the same order, for `texts`."""
        content = await admission.read_body(request)
        async with admission.admit() as deadline:
            body = parse(ExtractRequest, content)
            texts = body.all_texts
            try:
                chosen = extractor.with_threshold(body.threshold)
            except InputError as error:
                raise HTTPException(422, str(error)) from error
            check_texts(texts, settings)
            await admission.check(check_sentences, texts, settings, deadline=deadline)
            work = extraction(chosen, texts)
            results = await admission.run(work, request, deadline)
        for result in results:
            metrics.entities(result.entities)
        answers = [TextResponse.of(result) for result in results]
        return _json(answers[0] if body.is_single else TextsResponse(documents=answers))


def _add_grid(app: FastAPI, extractor: Extractor, admission: AdmissionControl) -> None:
    settings = admission.settings

    @app.post(
        "/v1/grid",
        summary="The word-pair grid of one sentence",
        response_model=GridResponse,
        responses=ERRORS,
        openapi_extra=_body(GridRequest, GRID_EXAMPLES),
    )
    async def show_grid(request: Request) -> Response:
        """Tag probabilities of each pair of words, and the cells of each entity."""
        content = await admission.read_body(request)
        async with admission.admit() as deadline:
            body = parse(GridRequest, content)
            check_texts([body.text], settings)
            try:
                sentence = await admission.check(
                    sentence_around, body.text, body.at, deadline=deadline
                )
                if len(sentence.words) > settings.max_grid_words:
                    message = f"the sentence has more than {settings.max_grid_words} words"
                    raise HTTPException(413, message)
                work = grid(extractor, body.text, sentence)
            except InputError as error:
                raise HTTPException(422, str(error)) from error
            result = await admission.run(work, request, deadline)
        return _json(GridResponse.of(result))


def _add_information(
    app: FastAPI, batcher: Batcher, metrics: Metrics, info: Mapping[str, Any], patience: float
) -> None:
    @app.get("/v1/model", summary="The model: labels, settings, scores, versions, limits")
    async def model() -> Response:
        return JSONResponse(info)

    @app.get("/healthz", summary="Whether the service is alive")
    async def healthy() -> Response:
        if batcher.is_working and batcher.is_stuck(patience):
            return _status(False, "ok", f"the worker is at one batch for over {patience:g} s")
        return _status(batcher.is_working, "ok", "the worker has stopped")

    @app.get("/readyz", summary="Whether the service accepts requests")
    async def ready() -> Response:
        free = batcher.is_working and not batcher.is_stuck(patience)
        return _status(free, "ready", "not ready")

    @app.get("/metrics", summary="Metrics for Prometheus", response_class=Response)
    async def show_metrics() -> Response:
        return Response(metrics.text(), media_type=CONTENT_TYPE)


def _add_page(app: FastAPI) -> None:
    for path, file in page_files().items():

        def answer(request: Request, file: Any = file) -> Response:
            headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
            if request.headers.get("if-none-match") == file.etag:
                return Response(status_code=304, headers=headers)
            return Response(file.content, media_type=file.media_type, headers=headers)

        app.router.add_route(path, answer, methods=["GET"], include_in_schema=False)


def _model_info(
    extractor: Extractor, settings: ServiceSettings, description: Description | None
) -> dict[str, Any]:
    provenance = Provenance() if description is None else description.provenance
    runtime = None if description is None else description.runtime
    predictor = extractor.predictor
    return {
        "about": None if description is None else description.about,
        "labels": list(extractor.labels),
        "system": extractor.system,
        "tags": list(predictor.tags) if isinstance(predictor, GridView) else [],
        "threshold": extractor.threshold,
        "thresholds": dict(extractor.thresholds),
        "settings": provenance.settings,
        "scores": {"dev": provenance.dev.scores} if provenance.dev.scores else {},
        "versions": {
            "trigner": __version__,
            "model_format": None if description is None else description.format,
            "trained_with": None if description is None else description.trigner,
            "precision": "float32" if runtime is None else runtime.precision,
            "signature": provenance.dev.signature,
        },
        "limits": settings.model_dump(
            include={
                "max_body",
                "max_texts",
                "max_characters",
                "max_words",
                "max_request_words",
                "max_cells",
                "max_grid_words",
                "timeout",
            }
        ),
    }


def _body(model: type[BaseModel], examples: Mapping[str, Any]) -> dict[str, Any]:
    """The OpenAPI description of a body that `parse` validates, after its size is checked."""
    content = {"schema": model.model_json_schema(), "examples": dict(examples)}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def _json(body: BaseModel) -> Response:
    return Response(body.model_dump_json(exclude_none=True), media_type="application/json")


def _status(good: bool, yes: str, no: str) -> Response:
    return JSONResponse({"status": yes if good else no}, 200 if good else 503)
