"""Request and response bodies. Requests are validated strictly."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal, Self, TypeVar

from fastapi import HTTPException
from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    ValidationError,
    model_validator,
)
from pydantic_core import from_json

from trigner.machine import DuplicateKeyError, unique_keys
from trigner.mentions import SCORE_DIGITS, Entity
from trigner.qualifiers import QUALIFIERS
from trigner.serving.grid import SentenceGrid
from trigner.serving.work import TextResult

OFFSETS = (
    "Offsets count Unicode code points from 0 in the caller's own string, exactly as it was sent"
    " (in Python `text[start:end]`; in JavaScript `Array.from(text).slice(start, end)`)."
)
SENTENCE = "Pain and cramping in my hands and lower legs."
EXTRACT_EXAMPLES: dict[str, Any] = {
    "one text": {"value": {"text": SENTENCE}},
    "many texts": {"value": {"texts": [SENTENCE, "No complaints."], "threshold": 0.5}},
}
GRID_EXAMPLES: dict[str, Any] = {"the first sentence": {"value": {"text": SENTENCE, "at": 0}}}

FIELDS = (*QUALIFIERS, "code", "candidates")
"""What annotators of the service give an entity."""

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
_ONE, _BY_LABEL = "one threshold", "thresholds by label"
Threshold = Annotated[
    Annotated[Probability, Tag(_ONE)] | Annotated[dict[str, Probability], Tag(_BY_LABEL)],
    Discriminator(lambda value: _BY_LABEL if isinstance(value, dict) else _ONE),
]


def _no_defaults(schema: dict[str, Any]) -> None:
    for value in schema["properties"].values():
        value.pop("default", None)


def _either_required(schema: dict[str, Any]) -> None:
    _no_defaults(schema)
    schema["oneOf"] = [{"required": ["text"]}, {"required": ["texts"]}]


class RequestBody(BaseModel):
    """A request body without unknown fields and without type coercion."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ExtractRequest(RequestBody):
    """One text or many; `threshold` is the minimum score of an entity, by default the service's.

    As an object by label it says so for these labels; others keep the service's.
    """

    model_config = ConfigDict(json_schema_extra=_either_required)

    text: str = ""
    texts: Annotated[list[str], Field(min_length=1)] = []
    threshold: Threshold | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if ("text" in self.model_fields_set) == ("texts" in self.model_fields_set):
            raise ValueError("give exactly one of `text` and `texts`")
        return self

    @property
    def is_single(self) -> bool:
        """Whether `text` was given."""
        return "text" in self.model_fields_set

    @property
    def all_texts(self) -> list[str]:
        """The texts, one or many."""
        return [self.text] if self.is_single else self.texts


class GridRequest(RequestBody):
    """A text and the offset of a character in the sentence whose grid is wanted."""

    model_config = ConfigDict(json_schema_extra=_no_defaults)

    text: str
    at: Annotated[int, Field(ge=0)] = 0


class LinkCandidate(BaseModel):
    """A row of the service's vocabulary that an entity may mean."""

    code: str
    name: str
    term: str = Field(description="The name or synonym that is nearest to the entity's text.")
    match: str = Field(description="exact, words (the same words) or alike.")
    score: float


Said = Literal[True] | None


class ScoredEntity(BaseModel):
    """A named entity: one or several fragments of the text, with a type and a score.

    Qualifiers are there, and true, when they hold and the service was started with `--qualifiers`;
    `code` and `candidates` when it was started with `--link`.
    """

    label: str
    text: str = Field(description="The fragments' texts, joined by one blank.")
    fragments: list[tuple[int, int]] = Field(
        description="Half-open ranges `[start, end)`, in order. " + OFFSETS
    )
    score: float = Field(ge=0, le=1)
    negated: Said = Field(None, description="Negated: it is, or was, absent.")
    hypothetical: Said = Field(
        None, description="Hypothetical: it is suspected, feared or asked about."
    )
    historical: Said = Field(None, description="Historical: it lies before what the text is about.")
    other_person: Said = Field(None, description="It is somebody else's.")
    code: str | None = Field(None, description="The best candidate's, if it is near enough.")
    candidates: list[LinkCandidate] | None = None

    @classmethod
    def of(cls, entity: Entity) -> ScoredEntity:
        """The response for an entity."""
        fragments, score = list(entity.fragments), round(entity.score or 0.0, SCORE_DIGITS)
        own = {name: entity.fields[name] for name in FIELDS if name in entity.fields}
        return cls(label=entity.label, text=entity.text, fragments=fragments, score=score, **own)


