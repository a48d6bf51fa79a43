"""Sentences with discontinuous mentions, made of annotated ones by coordination.

"She had renal failure" becomes "She had renal and hepatic failure" where "hepatic failure" is a
mention elsewhere: what was one mention is then two that share a head, one of them discontinuous. As
"sore throat" lends its first word, "sore throat and lips" comes of it and of "sore lips"; with
"sore gums" there may be three, "sore throat, gums and lips". In place of a conjunction there may be
a slash or, as of abbreviations and examples, parentheses: "renal (hepatic) failure".
"""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trigner.corpora import document_of
from trigner.mentions import Document, Mention, Sentence
from trigner.training.sections import SamplingSettings

LONGEST = 3
"""Words of a member that coordination puts in, at most."""

PARENTHESIS = "("
"""The conjunction that puts all members but the first into parentheses."""

MEMBERS = 3
"""Members of a coordination, at most: "renal, hepatic and cardiac failure"."""

_PUNCTUATION = frozenset(string.punctuation)

Words = tuple[str, ...]
_Key = tuple[str, Words]


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
) -> Iterator[Document]:
    """New sentences, one a document, `coordination` times as many as sentences with mentions.

    Fewer where that many different ones cannot be made. Equal arguments give equal sentences.
    """
    if settings.coordination == 0:
        return
    sentences = [sentence for sentence in sentences if sentence.mentions]
    rests = _rests(sentences)
    candidates = [one for sentence in sentences for one in _candidates(sentence, rests)]
    random = np.random.default_rng(seed)
    new: set[Words] = set()
    for number in random.permutation(len(candidates)):
        if len(new) >= settings.coordination * len(sentences):
            break
        words, mentions = _coordinated(candidates[number], rests, settings.conjunctions, random)
        if words not in new:
            new.add(words)
            yield document_of(f"coordinated-{len(new)}", words, mentions)


def _rests(sentences: Sequence[Sentence]) -> dict[tuple[bool, _Key], list[Words]]:
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
                    if len(rest) <= LONGEST and not _PUNCTUATION.issuperset("".join(rest)):
                        key = first, (mention.label, _lower(shared))
                        found[key].setdefault(_lower(rest), rest)
    return {key: list(own.values()) for key, own in found.items()}


def _candidates(
    sentence: Sentence, rests: dict[tuple[bool, _Key], list[Words]]
) -> Iterator[_Candidate]:
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
    rests: dict[tuple[bool, _Key], list[Words]],
    conjunctions: Sequence[str],
    random: np.random.Generator,
) -> tuple[Words, list[Mention]]:
    words, mention = candidate.sentence.words, candidate.mention
    start, end = mention.words[0], mention.words[-1] + 1
    own = words[start:end]
    shared, rest = (
        (own[: candidate.shared], own[candidate.shared :])
        if candidate.first
        else (own[-candidate.shared :], own[: -candidate.shared])
    )
    known = rests[candidate.first, (mention.label, _lower(shared))]
    others = [each for each in known if _lower(each) != _lower(rest)]
    count = min(int(random.integers(1, MEMBERS)), len(others))
    conjunction = conjunctions[int(random.integers(len(conjunctions)))]
    links = [","] * count
    links[0 if conjunction == PARENTHESIS else -1] = conjunction
    put_in: list[str] = []
    new: list[range] = []
    # Shared first words: behind the mention; shared last words: before them.
    at = end if candidate.first else end - candidate.shared
    for link in links:
        put_in.append(link)
        first = at + len(put_in)
        put_in += others.pop(int(random.integers(len(others))))
        new.append(range(first, at + len(put_in)))
    if conjunction == PARENTHESIS:
        put_in.append(")")
    if candidate.first:
        common = range(start, start + candidate.shared)
        members = [mention.words, *((*common, *own_words) for own_words in new)]
    else:
        common = range(at + len(put_in), end + len(put_in))
        members = [(*each, *common) for each in (range(start, at), *new)]
    moved = [
        m if m.words[0] < start else Mention(tuple(i + len(put_in) for i in m.words), m.label)
        for m in candidate.sentence.mentions
        if m is not mention
    ]
    return (
        (*words[:at], *put_in, *words[at:]),
        sorted([*moved, *(Mention(tuple(each), mention.label) for each in members)]),
    )


def _lower(words: Words) -> Words:
    return tuple(word.lower() for word in words)
