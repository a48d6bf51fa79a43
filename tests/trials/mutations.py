"""Inputs that are nearly valid: a valid one with bytes, words, lines or values of JSON changed."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

LONGEST = 100_000
"""Bytes of an input; what sizes do is tested elsewhere."""

DEEP = 12_000
"""Deeper than JSON may be nested: 1,000 in Python 3.11, 10,000 in 3.13."""

WORDS = [
    *(b"", b"0", b"-1", b"1", b"2", b"65536", b"4294967296", b"-9223372036854775809", b"9" * 5000),
    *(b"1e999", b"-0.0", b"NaN", b"Infinity", b"null", b"true", b"false", b'""', b"[]", b"{}"),
    *(b"\x00", b"\xff", b"\xed\xa0\x80", b"\xf0\x9f\x98\xb5", b"\xef\xbb\xbf", b"\xc2\x85"),
    *(b"\xe2\x80\xa8", b"\xd9\xa1", b"\r", b"\n", b"\t", b"\r\n", b" ", b"\x0c", b"\x1b[31m"),
    *(b"[" * DEEP, b"{" * 1100, b'{"a":' * 1100, b"<a>" * 300, b"\\ud800", b"\\u0000", b"\\"),
    *(b'"', b"'", b":", b";", b"|", b"||", b",", b"-", b"=", b"&", b"&amp;", b"&x;", b"<", b">"),
    *(b"T1", b"#1", b"*", b"B-", b"I-X", b"../a", b"/", b"~", b"2001-99-99", b"!!python/name:x"),
    *(
        b"&a [*a]",
        b"*a",
        b"!!int x",
        b"? ",
        b"- ",
        b"%",
        b"0x1g",
        b"1_0",
        b"<![CDATA[",
        b"<!DOCTYPE",
    ),
    *(mark.encode() * 20_000 for mark in "`“«(.!"),
]
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63, 10**400, 0.5, 1e308, float("nan"), float("inf")),
    *(
        "",
        "x",
        "0",
        "\x00",
        "\ud800",
        "\u2028",
        "é" * 50,
        "../a",
        "T1",
        [],
        {},
        [[]],
        [{}],
        {"": 0},
    ),
    *([0, 1], [1, 0], [[0, 1]], [-1, 0], [0, 0], ["a"], {"a": {"b": []}}),
]
TOKENS = re.compile(rb"\w+|\s+|[^\w\s]")


def mutated(data: bytes, random: Random) -> bytes:
    """An input with one to four changes."""
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        kind = random.random()
        if kind < 0.35 and (changed := changed_json(data, random)) is not None:
            data = changed
        elif kind < 0.55:
            data = b"\n".join(rearranged(data.split(b"\n"), random, WORDS))
        elif kind < 0.85:
            data = b"".join(rearranged(TOKENS.findall(data), random, WORDS))
        else:
            data = bytes(rearranged(list(data), random, range(256)))
    return data[:LONGEST]


def rearranged(parts: list[Any], random: Random, others: Sequence[Any]) -> list[Any]:
    """Parts of which one or some are left out, repeated, moved, exchanged or cut off."""
    if not parts:
        return [random.choice(others)]
    place, other = random.randrange(len(parts)), random.randrange(len(parts))
    match random.randrange(7):
        case 0:
            del parts[place]
        case 1:
            parts.insert(other, parts[place])
        case 2:
            parts[place], parts[other] = parts[other], parts[place]
        case 3:
            parts[place] = random.choice(others)
        case 4:
            parts.insert(place, random.choice(others))
        case 5:
            parts[place] = parts[other]
        case 6:
            del parts[min(place, other) : min(max(place, other), min(place, other) + 20)]
    return parts


def changed_json(data: bytes, random: Random) -> bytes | None:
    """JSON, or a line of it, with one value changed somewhere; None where there is none."""
    lines = data.split(b"\n")
    for place, whole in ((0, True), (random.randrange(len(lines)), False)):
        try:
            value = json.loads(data if whole else lines[place])
            text = json.dumps(_changed(value, random)).encode()
        except (ValueError, RecursionError):
            continue
        if whole:
            return text
        lines[place] = text
        return b"\n".join(lines)
    return None


def _changed(value: Any, random: Random) -> Any:
    places = list(_places(value))
    if not places:
        return random.choice(VALUES)
    holder, key = random.choice(places)
    other_holder, other_key = random.choice(places)
    match random.randrange(5):
        case 0:
            del holder[key]
        case 1 | 2:
            holder[key] = random.choice(VALUES)
        case 3:
            # By its text: a value must not become a part of itself.
            holder[key] = json.loads(json.dumps(other_holder[other_key]))
        case 4 if isinstance(holder, dict):
            holder[random.choice(("", "id", "text", "entities", "x", str(other_key)))] = holder[key]
        case 4:
            holder.insert(key, json.loads(json.dumps(other_holder[other_key])))
    return value


def _places(value: Any) -> Any:
    """Every value inside, as what holds it and its key there."""
    waiting = [value] if isinstance(value, dict | list) else []
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            yield holder, key
            if isinstance(holder[key], dict | list):
                waiting.append(holder[key])
