"""Words of a text, with their character ranges.

The finer the words, the more mentions align with them, and the more pairs a grid has. The
rules below were measured against libraries' (research/decisions/text-splitting.md).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby

from trigner.mentions import Fragment

# Words run together in text extracted from tables and links: "rashRash", "seeWarnings",
# "EVENTSSerious". Short parts are left alone, for "mmHg", "pH", "NSAIDs" and "McArdle".
_GLUED = re.compile(r"(?<=[a-z]{3})(?=[A-Z])|(?<=[A-Z]{3})(?=[A-Z][a-z]{3})")

# Scripts that are written without blanks between words: Thai to Tibetan, Myanmar, Khmer, kana, Han.
_UNSPACED = (
    "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)


def word_ranges(text: str, start: int = 0, stop: int | None = None) -> list[Fragment]:
    """Ranges of the words of `text`, or of `text[start:stop]`, in order.

    Every character that is not white space (`str.isspace`) is in exactly one word; no word is
    empty or has white space in it. What the words of a stretch without white space are depends on
    that stretch alone. A combining character stays with its base, an emoji is one word, a symbol
    that is repeated three times or more is one word, and a number with decimals is one.
    """
    stop = len(text) if stop is None else stop
    ranges = [match.span() for match in _pattern().finditer(text, start, stop)]
    cuts = [match.start() for match in _GLUED.finditer(text, start, stop)]
    return _cut(ranges, cuts) if cuts else ranges


def _cut(ranges: list[Fragment], cuts: list[int]) -> list[Fragment]:
    """Ranges with those that have a cut inside divided there; both are sorted."""
    result: list[Fragment] = []
    at = 0
    for start, end in ranges:
        while at < len(cuts) and cuts[at] < end:
            if cuts[at] > start:
                result.append((start, cuts[at]))
                start = cuts[at]
            at += 1
        result.append((start, end))
    return result


@cache
def _pattern() -> re.Pattern[str]:
    """One word; alternatives are tried in order.

    Built at first use: the character classes that `re` has no name for come from `unicodedata`.
    """
    # Marks, and the invisible joiners and soft hyphens that stand inside words.
    within = f"{marks()}\u00ad\u200c\u200d\u2060"
    inside = f"[{within}]"
    symbol = r"[^\w\s]|_"
    return re.compile(
        rf"[{_UNSPACED}]{inside}*"
        rf"|[0-9]+(?:[.,][0-9]+)+{inside}*"
        rf"|(?:(?![{_UNSPACED}])[^\W_]{inside}*)+"
        rf"|[\U0001f1e6-\U0001f1ff]{{2}}{inside}*"  # two regional indicators: a flag
        rf"|({symbol})\1{{2,}}[{within}\U0001f3fb-\U0001f3ff]*"
        # An emoji: skin tones, then further emoji after a joiner.
        rf"|(?:{symbol})(?:[{marks()}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]|\u200d[^\w\s]?)*"
    )


def marks() -> str:
    """The combining characters, as the inside of a regular expression's character class."""
    codes = [*range(0x300, 0x20000), *range(0xE0100, 0xE01F0)]
    marks = [code for code in codes if unicodedata.category(chr(code))[0] == "M"]
    runs = groupby(enumerate(marks), lambda item: item[1] - item[0])  # codes without a gap
    spans = ([code for _, code in run] for _, run in runs)
    return "".join(f"{chr(codes[0])}-{chr(codes[-1])}" for codes in spans)
