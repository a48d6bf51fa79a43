"""All sentences that coordination could make of others, and which of them have members of a kind.

Slow, and by the words of the definition: a sentence is a list of words that each know their
mentions, members are put in by hand, and every choice of members is enumerated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from trigner.mentions import Mention, Sentence

Words = tuple[str, ...]


@dataclass(frozen=True)
class Made:
    """A sentence, its mentions, and what was joined in it: the mention's own member comes first.

    `frame` are the words before and after the mention.
    """

    words: Words
    mentions: tuple[Mention, ...]
    label: str
    members: tuple[Words, ...]
    shared: Words
    first: bool
    whole: bool
    frame: tuple[str, str]


def all_made(
    sentences: Sequence[Sentence], conjunctions: Sequence[str], longest: int, most: int
) -> Iterator[Made]:
    """Every sentence of at most so many members that have at most `longest` words."""
    for sentence in sentences:
        for mention in sentence.mentions:
            if not _stands_alone(mention, sentence):
                continue
            words = tuple(sentence.words[i] for i in mention.words)
            frame = _frame(sentence, mention, conjunctions)
            for first in (True, False):
                shared = _shared(words, mention.label, first, sentences, longest)
                if not shared:
                    continue
                part = words[len(shared) :] if first else words[: -len(shared)]
                rests = _rests(sentences, mention.label, shared, first, longest)
                wholes = _wholes(sentences, mention.label, longest)
                for whole, own, known in ((False, part, rests), (True, words, wholes)):
                    for count in range(1, most):
                        for others in permutations(known, count):
                            members = (own, *others)
                            if len({_lower(member) for member in members}) < len(members):
                                continue
                            for conjunction in conjunctions:
                                made = _put_in(
                                    sentence, mention, others, shared, first, whole, conjunction
                                )
                                yield Made(
                                    *made, mention.label, members, shared, first, whole, frame
                                )


def of_one_kind(made: Made, sentences: Sequence[Sentence], conjunctions: Sequence[str]) -> bool:
    """Whether the members may stand together, as the module `kinds` says in words."""
    others = made.members[1:]
    every = [word for member in made.members for word in member]
    if not made.whole:
        every += made.shared
    if any(c.isdigit() for word in every for c in word):
        return False
    for number, one in enumerate(made.members):
        for other in made.members[number + 1 :]:
            if abs(len(one) - len(other)) > 1 or _same_stem(one, other):
                return False
    if made.whole:
        return all(
            _belong(other, made.label, sentences)
            and any(
                _lower(tuple(s.words[i] for i in m.words)) == _lower(other)
                and m.label == made.label
                and not m.is_discontinuous
                and _frame(s, m, conjunctions) == made.frame
                for s in sentences
                for m in s.mentions
            )
            for other in others
        )
    for member in made.members:
        cut = (made.shared[-1], member[0]) if made.first else (member[-1], made.shared[0])
        if not all(any(c.isalnum() for c in word) for word in cut):
            return False
        if _same_stem(member, made.shared) or not _belong(member, made.label, sentences):
            return False
    return True


def _put_in(
    sentence: Sentence,
    mention: Mention,
    others: Sequence[Words],
    shared: Words,
    first: bool,
    whole: bool,
    conjunction: str,
) -> tuple[Words, tuple[Mention, ...]]:
    """The words and mentions of the sentence with the others in it."""
    tokens = [
        (word, {id(m) for m in sentence.mentions if i in m.words})
        for i, word in enumerate(sentence.words)
    ]
    start, end = mention.words[0], mention.words[-1] + 1
    names = [f"other {n}" for n in range(len(others))]
    if not whole:  # the shared words are of all
        common = range(start, start + len(shared)) if first else range(end - len(shared), end)
        for i in common:
            tokens[i][1].update(names)
    links = [(",", set[object]()) for _ in others]
    links[0 if conjunction == "(" else -1] = conjunction, set()
    before = whole and not first and conjunction != "("
    new = []
    for link, name, other in zip(links, names, others, strict=True):
        own = [(word, {name}) for word in other]
        new += [*own, link] if before else [link, *own]
    if conjunction == "(":
        new.append((")", set()))
    at = start if before else end if whole or first else end - len(shared)
    tokens[at:at] = new
    labels = {id(m): m.label for m in sentence.mentions} | dict.fromkeys(names, mention.label)
    mentions = [
        Mention(tuple(i for i, (_, of) in enumerate(tokens) if name in of), label)
        for name, label in labels.items()
    ]
    return tuple(word for word, _ in tokens), tuple(sorted(mentions))


def _stands_alone(mention: Mention, sentence: Sentence) -> bool:
    inside = range(mention.words[0], mention.words[-1] + 1)
    touched = any(
        other is not mention and other.words[0] <= inside[-1] and other.words[-1] >= inside[0]
        for other in sentence.mentions
    )
    return not mention.is_discontinuous and not touched


def _shared(
    words: Words, label: str, first: bool, sentences: Sequence[Sentence], longest: int
) -> Words:
    """The longest first or last words that others have, too; none if there are none."""
    for length in range(len(words) - 1, 0, -1):
        shared = words[:length] if first else words[-length:]
        known = _rests(sentences, label, shared, first, longest)
        if len({_lower(rest) for rest in known}) > 1:
            return shared
    return ()


def _rests(
    sentences: Sequence[Sentence], label: str, shared: Words, first: bool, longest: int
) -> list[Words]:
    found = []
    for words in _annotated(sentences, label):
        length = len(shared)
        there, rest = (
            (words[:length], words[length:]) if first else (words[-length:], words[:-length])
        )
        fits = _lower(there) == _lower(shared) and 0 < len(rest) <= longest
        if fits and _speaks(rest) and _speaks(there):
            found.append(rest)
    return list(dict.fromkeys(found))


def _wholes(sentences: Sequence[Sentence], label: str, longest: int) -> list[Words]:
    continuous = _annotated(sentences, label, gaps=False)
    return list(dict.fromkeys(own for own in continuous if len(own) <= longest and _speaks(own)))


def _annotated(sentences: Sequence[Sentence], label: str, *, gaps: bool = True) -> Iterator[Words]:
    for sentence in sentences:
        for mention in sentence.mentions:
            if mention.label == label and (gaps or not mention.is_discontinuous):
                yield tuple(sentence.words[i] for i in mention.words)


def _speaks(words: Words) -> bool:
    return any(c not in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" for c in "".join(words))


def _frame(sentence: Sentence, mention: Mention, conjunctions: Sequence[str]) -> tuple[str, str]:
    def said(place: int) -> str:
        if not 0 <= place < len(sentence.words):
            return ""
        word = sentence.words[place].lower()
        return word if any(c.isalpha() for c in word) and word not in conjunctions else ""

    return said(mention.words[0] - 1), said(mention.words[-1] + 1)


def _belong(words: Words, label: str, sentences: Sequence[Sentence]) -> bool:
    for word in _lower(words):
        places = [
            any(i in m.words and m.label == label for m in sentence.mentions)
            for sentence in sentences
            for i, other in enumerate(sentence.words)
            if other.lower() == word
        ]
        if sum(places) < 0.7 * len(places):
            return False
    return True


def _same_stem(one: Words, other: Words) -> bool:
    for first in _lower(one):
        for second in _lower(other):
            spoken = all(any(c.isalnum() for c in word) for word in (first, second))
            shorter = min(len(first), len(second))
            begins = max(n for n in range(shorter + 1) if first[:n] == second[:n])
            if spoken and begins >= 0.6 * shorter:
                return True
    return False


def _lower(words: Words) -> Words:
    return tuple(word.lower() for word in words)
