"""The application: its paths and what each answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from trigner import __version__
from trigner.errors import InputError
from trigner.inference import Extractor
from trigner.serving.around import Around
from trigner.serving.batching import Batcher
from trigner.serving.grid import grid, sentence_around
from trigner.serving.intake import Intake
from trigner.serving.messages import (
    EXAMPLES,
    OFFSETS,
    SENTENCE,
    ExtractQuestion,
    GridAnswer,
    GridQuestion,
    Problem,
    TextAnswer,
    TextsAnswer,
    parse,
)
from trigner.serving.metrics import CONTENT_TYPE, Metrics
from trigner.serving.page_files import page_files
from trigner.serving.refusals import RefusedError, answer_refusal
from trigner.serving.settings import ServiceSettings
from trigner.serving.work import extraction

PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The body is not JSON in UTF-8."},
    408: {"model": Problem, "description": "The body did not come in time."},
    413: {"model": Problem, "description": "Too large a body, too many or too long texts."},
    422: {"model": Problem, "description": "Unknown fields, wrong types, nothing to do."},
    503: {"model": Problem, "description": "Busy: `Retry-After` says when to try again."},
    504: {"model": Problem, "description": "Not done in time."},
}


def create_app(
    extractor: Extractor,
    settings: ServiceSettings | None = None,
    *,
    description: Mapping[str, Any] | None = None,
) -> FastAPI:
    """The service around an extractor, which it owns from now on.

    `description` is what the model's folder says of it (`model_folder.read_description`).
    """
    settings = settings or ServiceSettings()
    batcher = Batcher(
        extractor,
        sentences=settings.batch_sentences,
        gather=settings.gather,
        observe=lambda sentences, seconds: metrics.batch(sentences, seconds),
    )
    intake = Intake(batcher, settings)
    metrics = Metrics(lambda: intake.waiting)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        # The first pass is slow: ready is who has done it.
        warm = extraction(extractor, [SENTENCE])
        batcher.submit(warm)
        await asyncio.wrap_future(warm.future)
        try:
            yield
        finally:
            await asyncio.to_thread(batcher.close)

    app = FastAPI(
        title="trigner",
        version=__version__,
        description="Entities, also those whose words do not stand side by side. " + OFFSETS,
        lifespan=lifespan,
        docs_url=None,  # its page needs assets from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    app.add_exception_handler(RefusedError, answer_refusal)
    _add_extraction(app, extractor, intake, settings, metrics)
    _add_grid(app, extractor, intake, settings)
    _add_model(app, _about(extractor, settings, description or {}))
    _add_health(app, batcher, metrics)
    _add_page(app)
    paths = [path for route in app.routes if isinstance(path := getattr(route, "path", None), str)]
    app.add_middleware(Around, metrics=metrics, paths=paths)
    return app


def _add_extraction(
    app: FastAPI, extractor: Extractor, intake: Intake, settings: ServiceSettings, metrics: Metrics
) -> None:
    @app.post(
        "/v1/extract",
        summary="Entities of one text or of many",
        response_model=TextAnswer | TextsAnswer,
        responses=PROBLEMS,
        openapi_extra=_body(ExtractQuestion, EXAMPLES),
    )
    async def extract(request: Request) -> Response:
        """`text` is answered with its `entities`, `texts` with `documents` in the same order."""
        async with intake.place() as until:
            question = parse(ExtractQuestion, await intake.body(request, until))
            texts = question.all_texts
            if len(texts) > settings.max_texts:
                raise RefusedError(413, f"more than {settings.max_texts} texts in one request")
            _check_lengths(texts, settings)
            work = extraction(extractor, texts, question.threshold)
            found = await intake.done(work, request, until)
        for own in found:
            metrics.entities(own.entities)
        answers = [TextAnswer.of(own) for own in found]
        return _json(answers[0] if question.is_single else TextsAnswer(documents=answers))


def _add_grid(
    app: FastAPI, extractor: Extractor, intake: Intake, settings: ServiceSettings
) -> None:
    @app.post(
        "/v1/grid",
        summary="The word-pair grid of one sentence",
        response_model=GridAnswer,
        responses=PROBLEMS,
        openapi_extra=_body(
            GridQuestion, {"the first sentence": {"value": {"text": SENTENCE, "at": 0}}}
        ),
    )
    async def show_grid(request: Request) -> Response:
        """Probabilities of each tag for each pair of words, and which cells make each entity."""
        async with intake.place() as until:
            question = parse(GridQuestion, await intake.body(request, until))
            _check_lengths([question.text], settings)
            try:
                sentence = await asyncio.to_thread(sentence_around, question.text, question.at)
                if len(sentence.words) > settings.max_grid_words:
                    told = f"the sentence has more than {settings.max_grid_words} words"
                    raise RefusedError(413, told)
                work = grid(extractor, question.text, sentence)
            except InputError as error:
                raise RefusedError(422, str(error)) from error
            found = await intake.done(work, request, until)
        return _json(GridAnswer.of(found))


def _add_model(app: FastAPI, about: Mapping[str, Any]) -> None:
    @app.get("/v1/model", summary="What the model finds, how it was trained, how it scored")
    async def model() -> Response:
        return JSONResponse(about)


def _add_health(app: FastAPI, batcher: Batcher, metrics: Metrics) -> None:
    @app.get("/healthz", summary="Whether the service is alive")
    async def healthy() -> Response:
        return _status(batcher.is_working, "ok", "the worker has ended")

    @app.get("/readyz", summary="Whether requests are welcome")
    async def ready() -> Response:
        return _status(batcher.is_working, "ready", "not ready")

    @app.get("/metrics", summary="Counts for Prometheus", response_class=Response)
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


def _about(
    extractor: Extractor, settings: ServiceSettings, description: Mapping[str, Any]
) -> dict[str, Any]:
    provenance = description.get("provenance", {})
    dev = provenance.get("dev", {})
    return {
        "labels": list(extractor.labels),
        "scheme": extractor.scheme.name,
        "tags": list(extractor.scheme.tags),
        "threshold": extractor.threshold,
        "thresholds": dict(extractor.thresholds),
        "settings": provenance.get("settings", {}),
        "scores": {"dev": dev["scores"]} if "scores" in dev else {},
        "versions": {
            "trigner": __version__,
            "model_format": description.get("format"),
            "trained_with": description.get("trigner"),
            "precision": description.get("runtime", {}).get("precision", "float32"),
            "signature": dev.get("signature"),
        },
        "limits": settings.model_dump(
            include={"max_body", "max_texts", "max_characters", "max_grid_words", "timeout"}
        ),
    }


def _check_lengths(texts: Sequence[str], settings: ServiceSettings) -> None:
    for number, text in enumerate(texts, 1):
        if len(text) > settings.max_characters:
            which = f"text {number} of {len(texts)}" if len(texts) > 1 else "the text"
            raise RefusedError(413, f"{which} has more than {settings.max_characters} characters")


def _body(question: type[BaseModel], examples: Mapping[str, Any]) -> dict[str, Any]:
    """What OpenAPI says of a body that is read by `parse`, after its size was checked."""
    content = {"schema": question.model_json_schema(), "examples": dict(examples)}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def _json(answer: BaseModel) -> Response:
    return Response(answer.model_dump_json(), media_type="application/json")


def _status(good: bool, yes: str, no: str) -> Response:
    return JSONResponse({"status": yes if good else no}, 200 if good else 503)