class TextResponse(BaseModel):
    """Entities of one text, ordered by offset."""

    entities: list[ScoredEntity]
    notices: list[str] = Field(
        description="Remarks, such as sentences read through several windows."
    )

    @classmethod
    def of(cls, result: TextResult) -> TextResponse:
        """The response for a text."""
        entities = [ScoredEntity.of(entity) for entity in result.entities]
        return cls(entities=entities, notices=result.statistics.notices())


class TextsResponse(BaseModel):
    """Entities of many texts, in the order of `texts`."""

    documents: list[TextResponse]


class Word(BaseModel):
    """A word of the sentence and its offsets in the text."""

    text: str
    start: int
    end: int


class CellProbability(BaseModel):
    """A pair of words, by their positions in the sentence, a tag and its probability."""

    row: int
    column: int
    tag: int
    probability: float


class ExplainedEntity(ScoredEntity):
    """An entity and the cells whose probabilities, multiplied, are its score, but for rounding."""

    cells: list[CellProbability]


class GridResponse(BaseModel):
    """The tag probabilities of each pair of words of one sentence."""

    words: list[Word]
    tags: list[str]
    probabilities: list[list[list[float]]] = Field(
        description="Row word, column word, tag: each cell sums to 1 (rounded to 4 digits)."
    )
    entities: list[ExplainedEntity]

    @classmethod
    def of(cls, grid: SentenceGrid) -> GridResponse:
        """The response for a sentence's grid."""
        probabilities = grid.probabilities.round(SCORE_DIGITS)
        words = [
            Word(text=word, start=start, end=end)
            for word, (start, end) in zip(grid.sentence.words, grid.sentence.offsets, strict=True)
        ]
        entities = [
            ExplainedEntity(
                **ScoredEntity.of(explained.entity).model_dump(),
                cells=[
                    CellProbability(
                        row=i, column=j, tag=tag, probability=float(probabilities[i, j, tag])
                    )
                    for i, j, tag in explained.cells
                ],
            )
            for explained in grid.entities
        ]
        return cls(
            words=words,
            tags=list(grid.tags),
            probabilities=probabilities.tolist(),
            entities=entities,
        )


class ErrorResponse(BaseModel):
    """What went wrong."""

    detail: str


B = TypeVar("B", bound=RequestBody)


def parse(model: type[B], body: bytes) -> B:
    """A request body, validated.

    Raises HTTPException: 400 when it is not JSON in UTF-8, 422 when it does not fit the model.
    Error messages do not repeat the text.
    """
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"the request body is not valid UTF-8: byte {error.start}"
        raise HTTPException(400, message) from error
    try:
        value = from_json(body, allow_inf_nan=False)
        json.loads(body, object_pairs_hook=unique_keys)  # which pydantic does not see
    except DuplicateKeyError as error:
        raise HTTPException(400, f"the request body {error}") from error
    except ValueError as error:
        hint = " (lone surrogates are not characters)" if _SURROGATE.search(body) else ""
        raise HTTPException(400, f"the request body is not valid JSON: {error}{hint}") from error
    if not isinstance(value, dict):
        raise HTTPException(422, "the request body must be a JSON object")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        told = "; ".join(_message(own, model) for own in error.errors()[:5])
        raise HTTPException(422, told) from error


def _message(error: Any, model: type[RequestBody]) -> str:
    field = ".".join(str(part) for part in error["loc"] if part not in (_ONE, _BY_LABEL))
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "extra_forbidden":
        message = f"unknown field; known are {', '.join(model.model_fields)}"
    return f"{field}: {message}" if field else message
