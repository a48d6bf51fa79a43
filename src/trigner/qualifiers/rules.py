"""ConText: which phrases of a sentence say something of a finding in it.

Chapman et al. 2001 (NegEx) and Harkema et al. 2009 (ConText): a phrase has a scope, from it to the
next phrase that ends scopes or to the edge of the sentence, and what lies in it is qualified.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any, Literal

from trigner.errors import InputError
from trigner.mentions import Document, Entity, Fragment, Sentence

Direction = Literal["before", "after"]
DIRECTIONS: tuple[Direction, ...] = ("before", "after")

QUALIFIERS = ("negated", "hypothetical", "historical", "other_person")
"""Fields of an entity that is not there, may be or come, was there earlier, is somebody else's."""

# Not inside a word; `\b` would not do, as phrases may begin or end with a comma.
_EDGE = r"(?:(?<!\w)|(?!\w))"
# What may stand between a phrase and the part of a finding that it is about.
_LITTLE = re.compile(r"(?:\s|\b(?:an?|the|any|my|his|her|of|in|on)\b)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A regular expression and what it does.

    It says `qualifier` of what comes behind it (`before`) or stands before it (`after`), ends the
    scopes of `qualifier`, or nothing, when `role` is None.
    """

    pattern: re.Pattern[str]
    role: Direction | Literal["end"] | None
    qualifier: str = ""


@dataclass(frozen=True, slots=True)
class Cue:
    """Characters `[start, end)` that say a qualifier of whatever lies in `scope`."""

    qualifier: str
    direction: Direction
    start: int
    end: int
    scope: Fragment


@dataclass(frozen=True, eq=False)
class QualifierRules:
    """Phrases of a language: the qualifiers of an entity in its sentence.

    An annotator of `Extractor`: called with document, sentence and entity it gives the fields that
    hold, all true.
    """

    phrases: tuple[Phrase, ...]

    def __call__(self, document: Document, sentence: Sentence, entity: Entity) -> dict[str, bool]:
        """`{"negated": True}` and the like; `sentence` is the one of `document` with the entity."""
        if not sentence.offsets:
            return {}
        start, end = sentence.offsets[0][0], sentence.offsets[-1][1]
        text = document.text[start:end]
        fragments = [(a - start, b - start) for a, b in entity.fragments]
        found = {c.qualifier for c in _cues(self, text) if is_about(c, fragments, text)}
        return {name: True for name in QUALIFIERS if name in found}


def is_about(cue: Cue, fragments: Sequence[Fragment], text: str) -> bool:
    """Whether a cue of `text` speaks of the entity with these fragments.

    It does when all of them lie in its scope, or when one of them comes at once behind it: of
    "swelling of the face, but not the hands" the swelling of the hands is negated. A cue that
    shares characters with the entity is part of its name.
    """
    if any(start < cue.end and cue.start < end for start, end in fragments):
        return False
    first, last = cue.scope
    inside = [first <= start and end <= last for start, end in fragments]
    if all(inside):
        return True
    return cue.direction == "before" and any(
        is_inside and _LITTLE.fullmatch(text, cue.end, start) is not None
        for is_inside, (start, _) in zip(inside, fragments, strict=True)
    )


Match = tuple[Phrase, int, int]
"""A phrase and the characters that it matched."""


@lru_cache(maxsize=64)
def _cues(rules: QualifierRules, text: str) -> tuple[Cue, ...]:
    """The cues of a sentence; asked for once for each of its entities."""
    matches = list(_matches(rules.phrases, text.replace("’", "'")))
    return tuple(cue for name in QUALIFIERS for cue in _cues_of(name, matches, len(text)))


def _cues_of(qualifier: str, matches: Sequence[Match], length: int) -> Iterator[Cue]:
    """Those of one qualifier; what ends others does not stand in its way."""
    known = (m for m in matches if m[0].role != "end" or m[0].qualifier == qualifier)
    own = [match for match in _longest(known) if match[0].qualifier == qualifier]
    # Matches that are kept do not overlap, so both are in order.
    spans = sorted({(start, end) for phrase, start, end in own if phrase.role == "end"})
    starts, ends = [[*places] for places in zip(*spans, strict=True)] or [[], []]
    for phrase, start, end in own:
        if phrase.role == "before":
            following = bisect_left(starts, end)
            scope = (end, starts[following] if following < len(starts) else length)
            yield Cue(qualifier, "before", start, end, scope)
        elif phrase.role == "after":
            before = bisect_right(ends, start)
            scope = (ends[before - 1] if before else 0, start)
            yield Cue(qualifier, "after", start, end, scope)


def _matches(phrases: Iterable[Phrase], text: str) -> Iterator[Match]:
    for phrase in phrases:
        for match in phrase.pattern.finditer(text):
            yield phrase, *match.span()


def _longest(matches: Iterable[Match]) -> Iterator[Match]:
    """Of matches that overlap the longest, then the first; several with the same characters."""
    taken: list[Fragment] = []  # in order, none of which overlap
    for match in sorted(matches, key=lambda match: (match[1] - match[2], match[1])):
        _, start, end = match
        at = bisect_left(taken, (start, end))
        if taken[at : at + 1] == [(start, end)]:
            yield match
        elif (at == 0 or taken[at - 1][1] <= start) and (at == len(taken) or end <= taken[at][0]):
            taken.insert(at, (start, end))
            yield match


@cache
def english() -> QualifierRules:
    """The rules that ship with the package."""
    return read_rules(Path(str(files("trigner.qualifiers").joinpath("english.yaml"))))


def read_rules(path: str | Path) -> QualifierRules:
    """Rules of a YAML file laid out as `english.yaml`.

    Raises InputError for one that is not.
    """
    import yaml  # most commands read no rules

    path = Path(path)
    try:
        return QualifierRules(tuple(_phrases(yaml.safe_load(path.read_text("utf-8")))))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValueError, re.error) as error:
        raise InputError(f"are not rules of qualifiers: {error}", path=path) from error
    except RecursionError as error:
        raise InputError("are not rules of qualifiers: nested too deep", path=path) from error


def _phrases(rules: Any) -> Iterator[Phrase]:
    known = {*QUALIFIERS, "meaningless", "ends"}
    for name, part in _mapping(rules, known).items():
        if name == "meaningless":
            yield from (Phrase(pattern, None) for pattern in _patterns(part, name))
        elif name == "ends":
            for pattern, qualifier in product(_patterns(part, name), QUALIFIERS):
                yield Phrase(pattern, "end", qualifier)
        else:
            own = _mapping(part, {*DIRECTIONS, "around", "ends"})
            read = {key: [*_patterns(value, f"{name}: {key}")] for key, value in own.items()}
            for direction in DIRECTIONS:
                for pattern in (*read.get(direction, ()), *read.get("around", ())):
                    yield Phrase(pattern, direction, name)
            yield from (Phrase(pattern, "end", name) for pattern in read.get("ends", ()))


def _mapping(value: Any, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict) or value.keys() - known:
        raise ValueError(f"expected a mapping with some of {', '.join(sorted(known))}")
    return value


_BLANK = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]| +(?![?*+{])| ")
"""Blanks of a phrase, and whole what a blank in is no word's end: an escape, a class."""


def _any_space(found: re.Match[str]) -> str:
    """Any white space in the place of blanks, so that ` ?` is an optional one.

    It is atomic: ` +` would try all ways to share out a run of white space.
    """
    own = found[0]
    return r"(?>\s+)" if own.isspace() else own.replace(" ", r"\s") if own[0] == "[" else own


def _patterns(phrases: Any, where: str) -> Iterator[re.Pattern[str]]:
    if not isinstance(phrases, list):
        raise ValueError(f"{where}: expected a list of phrases, found {phrases!r}")
    for number, phrase in enumerate(phrases, 1):
        if not isinstance(phrase, str) or not phrase.strip():
            # YAML takes no, yes, on and off for truth values, and ~ for nothing.
            message = f"phrase {number} must be text, and YAML reads it as {phrase!r}"
            raise ValueError(f"{where}: {message}: put it in quotes, or remove it")
        inside = _BLANK.sub(_any_space, phrase)
        yield re.compile(rf"{_EDGE}(?:{inside}){_EDGE}", re.IGNORECASE)
