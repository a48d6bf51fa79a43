"""What is asked: the six variants of the TriG-NER paper's prompts, and our options beside them.

The templates stand in `templates/`, in our own words. Their parts and order follow the paper's
appendix on prompts: task, examples, text, form of the answer.
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
from trigner.mentions import Sentence
from trigner.prompting.subjects import Subject

Choice = Literal["fixed", "similar"]

_SHOTS = {0: "zero", 1: "one", 2: "two"}


@dataclass(frozen=True, slots=True)
class Variant:
    """One way of asking.

    `shots` are examples from the training part, the same for every text (`fixed`) or those most
    like it (`similar`). `explain` asks for the steps behind the answer, after it or, with
    `reason_first`, before it (of no effect without `explain`). `numbered` puts its index before
    each word, `index_base` says that counting starts at 0, `json_schema` has the server hold the
    answer to a schema. Raises InputError for less than no example.
    """

    shots: int = 0
    explain: bool = False
    numbered: bool = False
    index_base: bool = False
    reason_first: bool = False
    json_schema: bool = False
    examples: Choice = "fixed"

    def __post_init__(self) -> None:
        if self.shots < 0:
            raise InputError(f"the number of examples cannot be {self.shots}")

    @property
    def name(self) -> str:
        """Such as `two-shot` or `zero-shot-explained`; options beside the paper's are added."""
        parts = [f"{_SHOTS.get(self.shots, str(self.shots))}-shot"]
        parts += ["similar"] if self.shots and self.examples == "similar" else []
        if self.explain:
            parts.append("reasoned" if self.reason_first else "explained")
        options = {"numbered": self.numbered, "base": self.index_base, "schema": self.json_schema}
        return "-".join([*parts, *(name for name, chosen in options.items() if chosen)])


VARIANTS = tuple(Variant(shots, explain) for shots in (0, 1, 2) for explain in (False, True))
"""The six of the paper."""


def prompt(
    words: Sequence[str],
    examples: Sequence[Sentence],
    subjects: Sequence[Subject],
    variant: Variant,
) -> str:
    """The prompt for the words of one sentence; `examples` are sentences with their mentions."""
    parts = [_filled("task", descriptor=_descriptor(subjects))]
    if variant.index_base:
        parts.append(_filled("index-base"))
    if variant.numbered:
        parts.append(_filled("numbered"))
    lines = "\n".join(parts)
    blocks = [lines]
    if examples:
        shown = [
            _filled(
                "example",
                words=_listed(example.words, variant),
                answer=_expected(example, subjects, variant),
            )
            for example in examples
        ]
        blocks.append(_filled("examples", examples="\n\n".join(shown)))
    blocks.append(_filled("text", words=_listed(words, variant)))
    blocks.append(_filled(_form(variant), type=_type(subjects, variant)))
    return "\n\n".join(blocks)


def response_format(subjects: Sequence[Subject], variant: Variant) -> dict[str, Any] | None:
    """The parameter `response_format` of a request; None when the answer is not held to a schema.

    Properties stand in the order in which they are to be written.
    """
    if not variant.json_schema:
        return None
    entity = _object(
        {
            "entity": {"type": "string"},
            "index": {"type": "array", "items": {"type": "integer"}},
            "type": {"type": "string", "enum": [subject.name for subject in subjects]},
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


def _form(variant: Variant) -> str:
    form = "answer-schema" if variant.json_schema else "answer-block"
    if variant.explain:
        form += "-reasoned" if variant.reason_first else "-explained"
    return form


def _descriptor(subjects: Sequence[Subject]) -> str:
    names = [subject.descriptor for subject in subjects]
    return " or ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])


def _type(subjects: Sequence[Subject], variant: Variant) -> str:
    names = [subject.name for subject in subjects]
    if variant.json_schema:
        names = [f'"{name}"' for name in names]
    return names[0] if len(names) == 1 else "one of " + ", ".join(names)


def _listed(words: Sequence[str], variant: Variant) -> str:
    if variant.numbered:
        words = [f"{index}:{word}" for index, word in enumerate(words)]
    return json.dumps(list(words), ensure_ascii=False)


def _expected(example: Sentence, subjects: Sequence[Subject], variant: Variant) -> str:
    names = {subject.label: subject.name for subject in subjects}
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


def _filled(name: str, **values: str) -> str:
    return _template(name).substitute(values)


@cache
def _template(name: str) -> Template:
    file = files("trigner.prompting").joinpath("templates", f"{name}.txt")
    return Template(file.read_text("utf-8").rstrip("\n"))
