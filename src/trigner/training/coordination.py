"""Sentences with discontinuous mentions, made of annotated ones by coordination.

"She had renal failure" becomes "She had renal and hepatic failure" where "hepatic failure" is a
mention elsewhere: what was one mention is then two that share a head, one of them discontinuous. As
"sore throat" lends its first word, "sore throat and lips" comes of it and of "sore lips"; with
"sore gums" there may be three, "sore throat, gums and lips". In place of a conjunction there may be
a slash or, as of abbreviations and examples, parentheses: "renal (hepatic) failure".

Most coordinations that people write share no word: "rash and renal failure". So that a model learns
which ones do, some sentences are made of whole mentions in the same construction, at the same
places, and all of these are continuous. Which members may stand together is in `kinds`.
"""

from __future__ import annotations

import string
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trigner.mentions import Mention, Sentence
from trigner.systems import SamplingSettings
from trigner.training.kinds import Kinds, Words, alike, lower

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

_Rests = Mapping[tuple[bool, str, Words], Sequence[Words]]
_Wholes = Mapping[tuple[str, str, str], Sequence[Words]]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A mention that can be coordinated: its sentence, and where its shared words begin or end.

    Those before its word `at` are shared if they are the `first` ones, else those from there on.
    """

    sentence: Sentence
    mention: Mention
    at: int
    first: bool


@dataclass(frozen=True, slots=True)
class _Known:
    """What members there are, and which may stand together."""

    kinds: Kinds
    rests: _Rests
    wholes: _Wholes


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
    kinds = Kinds(annotated, settings.conjunctions)
    known = _Known(kinds, _rests(annotated), _wholes(annotated, kinds))
    random = np.random.default_rng(seed)
    candidates = [list(_candidates(sentence, known.rests)) for sentence in annotated]
    wanted = settings.coordination * len(annotated)
    new: set[Words] = set()
    for _ in range(POOL):
        most = len(new) + wanted
        made_of = Counter[int]()
        for whole, share in ((False, 1 - WHOLE), (True, WHOLE)):
            until = min(most, len(new) + share * wanted)
            for number, candidate in _drawn(candidates, random):
                if len(new) >= until:
                    break
                if made_of[number] == PER_SENTENCE:
                    continue
                made = _coordinated(candidate, known, settings.conjunctions, random, whole=whole)
                if made is not None and made.words not in new:
                    new.add(made.words)
                    made_of[number] += 1
                    yield made


def _drawn(
    candidates: Sequence[Sequence[_Candidate]], random: np.random.Generator
) -> Iterator[tuple[int, _Candidate]]:
    """The candidates of each sentence with its number, sentences and candidates in random order."""
    for number in random.permutation(len(candidates)).tolist():
        for place in random.permutation(len(candidates[number])).tolist():
            yield number, candidates[number][place]


def _rests(sentences: Sequence[Sentence]) -> _Rests:
    """What follows a mention's first words (True) or stands before its last ones, all there is."""
    found: defaultdict[tuple[bool, str, Words], dict[Words, Words]] = defaultdict(dict)
    for sentence in sentences:
        for mention in sentence.mentions:
            words = tuple(sentence.words[i] for i in mention.words)
            for at in range(1, len(words)):
                for first, shared, rest in (
                    (True, words[:at], words[at:]),
                    (False, words[at:], words[:at]),
                ):
                    if len(rest) <= LONGEST and _speaks(rest) and _speaks(shared):
                        key = first, mention.label, lower(shared)
                        found[key].setdefault(lower(rest), rest)
    return {key: list(own.values()) for key, own in found.items()}


def _wholes(sentences: Sequence[Sentence], kinds: Kinds) -> _Wholes:
    """Mentions that can be members as they are, by label and the words before and after them."""
    found: defaultdict[tuple[str, str, str], dict[Words, Words]] = defaultdict(dict)
    for sentence in sentences:
        for mention in sentence.mentions:
            words = tuple(sentence.words[i] for i in mention.words)
            short = len(words) <= LONGEST and not mention.is_discontinuous
            if short and _speaks(words) and kinds.belong(mention.label, words):
                key = mention.label, *kinds.frame(sentence, mention)
                found[key].setdefault(lower(words), words)
    return {key: list(own.values()) for key, own in found.items()}


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
            for at in range(len(words) - 1, 0, -1) if first else range(1, len(words)):
                shared = words[:at] if first else words[at:]
                if len(rests.get((first, mention.label, lower(shared)), ())) > 1:
                    yield _Candidate(sentence, mention, at, first)
                    break


def _others(
    candidate: _Candidate, known: _Known, random: np.random.Generator, *, whole: bool
) -> list[Words]:
    """One or more members of one kind with the candidate's; none where there is none."""
    sentence, mention, kinds = candidate.sentence, candidate.mention, known.kinds
    words = tuple(sentence.words[i] for i in mention.words)
    at, first, label = candidate.at, candidate.first, mention.label
    taken, shared = (words[at:], words[:at]) if first else (words[:at], words[at:])
    if whole:
        taken, there = words, known.wholes.get((label, *kinds.frame(sentence, mention)), ())
    else:
        there = known.rests[first, label, lower(shared)]

    def allowed(member: Words) -> bool:
        return whole or kinds.allow_part(label, member, shared, first=first)

    count = 1 + int(random.integers(1, MEMBERS))
    members = [taken]
    for number in random.permutation(len(there)).tolist() if allowed(taken) else ():
        other = there[number]
        if allowed(other) and all(alike(other, member) for member in members):
            members.append(other)
        if len(members) == count:
            break
    return members[1:]


def _coordinated(
    candidate: _Candidate,
    known: _Known,
    conjunctions: Sequence[str],
    random: np.random.Generator,
    *,
    whole: bool,
) -> Sentence | None:
    """The candidate's sentence with more members put in beside its mention's own, if there are."""
    others = _others(candidate, known, random, whole=whole)
    if not others:
        return None
    sentence, mention = candidate.sentence, candidate.mention
    start, end = mention.words[0], mention.words[-1] + 1
    middle = start + candidate.at
    conjunction = conjunctions[int(random.integers(len(conjunctions)))]
    # Whole members stand where the others would: what is shared is told by words, not by places.
    before = whole and not candidate.first and conjunction != PARENTHESIS
    at = start if before else end if whole or candidate.first else middle
    put_in, new = _listed(others, conjunction, at, before=before)
    if whole:
        place = start + len(put_in) if before else start
        members = [(*range(place, place + end - start),), *map(tuple, new)]
    elif candidate.first:
        members = [mention.words, *((*range(start, middle), *each) for each in new)]
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
