from __future__ import annotations

import json
from typing import get_args

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from llm_answers import ANSWERS, TERRIBLE
from trigner.lab.prompting.entity_types import EntityType
from trigner.lab.prompting.parsing import ECHOES, FoundIn, Item, Syntax, parse
from trigner.lab.prompting.prompts import Variant, build_prompt

ONE = '[{"entity": "sore hands", "index": [1, 4], "type": "ADR"}]'
ITEM = Item((1, 4), "sore hands", "ADR")


@pytest.mark.parametrize(
    ("text", "found_in", "syntax"),
    [
        (f"```json\n{ONE}\n```", "block", "JSON"),
        (f"```json {ONE}```", "block", "JSON"),
        (f"```json\n{ONE}\n'''\n\nExplanation: it's what hurts", "block", "JSON"),
        (f"Sure!\n```\n{ONE}\n```\nThat is all.", "block", "JSON"),
        (f"```json\n{ONE}", "block", "JSON"),
        (f"```json\n{ONE}\n\nExplanation: the patient's hands", "block", "JSON"),
        (f"~~~\n{ONE}\n~~~", "block", "JSON"),
        (ONE, "list", "JSON"),
        (f"The answer is {ONE}. It isn't hard.", "list", "JSON"),
        (f"Explanation: 1. I looked [twice].\n{ONE}", "list", "JSON"),
        (f"{ONE}\nExplanation: words [1] and [4]", "list", "JSON"),
        (ONE.replace('"', "'"), "list", "Python"),
        ("[{'entity': 'sore hands', 'index': (1, 4), 'type': 'ADR'}]", "list", "Python"),
        (ONE.replace("}]", "},]"), "list", "Python"),
        (ONE.replace("}]", "}, etc]"), "list", "repaired"),
        (ONE.replace("}]", "}, ...]"), "list", "Python"),
        (ONE.replace("4]", "4 // the hands\n]"), "list", "repaired"),
        ('[{entity: "sore hands", index: [1, 4], type: "ADR"}]', "list", "repaired"),
        (ONE[1:-1], "list", "JSON"),
        (f"It is {ONE[1:-1]}, I think", "objects", "JSON"),
        (f'{{"entities": {ONE}}}', "list", "JSON"),
        (f'```json\n{{"answer": {ONE}, "steps": ["a", "b"]}}\n```', "block", "JSON"),
        (f'{{"explanation": ["one", "two"], "entities": {ONE}}}', "list", "JSON"),
    ],
)
def test_one_item_however_it_is_written(text, found_in, syntax):
    answer = parse(text)
    assert answer.items == (ITEM,)
    assert (answer.found_in, answer.syntax, answer.truncated) == (found_in, syntax, False)


@pytest.mark.parametrize(
    "text",
    ["[]", "null", "None", "none.", "```json\n[]\n```", "```json\nnull\n```", '{"entities": []}',
     "There is nothing: []", '{"entities": null}', "{}"],
)  # fmt: skip
def test_an_empty_answer_is_an_answer(text):
    answer = parse(text)
    assert answer.items == ()
    assert not answer.is_unparsable


def test_an_object_without_indices_is_no_empty_answer():
    objects = ('{"entity": "sore hands", "index": [ ]}', '{"entity": "arm", "index": [4]}')
    expected = (Item(None, "sore hands", None), Item((4,), "arm", None))
    for text in ("```json\n{}\n{}\n```", "They are {} and {}.", "[{}, {}]", "It is [{}, {}]."):
        answer = parse(text.replace("{}", objects[0], 1).replace("{}", objects[1], 1))
        assert answer.items == expected, text


@pytest.mark.parametrize(
    "text",
    ["", "The sore hands are an adverse reaction.", "words [1, 4] hurt", "```json\n[1, 4]\n```",
     "```python\nprint('hi')\n```", "<html><body>502</body></html>", "[[[[[[", "[{" * 3000,
     '"' * 50, "{'a', 'b'}", "\\" * 99, "[{'entity': 'sore", '{"a": {"b": 1}}'],
)  # fmt: skip
def test_prose_and_noise_are_unparsable(text):
    answer = parse(text)
    assert answer.is_unparsable
    assert answer.items == ()


def test_the_last_block_that_holds_an_answer_counts():
    first = ONE.replace("sore", "my")
    assert parse(f"```json\n{first}\n```\nBetter:\n```json\n{ONE}\n```").items == (ITEM,)
    assert parse(f"```json\n{ONE}\n```\n```text\nnothing\n```").items == (ITEM,)


