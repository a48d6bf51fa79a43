"""Triplets of mentions: gold ones against plausible wrong ones, by the means of their cells.

Ours; the paper compares cells. What is wrong in a plausible way is made of a sentence's gold
mentions, the same at every epoch: a segment dropped, a gap filled, a word more or less at either
end, first words exchanged with the mention before or behind, and two mentions that share words
split in the wrong way. What the network itself proposes wrongly can join these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import torch
from torch import Tensor, nn
from torch.nn import functional

from trigner.mentions import Mention
from trigner.triplets.batch import Movable
from trigner.triplets.candidates import SPECIAL_COUNT

Words = tuple[int, ...]

SHARING = 10
"""Mentions at most, the first ones, that share words with one and are split from it wrongly."""


def wrong_mentions(
    mentions: Sequence[Mention], length: int, proposed: Sequence[Mention] = ()
) -> dict[Mention, tuple[Words, ...]]:
    """For each mention of a sentence the wrong ones that are like it, sorted, none of them gold.

    Gold are the mentions of the same label. A `proposed` one that is not gold joins those made of
    the mention of its label that shares most words with it, or of the nearest if none does; with
    no mention of its label, or none made of that one, it is left out: how many mentions have
    triplets does not depend on what is proposed.
    """
    gold_of: defaultdict[str, list[Words]] = defaultdict(list)
    for mention in sorted(set(mentions)):
        gold_of[mention.label].append(mention.words)
    found = {}
    for label, gold in gold_of.items():
        for place, words in enumerate(gold):
            neighbours = gold[max(0, place - 1) : place] + gold[place + 1 : place + 2]
            sharing = islice((o for o in gold if o != words and {*words} & {*o}), SHARING)
            wrong = {
                *_at_the_ends(words, length),
                *_segments_dropped(Mention(words, label)),
                tuple(range(words[0], words[-1] + 1)),
                *(own for other in sharing for own in _split_wrongly(words, other)),
                *(own for other in neighbours for own in _swapped(words, other)),
            }
            found[Mention(words, label)] = wrong - {(), *gold}
    for own in proposed:
        gold = gold_of[own.label]
        if gold and own.words not in gold:
            nearest = min(gold, key=lambda words: _difference(words, own.words))
            made = found[Mention(nearest, own.label)]
            made |= {own.words} if made else set()
    return {mention: tuple(sorted(found[mention])) for mention in sorted(found)}


def _at_the_ends(words: Words, length: int) -> Iterator[Words]:
    """A word more or less in front or behind."""
    yield words[1:]
    yield words[:-1]
    if words[0] > 0:
        yield (words[0] - 1, *words)
    if words[-1] < length - 1:
        yield (*words, words[-1] + 1)


def _segments_dropped(mention: Mention) -> Iterator[Words]:
    for first, last in mention.segments:
        yield tuple(word for word in mention.words if not first <= word <= last)


def _split_wrongly(one: Words, other: Words) -> Iterator[Words]:
    """Of two mentions that share words: all their words, and each one's own without the shared."""
    shared = set(one) & set(other)
    yield tuple(sorted({*one, *other}))
    yield tuple(word for word in one if word not in shared)
    yield tuple(sorted(shared))


def _swapped(one: Words, other: Words) -> Iterator[Words]:
    """Of two neighbours without a word in common: each one's first word with the other's rest."""
    if not set(one) & set(other):
        for first, rest in ((one[0], other[1:]), (other[0], one[1:])):
            yield tuple(sorted((first, *rest)))


def _difference(one: Words, other: Words) -> tuple[int, int]:
    """Ordered by how few words are shared, then by the distance of the first ones."""
    return -len(set(one) & set(other)), abs(one[0] - other[0])


