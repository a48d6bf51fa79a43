"""Sentences with discontinuous mentions, made of annotated ones by coordination.

"She had renal failure" becomes "She had renal and hepatic failure" where "hepatic failure" is a
mention elsewhere: what was one mention is then two that share a head, one of them discontinuous. As
"sore throat" lends its first word, "sore throat and lips" comes of it and of "sore lips"; with
"sore gums" there may be three, "sore throat, gums and lips". In place of a conjunction there may be
a slash or, as of abbreviations and examples, parentheses: "renal (hepatic) failure".

Most coordinations that people write share no word: "rash and renal failure". So that a model learns
which ones do, some sentences are made of whole mentions in the same construction, at the same
places, and all of these are continuous.
"""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trigner.mentions import Mention, Sentence
from trigner.systems import SamplingSettings

LONGEST = 3
"""Words of a member that coordination puts in, at most."""

PARENTHESIS = "("
"""The conjunction that puts all members but the first into parentheses."""

MEMBERS = 3
"""Members of a coordination, at most: "renal, hepatic and cardiac failure"."""

WHOLE = 0.5
"""Share of the sentences whose members are whole mentions: without these a model takes any
conjunction for a sign that words are shared (of PsyTAR's test part it predicted 65 discontinuous
mentions, 15 of them rightly, and with half 25, 9 of them rightly)."""

PER_SENTENCE = 1
"""Sentences made of one: a long one would give a dozen, and such copies had two fifths of all the
word pairs that a training saw."""

POOL = 4
"""How many times as many sentences are made as an epoch sees: epochs draw different ones."""

_PUNCTUATION = frozenset(string.punctuation)

Words = tuple[str, ...]
_Key = tuple[str, Words]
_Rests = Mapping[tuple[bool, _Key], Sequence[Words]]
_Wholes = Mapping[str, Sequence[Words]]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A mention that can be coordinated: its sentence, and how many of its words are shared."""

    sentence: Sentence
    mention: Mention
    shared: int
    first: bool
    """The shared words are its first ones, else its last."""


def coordinations(
    sentences: Sequence[Sentence], settings: SamplingSettings, seed: int
) -> Iterator[Sentence]:
    """New sentences, `coordination` times as many as there are with mentions, and that `POOL` times
    over for epochs to draw from.

    Fewer where so many different ones cannot be made, each time at most `PER_SENTENCE` of one
    sentence, and none when no mention is discontinuous, as annotators then do not split. Equal
    arguments give equal sentences.
    """
    annotated = [sentence for sentence in sentences if sentence.mentions]
    if not any(m.is_discontinuous for sentence in annotated for m in sentence.mentions):
        return
    rests, wholes = _rests(annotated), _wholes(annotated)
    random = np.random.default_rng(seed)
    wanted = settings.coordination * len(annotated)
    new: set[Words] = set()
    for _ in range(POOL):
        before = len(new)
        for candidate in _drawn(annotated, rests, random):
            if len(new) - before >= wanted:
                break
            made = _coordinated(candidate, rests, wholes, settings.conjunctions, random)
            if made.words not in new:
                new.add(made.words)
                yield made


def _drawn(
    sentences: Sequence[Sentence], rests: _Rests, random: np.random.Generator
) -> Iterator[_Candidate]:
    """Candidates in random order, at most `PER_SENTENCE` of each sentence."""
    candidates: list[_Candidate] = []
    for sentence in sentences:
        own = list(_candidates(sentence, rests))
        candidates += (own[i] for i in random.permutation(len(own))[:PER_SENTENCE])
    for number in random.permutation(len(candidates)):
        yield candidates[number]


def _rests(sentences: Sequence[Sentence]) -> _Rests:
    """What follows a mention's first words (True) or stands before its last ones, all there is."""
    found: defaultdict[tuple[bool, _Key], dict[Words, Words]] = defaultdict(dict)
    for sentence in sentences:
        for mention in sentence.mentions:
            words = tuple(sentence.words[i] for i in mention.words)
            for at in range(1, len(words)):
                for first, shared, rest in (
                    (True, words[:at], words[at:]),
                    (False, words[at:], words[:at]),
                ):
                    if len(rest) <= LONGEST and _speaks(rest) and _speaks(shared):
                        key = first, (mention.label, _lower(shared))
                        found[key].setdefault(_lower(rest), rest)
    return {key: list(own.values()) for key, own in found.items()}


