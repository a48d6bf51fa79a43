"""Windows of a document's words around its mentions, as further training sentences.

After SEDA (Su, Chou and Lin, arXiv 2511.20143), which carries cropping, scaling and padding of
images over to grids of word pairs: a window shows a mention at another place among other neighbours
and in another size relative to its grid, and holds mentions that cross the border of two sentences.
Of the article we know the abstract; how a window is drawn is ours.

    crop    around mentions whose extents overlap, at a place drawn
    scale   as long as their extent, times one of `SCALES`
    pad     by what stands beside them in the document, of whichever sentence
    close   widened until no mention is partly inside, or given up

Scores are of sentences still: windows are for training alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from trigner.mentions import CONTEXT_WORDS, Document, Mention, Sentence, overlapping
from trigner.text import Segmentation, in_one

SHORTEST, LONGEST = 16, 96
"""Words of a window, where its document has as many."""

SCALES = (1.5, 2.0, 3.0, 4.0)
"""Words of a window for each word from the first to the last of its mentions."""

COPIES = 2
"""How often mentions with a discontinuous one have their turn before the others have a second."""

Span = tuple[int, int]
"""Words `[start, stop)` of a document."""


class Windows:
    """Cuts `share` times as many windows as there are sentences with words of a mention.

    Fewer where mentions have no room in `LONGEST` words, or windows would be a sentence or one
    another. Equal seeds give equal windows of the same documents in the same order.
    """

    def __init__(self, share: float, seed: int) -> None:
        self._share = share
        self._seed = seed
        self._documents = 0
        self._due = 0.0  # windows that the documents so far are to have

    def of(self, document: Document, found: Segmentation) -> list[Sentence]:
        """The windows of the next document; `found` is what `text.segment` finds in it."""
        if self._share == 0:
            return []
        random = np.random.default_rng([self._seed, self._documents])
        self._documents += 1
        whole = in_one(document, found)
        stops = np.cumsum([len(sentence.words) for sentence in found.sentences])
        sentences = list(zip([0, *stops[:-1].tolist()], stops.tolist(), strict=False))
        words = [word for mention in whole.mentions for word in mention.words]
        touched = np.unique(np.searchsorted(stops, words, side="right"))
        before = math.floor(self._due)
        self._due += self._share * len(touched)
        wanted = math.floor(self._due) - before
        spans = _drawn(whole, wanted, set(sentences), random)
        return [_cut(whole, span, len(sentences) + n) for n, span in enumerate(spans)]


def _drawn(
    whole: Sentence, wanted: int, known: set[Span], random: np.random.Generator
) -> list[Span]:
    """At most `wanted` windows of a document that are not among the known ones."""
    groups = overlapping(whole.mentions)
    turns = [
        _extent(group)
        for group in groups
        for _ in range(COPIES if any(m.is_discontinuous for m in group) else 1)
    ]
    spans: list[Span] = []
    for _ in range(math.ceil(wanted / len(turns)) if turns else 0):
        for turn in random.permutation(len(turns)):
            if len(spans) == wanted:
                break
            scale = float(random.choice(SCALES))
            cropped = crop(turns[turn], len(whole.words), scale, random)
            span = None if cropped is None else closed(cropped, whole.mentions)
            if span is not None and span not in known:
                known.add(span)
                spans.append(span)
    return spans


def crop(extent: Span, length: int, scale: float, random: np.random.Generator) -> Span | None:
    """A window of a document of `length` words that holds an extent, or None without room.

    It is `scale` times as long, `SHORTEST` to `LONGEST` words where there are as many.
    """
    start, stop = extent
    size = min(max(math.ceil(scale * (stop - start)), SHORTEST), LONGEST)
    if (room := size - (stop - start)) < 0:
        return None
    first = max(0, start - int(random.integers(room + 1)))
    last = min(length, first + size)
    return max(0, last - size), last


def closed(span: Span, mentions: Sequence[Mention]) -> Span | None:
    """The window widened until no mention has words inside and outside; None if that is too long.

    A mention around the window, in whose gap it lies, is not in it.
    """
    start, stop = span
    while stop - start <= LONGEST:
        cut = [m for m in mentions if _parts(m, (start, stop)) == {True, False}]
        if not cut:
            return start, stop
        start = min(start, *(m.words[0] for m in cut))
        stop = max(stop, *(m.words[-1] + 1 for m in cut))
    return None


def _parts(mention: Mention, span: Span) -> set[bool]:
    """Whether words of a mention are inside a window: True, False or both."""
    if mention.words[-1] < span[0] or mention.words[0] >= span[1]:
        return {False}
    return {span[0] <= word < span[1] for word in mention.words}


def _extent(group: Sequence[Mention]) -> Span:
    return group[0].words[0], max(mention.words[-1] for mention in group) + 1


def _cut(whole: Sentence, span: Span, index: int) -> Sentence:
    """The words of a window as a sentence of its document, with the mentions in it."""
    start, stop = span
    return Sentence(
        whole.document,
        index,
        whole.words[start:stop],
        whole.offsets[start:stop],
        tuple(_within(whole.mentions, span)),
        whole.words[max(0, start - CONTEXT_WORDS) : start],
        whole.words[stop : stop + CONTEXT_WORDS],
    )


def _within(mentions: Iterable[Mention], span: Span) -> Iterator[Mention]:
    for mention in mentions:
        if _parts(mention, span) == {True}:
            yield mention.shifted(-span[0])
