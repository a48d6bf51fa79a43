"""The qualifiers of an entity, word for word as `trigner.qualifiers` defines them."""

from __future__ import annotations

import re


def qualifiers(rules, text, fragments):
    """Names of the qualifiers of the entity with these fragments in one sentence."""
    found = set()
    for name in {phrase.qualifier for phrase in rules.phrases if phrase.qualifier}:
        matches = surviving(rules, text, name)
        for cue in matches:
            is_own = cue[0].qualifier == name and cue[0].role in ("before", "after")
            if is_own and speaks_of(cue, matches, text, fragments):
                found.add(name)
    return found


def surviving(rules, text, name):
    """Matches `(phrase, characters)`: again and again the longest, without what it overlaps.

    Ends of other qualifiers than `name` are no matches.
    """
    plain = text.replace("’", "'")
    left = [
        (phrase, frozenset(range(*match.span())))
        for phrase in rules.phrases
        if phrase.role != "end" or phrase.qualifier == name
        for match in re.finditer(phrase.pattern, plain)
    ]
    kept = []
    while left:
        best = max(left, key=lambda match: (len(match[1]), -min(match[1])))
        kept.append(best)
        left.remove(best)
        left = [match for match in left if match[1] == best[1] or not match[1] & best[1]]
    return kept


def speaks_of(cue, matches, text, fragments):
    phrase, characters = cue
    entity = {n for fragment in fragments for n in range(*fragment)}
    if entity & characters:
        return False
    walls = {
        n
        for other, own in matches
        if other.role == "end" and other.qualifier == phrase.qualifier
        for n in own
    }
    scope = set()
    at = max(characters) + 1 if phrase.role == "before" else min(characters) - 1
    while 0 <= at < len(text) and at not in walls:
        scope.add(at)
        at += 1 if phrase.role == "before" else -1
    if entity <= scope:
        return True
    for start, end in fragments:
        between = text[max(characters) + 1 : start].split() if start > max(characters) else ["far"]
        little = {"a", "an", "the", "any", "my", "his", "her", "of", "in", "on"}
        near = set(range(start, end)) <= scope and {word.lower() for word in between} <= little
        if phrase.role == "before" and near:
            return True
    return False
