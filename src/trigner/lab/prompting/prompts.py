"""Prompts: the six variants of the TriG-NER paper, and further options.

The templates are in `templates/`, in our own words. Their parts and order follow the paper's
appendix on prompts: task, examples, text, answer format.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, Literal

from trigner.errors import InputError
from trigner.lab.prompting.entity_types import EntityType
from trigner.mentions import Sentence

ExampleChoice = Literal["fixed", "similar"]

_SHOTS = {0: "zero", 1: "one", 2: "two"}


@dataclass(frozen=True, slots=True)
class Variant:
    """A kind of prompt.

    `shots` is the number of examples from the training data, the same for every text (`fixed`) or
    those most similar to it (`similar`). `explain` asks for the reasoning steps after the answer
    or, with `reason_first`, before it (without `explain` it has no effect). `numbered` puts its
    index before each word, `index_base` says that counting starts at 0, `json_schema` makes the
    server enforce a schema. Raises InputError for a negative number of examples.
    """

    shots: int = 0
    explain: bool = False
    numbered: bool = False
    index_base: bool = False
    reason_first: bool = False
    json_schema: bool = False
    examples: ExampleChoice = "fixed"

    def __post_init__(self) -> None:
        if self.shots < 0:
            raise InputError(f"the number of examples cannot be negative: {self.shots}")

    @property
    def name(self) -> str:
        """Such as `two-shot` or `zero-shot-explained`, followed by options that the paper lacks."""
        parts = [f"{_SHOTS.get(self.shots, str(self.shots))}-shot"]
        parts += ["similar"] if self.shots and self.examples == "similar" else []
        if self.explain:
            parts.append("reasoned" if self.reason_first else "explained")
        options = {"numbered": self.numbered, "base": self.index_base, "schema": self.json_schema}
        return "-".join([*parts, *(name for name, chosen in options.items() if chosen)])


VARIANTS = tuple(Variant(shots, explain) for shots in (0, 1, 2) for explain in (False, True))
"""The paper's six."""


def build_prompt(
    words: Sequence[str],
    examples: Sequence[Sentence],
    entity_types: Sequence[EntityType],
    variant: Variant,
) -> str:
    """The prompt for the words of one sentence; `examples` are sentences with their mentions."""
    task = [_fill("task", descriptor=_descriptor(entity_types))]
    task += [_fill("index-base")] if variant.index_base else []
    task += [_fill("numbered")] if variant.numbered else []
    parts = ["\n".join(task)]
    if examples:
        shown = [
            _fill(
                "example",
                words=_word_list(example.words, variant),
                answer=_expected_answer(example, entity_types, variant),
            )
            for example in examples
        ]
        parts.append(_fill("examples", examples="\n\n".join(shown)))
    parts.append(_fill("text", words=_word_list(words, variant)))
    parts.append(_fill(_answer_format(variant), type=_type(entity_types, variant)))
    return "\n\n".join(parts)


def response_format(entity_types: Sequence[EntityType], variant: Variant) -> dict[str, Any] | None:
    """The request parameter `response_format`; None when no schema is to be enforced.

    The properties are in the order in which the model is to write them.
    """
    if not variant.json_schema:
        return None
    entity = _object(
        {
            "entity": {"type": "string"},
            "index": {"type": "array", "items": {"type": "integer"}},
            "type": {"type": "string", "enum": [one.name for one in entity_types]},
        }
    )
    properties: dict[str, Any] = {"entities": {"type": "array", "items": entity}}
    if variant.explain:
        steps = {"explanation": {"type": "array", "items": {"type": "string"}}}
        properties = {**steps, **properties} if variant.reason_first else {**properties, **steps}
    schema = {"name": "entities", "strict": True, "schema": _object(properties)}
    return {"type": "json_schema", "json_schema": schema}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _answer_format(variant: Variant) -> str:
    name = "answer-schema" if variant.json_schema else "answer-block"
    if variant.explain:
        name += "-reasoned" if variant.reason_first else "-explained"
    return name


def _descriptor(entity_types: Sequence[EntityType]) -> str:
    names = [one.descriptor for one in entity_types]
    return " or ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])


def _type(entity_types: Sequence[EntityType], variant: Variant) -> str:
    names = [one.name for one in entity_types]
    if variant.json_schema:
        names = [f'"{name}"' for name in names]
    return names[0] if len(names) == 1 else "one of " + ", ".join(names)


def _word_list(words: Sequence[str], variant: Variant) -> str:
    if variant.numbered:
        words = [f"{index}:{word}" for index, word in enumerate(words)]
    return json.dumps(list(words), ensure_ascii=False)


def _expected_answer(
    example: Sentence, entity_types: Sequence[EntityType], variant: Variant
) -> str:
    names = {one.label: one.name for one in entity_types}
    answer = [
        {
            "entity": " ".join(example.words[word] for word in mention.words),
            "index": list(mention.words),
            "type": names[mention.label],
        }
        for mention in example.mentions
        if mention.label in names
    ]
    value = {"entities": answer} if variant.json_schema else answer
    return json.dumps(value, ensure_ascii=False)


def _fill(name: str, **values: str) -> str:
    return _template(name).substitute(values)


@cache
def _template(name: str) -> Template:
    file = files("trigner.lab.prompting").joinpath("templates", f"{name}.txt")
    return Template(file.read_text("utf-8").rstrip("\n"))