def test_a_truncated_list_keeps_its_whole_objects():
    for cut in range(len(ONE), len(ONE) + 40):
        text = (ONE[:-1] + ', {"entity": "lower legs", "index": [7, 8], "type": "ADR"}')[:cut]
        for wrapped in (text, f"```json\n{text}"):
            answer = parse(wrapped)
            assert answer.items == (ITEM,), wrapped
            assert answer.truncated
    assert parse(ONE[:20]).is_unparsable


def test_objects_by_themselves():
    answer = parse('First {"text": "rash", "ids": 3}, then {"mention": "itch", "indexes": "5"}.')
    assert answer.items == (Item((3,), "rash", None), Item((5,), "itch", None))


def test_apostrophes_inside_of_words_end_no_string():
    answer = parse("[{'entity': 'patient's rash', 'index': [1, 2], 'type': 'ADR'}]")
    assert answer.items == (Item((1, 2), "patient's rash", "ADR"),)


@pytest.mark.parametrize(
    ("index", "indices"),
    [
        ([3, 4], (3, 4)),
        (["3", "4"], (3, 4)),
        (3, (3,)),
        ("3", (3,)),
        ("3-5", (3, 4, 5)),
        ("3, 5", (3, 5)),
        ("[3, 5]", (3, 5)),
        (["3-4", 7], (3, 4, 7)),
        ([[3, 5], [8, 8]], (3, 4, 5, 8)),
        (["3:Pain", "5:legs"], (3, 5)),
        ([3, "etc"], (3,)),
        ([3, 4.0], (3, 4)),
        ([-1, 99, 3, 3], (-1, 99, 3, 3)),
        ([], None),
        (None, None),
        ([3.5], None),
        ([True], None),
        ([float("inf")], None),
        ([1e9], None),
        ([[float("nan"), 3]], None),
        (["first"], None),
        ("0-999999999", None),
        ([[5, 3]], None),
        ({"a": 1}, None),
    ],
)
def test_indices(index, indices):
    (item,) = parse(json.dumps([{"entity": "x", "index": index}])).items
    assert item.indices == indices


def test_an_echo_of_the_template_is_seen():
    entity_types = (EntityType("ADR", "ADR", "reaction"),)
    for explain in (False, True):
        echoed = build_prompt(("Pain",), [], entity_types, Variant(explain=explain))
        assert all(echo in echoed for echo in ECHOES)
        items = parse(echoed).items
        assert items
        assert all(item.is_echo for item in items)


def check_types(answer):
    for item in answer.items:
        assert item.indices is None or type(item.indices) is tuple
        assert all(type(index) is int for index in item.indices or ())
        assert {type(item.text), type(item.label)} <= {str, type(None)}
        assert type(item.is_echo) is bool
        json.dumps([item.indices, item.text, item.label])
    assert answer.found_in in {*get_args(FoundIn), None}
    assert answer.syntax in {*get_args(Syntax), None}
    assert type(answer.truncated) is bool
    assert not answer.items or (answer.found_in and answer.syntax)


@pytest.mark.parametrize("text", TERRIBLE, ids=lambda text: text[:60])
def test_terrible_answers_give_items_of_the_right_types(text):
    check_types(parse(text))


@given(ANSWERS)
def test_all_answers_give_items_of_the_right_types(text):
    check_types(parse(text))


def test_what_is_drawn_for_it_are_answers():
    """A strategy that cannot spell an item would find nothing."""
    places, spellings = set(), set()

    @seed(0)
    @settings(max_examples=200, database=None)
    @given(ANSWERS)
    def draw(text):
        answer = parse(text)
        if any(item.indices and item.text for item in answer.items):
            places.add(answer.found_in)
            spellings.add(answer.syntax)

    draw()
    assert places >= {"block", "list"}
    assert spellings == {"JSON", "Python", "repaired"}


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "entity": st.text(max_size=8).filter(str.strip),
                "index": st.lists(st.integers(-5, 99), min_size=1, max_size=4),
                "type": st.sampled_from(["ADR", "Drug"]),
            }
        ),
        max_size=4,
    )
)
def test_what_json_writes_is_read(items):
    expected = tuple(Item(tuple(i["index"]), i["entity"], i["type"]) for i in items)
    assert parse(json.dumps(items)).items == expected
    assert parse("Here: " + json.dumps(items, ensure_ascii=False) + " end").items == expected
