"""TOE's grid: W2NER's relations in both directions, with auxiliary tags for training only.

Liu et al., TOE: A Grid-Tagging Discontinuous NER Model Enhanced by Embedding Tag/Word Relations and
More Fine-Grained Tags, 2022. A mention with the words `w1 < ... < wk` has these tags, in cells
`(row, column)` that may hold other tags as well:

    NNW   next word        (w1, w2), ..., (wk-1, wk)
    PNW   previous word    (w2, w1), ..., (wk, wk-1)
    HTW   head to tail     (w1, wk), of its type
    THW   tail to head     (wk, w1), of its type

and these, which are trained on and never decoded:

    SEG-NEXT    the last word of a fragment and the first of the next one
    CONT-SPAN   the last and the first word of a mention of one fragment
    DISC-SEG    the last and the first word of each fragment of a mention of several

Two words are linked where NNW and PNW both say so, a head and a tail belong together where HTW or
THW does: every increasing path of links from a head to its tail is a mention.

Ours: HTW and THW have a type (the released code has one type only), the auxiliary tags have none;
and the score of a mention.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from trigner.arrays import Logits, Tags
from trigner.mentions import Mention, ScoredMention
from trigner.schemes.paths import Links, best_paths
from trigner.schemes.scheme import (
    Cell,
    Decoding,
    Encoding,
    TagGroup,
    TagSpace,
    check,
    log_probability,
)

NNW, PNW, FIRST_HTW = 0, 1, 2
AUXILIARY = ("SEG-NEXT", "CONT-SPAN", "DISC-SEG")


@dataclass(frozen=True, slots=True)
class Toe:
    """Multi-label grid: NNW, PNW, HTW and THW of each type, then the three auxiliary tags.

    `max_mentions` bounds what one sentence decodes to; the best are kept, and `Decoding.complete`
    is False. None removes the bound: an early model can then produce exponentially many mentions.

    Every mention can be expressed, so `Encoding.lost` is always empty. Mentions that share words
    may decode to additional ones: paths that mix, and, as links have no type, the same path with
    each type that its first and last word have.
    """

    labels: tuple[str, ...]
    max_mentions: int | None = 1000
    name: str = field(default="toe", init=False)
    tag_space: TagSpace = field(default=TagSpace.MULTI_LABEL_GRID, init=False)

    @property
    def tags(self) -> tuple[str, ...]:
        """NNW, PNW, HTW-type and THW-type for each label, SEG-NEXT, CONT-SPAN, DISC-SEG."""
        typed = (f"{tag}-{label}" for tag in ("HTW", "THW") for label in self.labels)
        return ("NNW", "PNW", *typed, *AUXILIARY)

    @property
    def groups(self) -> tuple[TagGroup, ...]:
        """The tags that are decoded, and the auxiliary ones."""
        return (
            TagGroup("main", 0, self._auxiliary),
            TagGroup("auxiliary", self._auxiliary, self._auxiliary + 3, auxiliary=True),
        )

    @property
    def _first_thw(self) -> int:
        return FIRST_HTW + len(self.labels)

    @property
    def _auxiliary(self) -> int:
        return FIRST_HTW + 2 * len(self.labels)

    def encode(self, mentions: Sequence[Mention], length: int) -> Encoding:
        """Tags `[L, L, C]`."""
        check(mentions, self.labels, length)
        tags = np.zeros((length, length, len(self.tags)), dtype=np.int8)
        seg_next, cont_span, disc_seg = range(self._auxiliary, self._auxiliary + 3)
        for mention in mentions:
            words = mention.words
            label = self.labels.index(mention.label)
            tags[words[:-1], words[1:], NNW] = 1
            tags[words[1:], words[:-1], PNW] = 1
            tags[words[0], words[-1], FIRST_HTW + label] = 1
            tags[words[-1], words[0], self._first_thw + label] = 1
            for first, last in mention.segments:
                tags[last, first, disc_seg if mention.is_discontinuous else cont_span] = 1
            for (_, last), (first, _) in pairwise(mention.segments):
                tags[last, first, seg_next] = 1
        return Encoding(tags)

    def decode(self, scores: Logits) -> Decoding:
        """Mentions from scores `[L, L, C]`; a tag is set where its score is above 0.

        The two tags of a link say the same thing twice, and so do those of head and tail. A link
        has the smaller probability of its two tags, head and tail the larger of theirs (they are
        joined by `and` and by `or`): each factor is above one half. A mention's score is the
        product of these sigmoid probabilities; `evidence` lists their cells.
        """
        linked = np.triu(np.minimum(scores[..., NNW], scores[..., PNW].T), 1)
        rows, columns = np.nonzero(linked > 0)
        # Axes: label, head, tail.
        from_head = scores[..., FIRST_HTW : self._first_thw].transpose(2, 0, 1)
        from_tail = scores[..., self._first_thw : self._auxiliary].transpose(2, 1, 0)
        bounded = np.triu(np.maximum(from_head, from_tail, order="C"))
        labels, heads, tails = np.nonzero(bounded > 0)
        if not len(heads):
            return Decoding(())
        links = Links(rows, columns, log_probability(linked[rows, columns]), len(scores))
        weights = log_probability(bounded[labels, heads, tails])
        paths = best_paths(links, heads, tails, weights, self.max_mentions)
        mentions = tuple(
            ScoredMention(Mention(words, self.labels[labels[pair]]), math.exp(score))
            for score, pair, words in paths.found
        )
        return Decoding(mentions, paths.complete)

    def decode_tags(self, tags: Tags) -> Decoding:
        """Mentions from tags `[L, L, C]`, each with score 1."""
        return self.decode(np.where(tags > 0, np.inf, -np.inf))

    def evidence(self, mentions: Sequence[Mention], scores: Logits) -> list[tuple[Cell, ...]]:
        """As `Explaining.evidence`, of any mention."""
        return [self._evidence_of(mention, scores) for mention in mentions]

    def _evidence_of(self, mention: Mention, scores: Logits) -> tuple[Cell, ...]:
        label = self.labels.index(mention.label)
        head, tail = mention.words[0], mention.words[-1]
        sides = [((a, b, NNW), (b, a, PNW)) for a, b in pairwise(mention.words)]
        ends = (head, tail, FIRST_HTW + label), (tail, head, self._first_thw + label)
        return (
            *(min(both, key=lambda cell: float(scores[cell])) for both in sides),
            max(ends, key=lambda cell: float(scores[cell])),
        )
