"""Mentions <-> the text that a language model writes."""

from __future__ import annotations

from dataclasses import dataclass

from trigner.batches import Example
from trigner.families.generative.settings import GenerativeSettings
from trigner.families.generative.spelling import Ids, Speller, Spelling, joined
from trigner.families.generative.writing import Writing
from trigner.families.seq2seq import END, FIRST_TYPE, Format
from trigner.mentions import Mention


@dataclass(frozen=True, slots=True)
class Text:
    """A text's subwords, its end included, and the mentions that it has no room for."""

    ids: Ids
    lost: tuple[Mention, ...] = ()


@dataclass(frozen=True)
class Texts:
    """How mentions are written for one language model.

    `room` are the subwords of its context besides the vectors before its prompts;
    with `shared_room` prompt and text take it up together. None: any number.
    """

    speller: Speller
    settings: GenerativeSettings
    room: int | None
    shared_room: bool

    @property
    def format(self) -> Format:
        """The tokens that are spelled: words and types."""
        return Format(self.speller.labels)

    def writing(self, example: Example) -> Writing:
        """The well-formed texts of an example."""
        pointers = self.format.point([1] * example.length)
        return Writing(self.format.automaton(pointers), self.speller(example))

    def limit(self, spelling: Spelling) -> int:
        """Subwords of a text, at most, its end included."""
        words = sum(map(len, spelling.tokens[FIRST_TYPE + len(self.speller.labels) :]))
        wanted = self.settings.length_base + int(self.settings.length_ratio * words)
        if self.room is None:
            return wanted
        # A decoder of its own reads what texts start with before them.
        return min(wanted, self.room - (len(spelling.prompt) if self.shared_room else 1))

    def encode(self, example: Example) -> Text:
        """The text of an example's mentions.

        Lost is what has no room, or what would be read as something else.
        """
        writing = self.writing(example)
        end = writing.spelling.tokens[END]
        limit = self.limit(writing.spelling)
        ids: Ids = ()
        tokens: tuple[int, ...] = ()
        lost = []
        pointers = self.format.point([1] * example.length)
        for mention in sorted(set(example.mentions), key=lambda m: (m.words, self._type(m))):
            own = self.format.encode([mention], pointers, limit=1 << 30).tokens[:-1]
            longer = (*ids, *joined(writing.spelling, own))
            if len(longer) + len(end) <= limit and _reads(writing, longer, (*tokens, *own)):
                ids, tokens = longer, (*tokens, *own)
            else:
                lost.append(mention)
        return Text((*ids, *end), tuple(lost))

    def decode(self, writing: Writing, text: Ids) -> list[tuple[Mention, tuple[int, int]]]:
        """The mentions of a well-formed text, each with the places `[start, stop)` of its subwords.

        One that is not whole is left out.
        """
        tokens = writing.read(text)
        ends = [0]
        for token in tokens:
            ends.append(ends[-1] + len(writing.spelling.tokens[token]))
        found = self.format.decode(tokens, writing.automaton.pointers).mentions
        return [(mention, (ends[start], ends[stop])) for mention, (start, stop) in found]

    def _type(self, mention: Mention) -> int:
        return self.speller.labels.index(mention.label)


def _reads(writing: Writing, ids: Ids, tokens: tuple[int, ...]) -> bool:
    """Whether a text is read as these tokens, whatever comes behind it."""
    end = writing.spelling.end
    try:
        return writing.read((*ids, end)) == (*tokens, END)
    except KeyError:
        return False
