"""What goes over the wire: questions, checked strictly, and answers."""

from __future__ import annotations

import re
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import from_json

from trigner.mentions import Entity
from trigner.serving.grid import Grid
from trigner.serving.refusals import RefusedError
from trigner.serving.work import Found

OFFSETS = (
    "Offsets count Unicode code points from 0 in the caller's own string, exactly as it was sent"
    " (in Python `text[start:end]`; in JavaScript `Array.from(text).slice(start, end)`)."
)
SENTENCE = "Pain and cramping in my hands and lower legs."
EXAMPLES: dict[str, Any] = {
    "one text": {"value": {"text": SENTENCE}},
    "many texts": {"value": {"texts": [SENTENCE, "No complaints."], "threshold": 0.5}},
}

_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")

Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


def _no_defaults(schema: dict[str, Any]) -> None:
    for value in schema["properties"].values():
        value.pop("default", None)


def _one_of_two(schema: dict[str, Any]) -> None:
    _no_defaults(schema)
    schema["oneOf"] = [{"required": ["text"]}, {"required": ["texts"]}]


class Question(BaseModel):
    """What no question does: bring other fields, or another type that would have to be guessed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ExtractQuestion(Question):
    """One text or many; `threshold` is the least score of an entity, the service's if not given."""

    model_config = ConfigDict(json_schema_extra=_one_of_two)

    text: str = ""
    texts: Annotated[list[str], Field(min_length=1)] = []
    threshold: Share | None = None

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Self:
        if ("text" in self.model_fields_set) == ("texts" in self.model_fields_set):
            raise ValueError("give `text` or `texts`, one of the two")
        return self

    @property
    def is_single(self) -> bool:
        """Whether `text` was given."""
        return "text" in self.model_fields_set

    @property
    def all_texts(self) -> list[str]:
        """The texts, be it one or many."""
        return [self.text] if self.is_single else self.texts


class GridQuestion(Question):
    """A text and a character of it: the grid is that of the sentence the character stands in."""

    model_config = ConfigDict(json_schema_extra=_no_defaults)

    text: str
    at: Annotated[int, Field(ge=0)] = 0


class EntityAnswer(BaseModel):
    """Characters of the text that together name one thing."""

    label: str
    text: str = Field(description="The fragments' texts, joined by one blank.")
    fragments: list[tuple[int, int]] = Field(
        description="Half-open ranges `[start, end)`, in order. " + OFFSETS
    )
    score: float = Field(ge=0, le=1)

    @classmethod
    def of(cls, entity: Entity) -> EntityAnswer:
        """The answer for an entity that was found."""
        return cls(
            label=entity.label,
            text=entity.text,
            fragments=list(entity.fragments),
            score=entity.score or 0.0,
        )


class TextAnswer(BaseModel):
    """Entities of one text, in the order of their characters."""

    entities: list[EntityAnswer]
    notices: list[str] = Field(
        description="What is worth knowing, such as sentences read through several windows."
    )

    @classmethod
    def of(cls, found: Found) -> TextAnswer:
        """The answer for what was found in a text."""
        entities = [EntityAnswer.of(entity) for entity in found.entities]
        return cls(entities=entities, notices=found.tally.notices())


class TextsAnswer(BaseModel):
    """Entities of many texts, in the order of `texts`."""

    documents: list[TextAnswer]


class Word(BaseModel):
    """A word of the sentence and its characters in the text."""

    text: str
    start: int
    end: int


class Cell(BaseModel):
    """A pair of words, by their places in the sentence, and the tag that stands there."""

    row: int
    column: int
    tag: int
    probability: float


class ExplainedEntity(EntityAnswer):
    """An entity and the cells whose probabilities, multiplied, are its score."""

    cells: list[Cell]


class GridAnswer(BaseModel):
    """What the model thinks of each pair of words of one sentence."""

    words: list[Word]
    tags: list[str]
    probabilities: list[list[list[float]]] = Field(
        description="Row word, column word, tag: each cell sums to 1 (rounded to 4 digits)."
    )
    entities: list[ExplainedEntity]

    @classmethod
    def of(cls, grid: Grid) -> GridAnswer:
        """The answer for a sentence's grid."""
        words = [
            Word(text=word, start=start, end=end)
            for word, (start, end) in zip(grid.sentence.words, grid.sentence.offsets, strict=True)
        ]
        entities = [
            ExplainedEntity(
                **EntityAnswer.of(explained.entity).model_dump(),
                cells=[
                    Cell(row=i, column=j, tag=tag, probability=float(grid.probabilities[i, j, tag]))
                    for i, j, tag in explained.cells
                ],
            )
            for explained in grid.entities
        ]
        return cls(
            words=words,
            tags=list(grid.tags),
            probabilities=grid.probabilities.round(4).tolist(),
            entities=entities,
        )


class Problem(BaseModel):
    """Why there is no answer."""

    detail: str


Q = TypeVar("Q", bound=Question)


def parse(kind: type[Q], body: bytes) -> Q:
    """A question from a request's body.

    Raises RefusedError: 400 for what is not JSON in UTF-8, 422 for JSON that is no such question.
    What is wrong is said without repeating the text.
    """
    body = body.removeprefix(b"\xef\xbb\xbf")
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RefusedError(400, f"the body is not UTF-8: byte {error.start}") from error
    try:
        value = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        hint = " (half of a surrogate pair is no character)" if _SURROGATE.search(body) else ""
        raise RefusedError(400, f"the body is not JSON: {error}{hint}") from error
    if not isinstance(value, dict):
        raise RefusedError(422, "the body must be a JSON object")
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise RefusedError(422, "; ".join(_told(fault) for fault in error.errors()[:5])) from error


def _told(fault: Any) -> str:
    place = ".".join(str(part) for part in fault["loc"])
    message = fault["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