def _wholes(sentences: Sequence[Sentence]) -> _Wholes:
    """Mentions that can be members as they are, by label."""
    found: defaultdict[str, dict[Words, Words]] = defaultdict(dict)
    for sentence in sentences:
        for mention in sentence.mentions:
            words = tuple(sentence.words[i] for i in mention.words)
            if len(words) <= LONGEST and not mention.is_discontinuous and _speaks(words):
                found[mention.label].setdefault(_lower(words), words)
    return {label: list(own.values()) for label, own in found.items()}


def _speaks(words: Words) -> bool:
    """Whether there is more than punctuation."""
    return not _PUNCTUATION.issuperset("".join(words))


def _candidates(sentence: Sentence, rests: _Rests) -> Iterator[_Candidate]:
    """Each continuous mention that no other touches, by the longest words that others share."""
    for mention in sentence.mentions:
        own = range(mention.words[0], mention.words[-1] + 1)
        others = (m for m in sentence.mentions if m is not mention)
        apart = all(m.words[-1] < own[0] or m.words[0] > own[-1] for m in others)
        if mention.is_discontinuous or not apart:
            continue
        words = tuple(sentence.words[i] for i in own)
        for first in (True, False):
            for shared in range(len(words) - 1, 0, -1):
                part = words[:shared] if first else words[-shared:]
                if len(rests.get((first, (mention.label, _lower(part))), ())) > 1:
                    yield _Candidate(sentence, mention, shared, first)
                    break


def _coordinated(
    candidate: _Candidate,
    rests: _Rests,
    wholes: _Wholes,
    conjunctions: Sequence[str],
    random: np.random.Generator,
) -> Sentence:
    """The candidate's sentence with more members put in beside its mention's own."""
    sentence, mention, shared = candidate.sentence, candidate.mention, candidate.shared
    start, end = mention.words[0], mention.words[-1] + 1
    own = sentence.words[start:end]
    wholes_of = wholes.get(mention.label, ())
    whole = len(wholes_of) > 1 and random.random() < WHOLE
    known: Sequence[Words]
    if whole:
        # A few of what may be thousands, of which one at most is the mention itself.
        few = random.choice(len(wholes_of), size=min(MEMBERS, len(wholes_of)), replace=False)
        known, taken = [wholes_of[i] for i in few], own
    elif candidate.first:
        known, taken = rests[True, (mention.label, _lower(own[:shared]))], own[shared:]
    else:
        known, taken = rests[False, (mention.label, _lower(own[-shared:]))], own[:-shared]
    others = [each for each in known if _lower(each) != _lower(taken)]
    count = min(int(random.integers(1, MEMBERS)), len(others))
    conjunction = conjunctions[int(random.integers(len(conjunctions)))]
    others = [others.pop(int(random.integers(len(others)))) for _ in range(count)]
    # Whole members stand where the others would: what is shared is told by words, not by places.
    before = whole and not candidate.first and conjunction != PARENTHESIS
    at = start if before else end if whole or candidate.first else end - shared
    put_in, new = _listed(others, conjunction, at, before=before)
    if whole:
        place = start + len(put_in) if before else start
        members = [(*range(place, place + len(own)),), *map(tuple, new)]
    elif candidate.first:
        members = [mention.words, *((*range(start, start + shared), *each) for each in new)]
    else:
        common = range(at + len(put_in), end + len(put_in))
        members = [(*each, *common) for each in (range(start, at), *new)]
    moved = [
        m if m.words[0] < start else m.shifted(len(put_in))
        for m in sentence.mentions
        if m is not mention
    ]
    mentions = sorted([*moved, *(Mention(each, mention.label) for each in members)])
    words = (*sentence.words[:at], *put_in, *sentence.words[at:])
    return replace(sentence, words=words, offsets=(), mentions=tuple(mentions))


def _listed(
    members: Sequence[Words], conjunction: str, at: int, *, before: bool
) -> tuple[list[str], list[range]]:
    """The words that are put in at a place, before or behind a member, and where each then is."""
    links = [","] * len(members)
    links[0 if conjunction == PARENTHESIS else -1] = conjunction
    words: list[str] = []
    places: list[range] = []
    for link, member in zip(links, members, strict=True):
        words += () if before else (link,)
        places.append(range(at + len(words), at + len(words) + len(member)))
        words += (*member, link) if before else member
    if conjunction == PARENTHESIS:
        words.append(")")
    return words, places


def _lower(words: Words) -> Words:
    return tuple(word.lower() for word in words)
