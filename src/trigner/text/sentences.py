"""Where sentences of a text start.

sentencex (rules and abbreviation lists, no model) tells sentences in running text apart. Around it
stand rules for layout: blank lines and bullets end a sentence, a line break alone does not (texts
are wrapped). Measured in docs/decisions/text-splitting.md.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise

import sentencex

from trigner.mentions import Fragment

Span = tuple[int, int]
"""Half-open range of word indices."""

LONGEST = 100
"""Words. A longer sentence is divided where its layout allows, as in tables and lists."""

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

# What may divide a long sentence, the first found first: line breaks, then the blanks between the
# cells of a table row.
_LAYOUT = (re.compile(_BREAK), re.compile(r"\s{4}|\t"))

_UNENCODABLE = re.compile("[\ud800-\udfff]")


def sentence_spans(text: str, words: Sequence[Fragment]) -> list[Span]:
    """Sentences as half-open ranges of word indices, in order: together they are all words.

    `words` are the ranges of `word_ranges(text)`. No sentence is empty.
    """
    bounds = [*_bounds(text, words), len(words)]
    return [
        part
        for span in pairwise(bounds)
        for part in (_divide(text, words, span, _LAYOUT) if span[0] < span[1] else ())
    ]


def _bounds(text: str, words: Sequence[Fragment]) -> Iterator[int]:
    """Indices of the words that sentences start with, in order; some may come twice."""
    starts = [start for start, _ in words]
    # Same length, so that offsets stay: what Rust cannot encode, and line ends it takes for two.
    plain = _UNENCODABLE.sub("\ufffd", text).replace("\r\n", " \n")
    start = 0
    for end in [*(match.end() for match in _BLOCK_END.finditer(text)), len(text)]:
        first, after = bisect_left(starts, start), bisect_left(starts, end)
        if first < after:
            yield first
            # From its first word on: sentencex takes blanks before it for a sentence.
            start = starts[first]
            for found in sentencex.get_sentence_boundaries("en", plain[start:end]):
                # A boundary inside a word moves to the next one.
                word = bisect_left(starts, start + found["start_index"], first, after)
                if first < word < after and _is_boundary(text, words[word - 1], words[word]):
                    yield word
        start = end


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
