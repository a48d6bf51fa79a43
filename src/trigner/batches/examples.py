"""Sentences cut into what one pass of the encoder can hold, with their mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trigner.batches.pieces import MAX_PIECES_PER_WORD, SentencePieces, WordPieces
from trigner.batches.windows import Window, windows
from trigner.errors import InputError
from trigner.mentions import Mention, Sentence


@dataclass(frozen=True, slots=True)
class Example:
    """A window of words of one sentence, nearly always the whole sentence.

    `sentence` is the sentence's place among those given; `mentions` count words from the window's
    start. `length` is the number of words, special words not included.
    """

    sentence: int
    window: Window
    pieces: SentencePieces
    mentions: tuple[Mention, ...] = ()

    @property
    def length(self) -> int:
        return self.window.stop - self.window.start

    def in_sentence(self, mention: Mention) -> Mention | None:
        """A mention of the window as one of the sentence; None if it is another window's."""
        words = tuple(word + self.window.start for word in mention.words)
        own = self.window.answers_for(words[0], words[-1])
        return Mention(words, mention.label) if own else None


@dataclass(frozen=True, slots=True)
class Cut:
    """Examples and, with their sentence's place, the mentions that cannot come back.

    Those lie whole in no window. `windowed` counts the sentences of several windows, `shortened`
    the words represented by their first pieces only.
    """

    examples: tuple[Example, ...]
    lost: tuple[tuple[int, Mention], ...]
    windowed: int = 0
    shortened: int = 0


def cut(sentences: Sequence[Sentence], word_pieces: WordPieces, max_pieces: int) -> Cut:
    """Examples of at most `max_pieces` pieces, special words and the tokenizer's own included.

    A word that alone has more is represented by its first pieces. Raises InputError when there is
    no room for words.
    """
    room = max_pieces - word_pieces.overhead
    if room < 1:
        raise InputError(
            f"the encoder reads {max_pieces} pieces at a time, which leaves no room for words:"
            f" {word_pieces.overhead} are needed beside them"
        )
    most = min(room, MAX_PIECES_PER_WORD)
    whole = word_pieces([s.words for s in sentences], most=most)
    examples: list[Example] = []
    lost: list[tuple[int, Mention]] = []
    windowed = 0
    for place, (sentence, pieces) in enumerate(zip(sentences, whole, strict=True)):
        length = len(sentence.words)
        if len(pieces.ids) <= max_pieces:
            window = Window(0, length, 0, length)
            examples.append(Example(place, window, pieces, sentence.mentions))
            continue
        windowed += 1
        parts = _parts(place, sentence, pieces, word_pieces, room)
        examples += parts
        held = {m for part in parts for own in part.mentions if (m := part.in_sentence(own))}
        lost += [(place, mention) for mention in sentence.mentions if mention not in held]
    shortened = sum(pieces.shortened for pieces in whole)
    return Cut(tuple(examples), tuple(lost), windowed, shortened)


def _parts(
    place: int, sentence: Sentence, pieces: SentencePieces, word_pieces: WordPieces, room: int
) -> list[Example]:
    own = pieces.word_pieces[len(word_pieces.special_words) :]
    counts = (own >= 0).sum(axis=1).tolist()
    spans = windows(counts, room)
    most = min(room, MAX_PIECES_PER_WORD)
    cuts = word_pieces([sentence.words[w.start : w.stop] for w in spans], most=most)
    return [
        Example(place, window, piece, tuple(_within(window, sentence.mentions)))
        for window, piece in zip(spans, cuts, strict=True)
    ]


def _within(window: Window, mentions: Iterable[Mention]) -> Iterable[Mention]:
    """The mentions that lie wholly in the window, counted from its start."""
    for mention in mentions:
        if window.start <= mention.words[0] and mention.words[-1] < window.stop:
            yield Mention(tuple(word - window.start for word in mention.words), mention.label)
