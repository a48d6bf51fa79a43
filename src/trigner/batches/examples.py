"""Sentences cut into what one pass of the encoder can hold, with their mentions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from trigner.batches.subwords import MAX_SUBWORDS_PER_WORD, SentenceSubwords, SubwordTokenizer
from trigner.batches.windows import MOST_WORDS, Window, whole_window, windows
from trigner.errors import InputError
from trigner.mentions import Mention, Sentence


@dataclass(frozen=True, slots=True)
class Example:
    """A window of words of one sentence, nearly always the whole sentence.

    `sentence` is the sentence's index among those given; `mentions` count words from the window's
    start. `length` is the number of words, special words not included.
    """

    sentence: int
    window: Window
    subwords: SentenceSubwords
    mentions: tuple[Mention, ...] = ()

    @property
    def length(self) -> int:
        return self.window.stop - self.window.start

    @property
    def size(self) -> int:
        """Words, special words included: what it takes up in a batch."""
        return len(self.subwords.word_subwords)

    def in_sentence(self, mention: Mention) -> Mention | None:
        """A mention of the window as one of the sentence; None if it is another window's."""
        own = mention.shifted(self.window.start)
        return own if self.window.answers_for(own.words[0], own.words[-1]) else None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Inputs of a system and, with their sentence's index, the mentions that cannot come back.

    Those fit into no input. `windowed` counts the sentences that became several inputs,
    `truncated` the words of which the encoder sees only the first subwords.
    """

    inputs: tuple[Any, ...]
    lost: tuple[tuple[int, Mention], ...] = ()
    windowed: int = 0
    truncated: int = 0


def windowing(
    sentences: Sequence[Sentence],
    tokenizer: SubwordTokenizer,
    max_subwords: int,
    context_words: int = 0,
) -> Prepared:
    """Examples of at most `max_subwords` subwords and `MOST_WORDS` words.

    Of the subwords special words and the tokenizer's own are included.

    The encoder reads along the nearest `context_words` of each side of a sentence, or those that
    fit; a sentence that is read through windows has none. A word that alone has more than the
    limit is represented by its first subwords. Raises InputError when there is no subword left for
    words.
    """
    limit = max_subwords - tokenizer.overhead
    if limit < 1:
        raise InputError(
            f"the encoder reads {max_subwords} subwords at a time, but special tokens"
            f" already take {tokenizer.overhead}"
        )
    most = min(limit, MAX_SUBWORDS_PER_WORD)
    whole = tokenizer([s.words for s in sentences], most=most)
    truncated = sum(subwords.truncated for subwords in whole)
    if context_words:
        _add_context(whole, sentences, tokenizer, (max_subwords, most, context_words))
    examples: list[Example] = []
    lost: list[tuple[int, Mention]] = []
    windowed = 0
    for index, (sentence, subwords) in enumerate(zip(sentences, whole, strict=True)):
        length = len(sentence.words)
        if _is_whole(sentence, subwords, max_subwords):
            examples.append(Example(index, whole_window(length), subwords, sentence.mentions))
            continue
        windowed += 1
        parts = _parts(index, sentence, subwords, tokenizer, limit)
        examples += parts
        held = {m for part in parts for own in part.mentions if (m := part.in_sentence(own))}
        lost += [(index, mention) for mention in sentence.mentions if mention not in held]
    return Prepared(tuple(examples), tuple(lost), windowed, truncated)


def _is_whole(sentence: Sentence, subwords: SentenceSubwords, max_subwords: int) -> bool:
    """Whether a sentence needs no windows."""
    return len(subwords.ids) <= max_subwords and len(sentence.words) <= MOST_WORDS


def _add_context(
    whole: list[SentenceSubwords],
    sentences: Sequence[Sentence],
    tokenizer: SubwordTokenizer,
    limits: tuple[int, int, int],
) -> None:
    """Put subwords with context in the place of those of the sentences that need no window."""
    max_subwords, most, words = limits
    chosen = [
        n
        for n, sentence in enumerate(sentences)
        if (sentence.left or sentence.right) and _is_whole(sentence, whole[n], max_subwords)
    ]
    flanked = [(s.left[-words:], s.words, s.right[:words]) for s in (sentences[n] for n in chosen)]
    found = tokenizer.in_context(flanked, limit=max_subwords, most=most)
    for n, subwords in zip(chosen, found, strict=True):
        whole[n] = subwords


def _parts(
    index: int,
    sentence: Sentence,
    subwords: SentenceSubwords,
    tokenizer: SubwordTokenizer,
    limit: int,
) -> list[Example]:
    own = subwords.word_subwords[len(tokenizer.special_words) :]
    counts = (own >= 0).sum(axis=1).tolist()
    spans = windows(counts, limit)
    most = min(limit, MAX_SUBWORDS_PER_WORD)
    cuts = tokenizer([sentence.words[w.start : w.stop] for w in spans], most=most)
    return [
        Example(index, window, subword, tuple(_within(window, sentence.mentions)))
        for window, subword in zip(spans, cuts, strict=True)
    ]


def _within(window: Window, mentions: Iterable[Mention]) -> Iterable[Mention]:
    """The mentions that lie wholly in the window, counted from its start."""
    for mention in mentions:
        if window.start <= mention.words[0] and mention.words[-1] < window.stop:
            yield mention.shifted(-window.start)
