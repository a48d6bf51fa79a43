"""Raw text into sentences of words.

sentencex (rules and abbreviation lists, no model) splits running text into sentences. Around it
stand rules for layout: blank lines and bullets end a sentence, a line break alone does not (texts
are wrapped). Measured in research/decisions/text-splitting.md.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain, islice, pairwise

import sentencex

from trigner.mentions import Fragment
from trigner.text.words import word_ranges

Span = tuple[int, int]
"""Half-open range of word indices."""

LONGEST = 100
"""Words. A longer sentence is divided where its layout allows, as in tables and lists."""

STRETCH = 100_000
"""Characters. A longer block is read in parts of about this size, so that memory stays bounded."""

MARKS = 500
"""Symbols. sentencex is given no more of them at once, as its time grows with their square, and
with the cube of some. No block of the corpora that we know has as many."""

_FILL = LONGEST // 2  # words: neighbouring parts of a divided sentence are joined up to this

_BREAK = r"(?:\r\n|[\n\v\x85\u2028]|\r(?!\n))"
_BLANK = r"[^\S\n\r\v\f\x85\u2028\u2029]"
_BLOCK_END = re.compile(
    rf"[\f\u2029]|{_BREAK}{_BLANK}*{_BREAK}"
    # A bullet or the number of a list item at the start of a line.
    rf"|{_BREAK}(?={_BLANK}*(?:[*•‣◦▪●·–-]|\d{{1,2}}[.)]){_BLANK}+\S)"
)
# Full stops and question marks of Latin, East Asian, Arabic, Indic and Armenian script.
_ENDED = re.compile(
    "[.!?\u2026\u3002\uff01\uff1f\uff1b\u061f\u06d4\u0964\u0965\u0589]['\"’”»)\\]}]*\\Z"
)

_SPACE = re.compile(r"\s")

_MARK = re.compile(r"[^\w\s]")

# What may divide a long sentence, the first found first: line breaks, then the blanks between the
# cells of a table row.
_LAYOUT = (re.compile(_BREAK), re.compile(r"\s{4}|\t"))

_UNENCODABLE = re.compile("[\ud800-\udfff]")

# sentencex steps back by one byte from a full stop, and so into the middle of such a blank.
_WIDE_BLANK = re.compile(r"[^\S\x00-\x7f](?=\.)")


def split(text: str) -> tuple[tuple[Fragment, ...], ...]:
    """Character ranges of the words of `text`, sentence by sentence.

    Every character that is not white space belongs to exactly one word; ranges are strictly
    increasing; there is no empty word and no empty sentence. The same text always gives the same
    words, and a sentence's words do not depend on other sentences.
    """
    return tuple(sentence_words(text))


def sentence_words(text: str) -> Iterator[tuple[Fragment, ...]]:
    """What `split` gives, sentence by sentence as they are asked for."""
    start = 0
    for end in chain((match.end() for match in _BLOCK_END.finditer(text)), [len(text)]):
        yield from _of_block(text, start, end)
        start = end


def _of_block(text: str, start: int, end: int) -> Iterator[tuple[Fragment, ...]]:
    """The sentences of `text[start:end]`, `STRETCH` characters at a time.

    The last sentence of a stretch may go on behind it: the next stretch starts with it. Where it is
    longer than the others together, the stretch is doubled, so that little is read again.
    """
    size = STRETCH
    while start < end:
        blank = _SPACE.search(text, start + size, end)
        stop = end if blank is None else blank.start()
        words = word_ranges(text, start, stop)
        bounds = [*_bounds(text, words, stop)]
        if blank is None:
            bounds.append(len(words))
            start = end
        elif bounds and 2 * words[bounds[-1]][0] > start + stop:
            start = words[bounds[-1]][0]
        else:
            size *= 2
            continue
        size = STRETCH
        for span in pairwise(bounds):
            for first, last in _divide(text, words, span, _LAYOUT):
                yield tuple(words[first:last])


def _bounds(text: str, words: Sequence[Fragment], stop: int) -> Iterator[int]:
    """Indices of the words that sentences start with, in order; text behind `stop` is not seen.

    More than `MARKS` symbols are read in windows. Of a window that ends before `stop` the first
    half counts: quotes that are opened there are mostly closed in the second. The next window
    starts with the last sentence that was found, or in the middle should that not be in the second
    quarter: whatever the text, each window is a quarter further on at least.
    """
    if not words:
        return
    yield 0
    starts = [first for first, _ in words]
    at = 0
    while at < len(words):
        start = starts[at]  # from a word on: sentencex takes blanks before it for a sentence
        mark = next(islice(_MARK.finditer(text, start, stop), MARKS, None), None)
        end = stop if mark is None else mark.start()
        half = len(words) if mark is None else bisect_right(starts, (start + end) // 2)
        previous = at
        for found in _found(_plain(text[start:end], mark is None)):
            # A boundary inside a word moves to the next one.
            word = bisect_left(starts, start + found)
            if not previous < word <= half or word == len(words):
                continue
            if _is_boundary(text, words[word - 1], words[word]):
                yield word
                previous = word
        moved = mark is not None and 4 * (starts[previous] - start) >= end - start
        at = previous if moved else half


def _found(window: str) -> list[int]:
    """Where sentencex has sentences start; nowhere but by layout in a window that it fails on.

    A panic of Rust is no Exception: one text would end a whole job, or the service.
    """
    try:
        return [found["start_index"] for found in sentencex.get_sentence_boundaries("en", window)]
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a class that cannot be imported
            raise
        return []


def _plain(window: str, whole: bool) -> str:
    """What sentencex is given for a window, of the same length, so that offsets stay.

    Without what Rust cannot encode, blanks that it fails on, line ends that it takes for two and,
    where the text goes on, a quotation mark that may be closed behind it: of an odd number
    sentencex doubts all.
    """
    plain = _UNENCODABLE.sub("\ufffd", window).replace("\r\n", " \n")
    plain = _WIDE_BLANK.sub(" ", plain)
    if not whole and plain.count('"') % 2:
        before, _, behind = plain.rpartition('"')
        plain = f"{before}\ufffd{behind}"
    return plain


def _is_boundary(text: str, before: Fragment, after: Fragment) -> bool:
    """Whether a boundary that sentencex finds between two words counts.

    It must follow an end mark, which those at the bracketed numbers of table cells do not, and no
    lower case letter may follow, as after abbreviations that its lists do not hold.
    """
    ended = _ENDED.search(text[max(0, before[1] - 16) : before[1]])
    return ended is not None and not text[after[0]].islower()


def _divide(
    text: str, words: Sequence[Fragment], span: Span, layout: Sequence[re.Pattern[str]]
) -> list[Span]:
    """A sentence, or its parts between gaps that match the layout when it is too long."""
    first, last = span
    if last - first <= LONGEST or not layout:
        return [span]
    cuts = [
        word
        for word in range(first + 1, last)
        if layout[0].search(text, words[word - 1][1], words[word][0])
    ]
    parts: list[Span] = []
    for part in pairwise([first, *cuts, last]):
        for start, end in _divide(text, words, part, layout[1:]):
            if parts and end - parts[-1][0] <= _FILL:
                parts[-1] = (parts[-1][0], end)
            else:
                parts.append((start, end))
    return parts
