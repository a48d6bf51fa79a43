from __future__ import annotations

import json

import pytest

from trigner.lab.prompting.entity_types import ENTITY_TYPES, EntityType
from trigner.lab.prompting.prompts import VARIANTS, Variant, build_prompt, response_format
from trigner.mentions import Mention, Sentence

WORDS = ("Pain", "in", "my", '"legs"')
EXAMPLE = Sentence(
    "d",
    0,
    ("Sore", "hands", "and", "feet", "."),
    (),
    (Mention((0, 1), "ADR"), Mention((0, 3), "ADR"), Mention((2,), "Drug")),
)
OTHER = Sentence("d", 1, ("All", "is", "well", "today", "."), (), ())
ANSWER = [
    {"entity": "Sore hands", "index": [0, 1], "type": "ADR"},
    {"entity": "Sore feet", "index": [0, 3], "type": "ADR"},
]
ADR = ENTITY_TYPES["cadec"]


def test_the_six_variants():
    assert [variant.name for variant in VARIANTS] == [
        "zero-shot",
        "zero-shot-explained",
        "one-shot",
        "one-shot-explained",
        "two-shot",
        "two-shot-explained",
    ]


@pytest.mark.parametrize("corpus", ENTITY_TYPES)
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.name)
def test_what_every_variant_says(corpus, variant):
    entity_types = ENTITY_TYPES[corpus]
    asked = build_prompt(WORDS, [EXAMPLE, OTHER][: variant.shots], entity_types, variant)
    assert f"every {entity_types[0].descriptor} in a text" in asked
    assert f'"type": "{entity_types[0].name}"' in asked
    assert f"Text: {json.dumps(WORDS)}" in asked
    assert "```json" in asked
    assert asked.count("Text: ") == variant.shots + 1
    assert asked.count("Expected answer: ") == variant.shots
    assert ("in the same way as the examples" in asked) == bool(variant.shots)
    assert ("Explanation" in asked) == ("steps" in asked) == variant.explain
    assert "$" not in asked
    assert "index 0" not in asked


def test_the_text_comes_after_the_examples_and_before_the_form():
    asked = build_prompt(WORDS, [EXAMPLE, OTHER], ADR, Variant(2))
    places = [asked.index(part) for part in ("Sore", "well", "Pain", "```json")]
    assert places == sorted(places)


def test_answers_of_examples_are_what_the_form_asks_for():
    asked = build_prompt(WORDS, [EXAMPLE, OTHER], ADR, Variant(2))
    first, second = (
        json.loads(line.removeprefix("Expected answer: "))
        for line in asked.splitlines()
        if line.startswith("Expected")
    )
    assert first == ANSWER  # and nothing of a type that is not asked for
    assert second == []


def test_options():
    numbered = build_prompt(WORDS, [EXAMPLE], ADR, Variant(1, numbered=True, index_base=True))
    assert '["0:Pain", "1:in"' in numbered
    assert '["0:Sore", "1:hands"' in numbered
    assert '"entity": "Sore feet"' in numbered
    assert "has index 0" in numbered
    reasoned = build_prompt(WORDS, [], ADR, Variant(explain=True, reason_first=True))
    assert reasoned.index("Explanation: the steps") < reasoned.index("```json")
    explained = build_prompt(WORDS, [], ADR, Variant(explain=True))
    assert explained.index("Explanation: the steps") > explained.index("```json")


def test_a_schema():
    variant = Variant(1, explain=True, json_schema=True)
    asked = build_prompt(WORDS, [EXAMPLE], ADR, variant)
    assert "```" not in asked
    assert json.dumps({"entities": ANSWER}) in asked
    schema = response_format(ADR, variant)["json_schema"]["schema"]
    assert list(schema["properties"]) == ["entities", "explanation"]
    assert schema["properties"]["entities"]["items"]["properties"]["type"]["enum"] == ["ADR"]
    first = response_format(ADR, Variant(explain=True, reason_first=True, json_schema=True))
    assert list(first["json_schema"]["schema"]["properties"]) == ["explanation", "entities"]
    assert response_format(ADR, Variant()) is None


def test_several_types():
    entity_types = [EntityType(n, n, n.lower()) for n in ("Drug", "Dose", "Route")]
    asked = build_prompt(WORDS, [], entity_types, Variant())
    assert "every drug, dose or route in" in asked
    assert "one of Drug, Dose, Route" in asked


def test_words_that_look_like_places_of_a_template():
    assert '["$words", "${type}", "$"]' in build_prompt(
        ("$words", "${type}", "$"), [], ADR, Variant()
    )


def test_names_tell_options_and_numbers(refused):
    assert Variant(5, examples="similar", numbered=True).name == "5-shot-similar-numbered"
    assert Variant(0, True, False, True, True, True).name == "zero-shot-reasoned-base-schema"
    with refused():
        Variant(-1)