@dataclass(frozen=True, slots=True, eq=False)
class MentionBatch(Movable):
    """Cells of the gold and wrong mentions of a batch: N cells, G groups, T triplets."""

    sentences: Tensor
    """`[N]`, int64: which sentence of the batch a cell is in."""
    rows: Tensor
    """`[N]`, int64."""
    columns: Tensor
    """`[N]`, int64."""
    groups: Tensor
    """`[N]`, int64: whose cell it is."""
    golds: Tensor
    """`[T]`, int64, a group: the positive."""
    wrongs: Tensor
    """`[T]`, int64, a group: the negative."""
    labels: Tensor
    """`[T]`, int64: the label of the positive."""
    shares: Tensor
    """`[T]`, float32: one over the triplets of the positive; they sum to the number of mentions."""
    count: int
    """G."""


def collate_mentions(
    sentences: Sequence[tuple[Sequence[Mention], int]],
    labels: Sequence[str],
    proposed: Sequence[Sequence[Mention]] | None = None,
) -> MentionBatch:
    """The triplets of sentences, each its mentions and its number of words, in this order.

    `proposed` are the mentions that the network proposes in each.
    """
    cells: list[tuple[int, int, int, int]] = []
    triplets: list[tuple[int, int, int, float]] = []
    count = 0
    for sentence, (mentions, length) in enumerate(sentences):
        own = () if proposed is None else proposed[sentence]
        group_of: dict[Words, int] = {}  # of all that have the same words
        for mention, wrong in wrong_mentions(mentions, length, own).items():
            if not wrong:
                continue
            for words in (mention.words, *wrong):
                if words not in group_of:
                    group = group_of[words] = count + len(group_of)
                    cells += [(sentence, *cell, group) for cell in _cells(words)]
            gold, label = group_of[mention.words], labels.index(mention.label)
            triplets += [(gold, group_of[words], label, 1 / len(wrong)) for words in wrong]
        count += len(group_of)
    places = torch.tensor(cells, dtype=torch.int64).view(-1, 4).T.contiguous()
    golds, wrongs, kinds, shares = zip(*triplets, strict=True) if triplets else ((), (), (), ())
    return MentionBatch(
        sentences=places[0],
        rows=places[1],
        columns=places[2],
        groups=places[3],
        golds=torch.tensor(golds, dtype=torch.int64),
        wrongs=torch.tensor(wrongs, dtype=torch.int64),
        labels=torch.tensor(kinds, dtype=torch.int64),
        shares=torch.tensor(shares, dtype=torch.float32),
        count=count,
    )


def _cells(words: Words) -> list[tuple[int, int]]:
    """The cells of a mention above the diagonal; of a single word the one on it."""
    shifted = [word + SPECIAL_COUNT for word in words]
    return list(combinations(shifted, 2)) or [(shifted[0], shifted[0])]


class MentionTripletLoss(nn.Module):
    """`max(0, margin + d(c, gold) - d(c, wrong))`, c being the learnt centre of the gold's label.

    Mentions are the means of their cells' vectors, of length 1. The mean over mentions, of each the
    mean over its wrong ones.
    """

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__()
        self.margin = margin

    def forward(self, states: Tensor, centres: Tensor, batch: MentionBatch) -> Tensor:
        """A scalar; `states [N, D]` are the vectors of the batch's cells, `centres [K, D]` those of
        the labels, on the batch's device.

        Without triplets it is 0 and part of the states' graph. In float32 at least.
        """
        with torch.autocast(states.device.type, enabled=False):
            states = states.to(torch.promote_types(states.dtype, torch.float32))
            sums = states.new_zeros(batch.count, states.shape[1])
            pooled = functional.normalize(sums.index_add(0, batch.groups, states), dim=1)
            centres = functional.normalize(centres.to(states.dtype), dim=1)[batch.labels]
            hinges = functional.relu(
                self.margin
                + functional.pairwise_distance(centres, pooled[batch.golds])
                - functional.pairwise_distance(centres, pooled[batch.wrongs])
            )
            mentions = batch.shares.sum().clamp(min=1)
            return (hinges * batch.shares).sum() / mentions + 0 * states.sum()
