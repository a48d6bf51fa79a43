"""Texts like those that models answer with: items in JSON or Python, with anything as a value."""

from __future__ import annotations

from hypothesis import strategies as st

NUMBERS = [
    *("0", "1", "2", "3", "-1", "2.0", "3.5", "1e999", "-1e999", "NaN", "Infinity", "1e300"),
    *("9" * 30, "0x" + "f" * 5000, "1j", "-0.0", "1_0"),
]
TEXTS = [
    *('"left leg hurt"', "'leg'", '"leg , arm"', '""', '" "', '"-"', '"\\ud800"', '"\ud800"'),
    *('"3-5"', '"1:leg"', '"1, 2"', '"0-999999999"', '"etc"', '"ADR"', '"the patient\'s leg"'),
    *('"words of the entity"', '["index of each word"]', '"\\u0663"', "b'leg'", "u'leg'"),
]
OTHERS = ["true", "True", "null", "None", "...", "{1, 2}", "set()", "()", "(1,)", "leg", ""]
KEYS = [
    *('"entity"', "'text'", '"mention"', '"index"', "'index'", '"indices"', "indexes", '"ids"'),
    *('"type"', "'label'", '"entities"', '"other"', "(1, 2)", "1", "None", "[]", "b'index'"),
]


def _joined(opening, closing, parts, least=0):
    return st.lists(parts, min_size=least, max_size=4).map(
        lambda chosen: opening + ", ".join(chosen) + closing
    )


def _pairs(keys, values):
    return st.builds("{}: {}".format, keys, values)


def _nested(values):
    keys = st.sampled_from(KEYS)
    objects = _joined("{", "}", _pairs(keys, values))
    return st.one_of(_joined("[", "]", values), _joined("(", ",)", values), objects)


VALUES = st.recursive(st.sampled_from([*NUMBERS, *TEXTS, *OTHERS]), _nested, max_leaves=8)
INDICES = _joined("[", "]", st.sampled_from(NUMBERS), 1)
ITEMS = st.builds(
    "{{{}: {}, {}: {}, {}: {}}}".format,
    st.sampled_from(['"entity"', "'text'"]),
    st.one_of(st.sampled_from(TEXTS), VALUES),
    st.sampled_from(['"index"', "'ids'"]),
    st.one_of(st.sampled_from(["[0, 1, 2]", "[1]"]), INDICES, VALUES),
    st.sampled_from(KEYS),
    VALUES,
)
NOISE = st.text(alphabet="[]{}\"'`,:json \n\\1ae", max_size=60)
LISTS = st.one_of(_joined("[", "]", ITEMS, 1), _joined("[", "]", st.one_of(ITEMS, VALUES)))

ANSWERS = st.one_of(
    NOISE,
    VALUES,
    LISTS,
    st.builds("{}{}{}".format, st.sampled_from(["", "Here: "]), ITEMS, NOISE),
    LISTS.map("```json\n{}\n'''".format),
    st.builds("{}{}{}".format, NOISE, LISTS, NOISE),
    st.builds(lambda text, end: text[:end], LISTS, st.integers(0, 200)),
)
"""Noise too, and items inside of noise, fenced or cut off."""

DEEP = 100_000
TERRIBLE = [
    '[{"entity": "leg", "index": [1e999]}]',
    '[{"entity": "leg", "index": [-1e999, NaN]}]',
    "[{'entity': {(1, 2): 'x'}, 'index': [1]}]",
    "[{'entity': 'leg', 'index': {(1, 2): 'x'}}]",
    "[{'entity': b'leg', 'index': b'1'}]",
    "[{'entity': {'leg'}, 'index': {1, 2}}]",
    "[{'entity': 1j, 'index': [2j]}]",
    "[{'entity': 'leg', 'index': [0x" + "f" * 5000 + "]}]",
    "[{'entity': 0x" + "f" * 5000 + ", 'index': [1]}]",
    '[{"entity": "leg", "index": ' + "9" * 5000 + "}]",
    '[{"entity": "\\ud800", "index": ["\\ud800"], "type": "\\ud800"}]',
    *(
        '[{"entity": ' + "[" * depth + "]" * depth + ', "index": ' + "[" * depth + "1" + "]" * depth
        for depth in (200, 300, 450, 900, DEEP)
    ),
    *(
        '[{"entity": "leg", "index": ' + "[" * depth + "1" + end * depth + "}]"
        for depth in (200, 480, 990, 2_000, DEEP)
        for end in ("]", ", 1]")
    ),
    "[" * DEEP,
    "(" * DEEP,
    '{"entities": ' * DEEP,
    '{"entities": ' * 450 + "[]" + "}" * 450,
    '[{"entity": "leg", "index": ' + "-" * DEEP + "1}]",
    '[{"entity": "leg", "index": ' + "1+" * DEEP + "1}]",
]
"""Answers that end a careless reader."""
