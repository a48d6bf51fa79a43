"""Losses of tag sequences: gold against all well-formed sequences, in time linear in the words.

Corro's types of components are annotated nowhere: gold is every naming of them that means the same
mentions (`docs/guides/systems.md`).
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

from trigner.batches import IGNORED
from trigner.schemes import Automaton, Grammar

PartialLabels = Literal["soft", "hard", "first", "shared"]

NEVER = -1e30
"""A score of what cannot be. Not infinite: the gradient of a sum of such would be NaN."""


class SequenceLoss:
    """Negative log-likelihood of the gold sequences of a batch, the mean over its words.

    Where component types can change places, gold has the weight of the sum of both namings of
    each set (`soft`), of the better one (`hard`), or of the one in the tags (`first`). `shared`
    takes a cue from the set's structure: a component that all of its mentions share is x; where
    each or none is such a one, as `soft`.
    """

    def __init__(self, grammar: Grammar, partial_labels: PartialLabels = "soft") -> None:
        self._automaton = grammar.automaton
        self._partial_labels = partial_labels
        self._exchange = torch.from_numpy(grammar.exchange)
        self._opening = torch.tensor(grammar.opening, dtype=torch.int64)
        self._components = [torch.tensor(own, dtype=torch.int64) for own in grammar.components]

    def __call__(self, scores: Tensor, tags: Tensor) -> Tensor:
        """A scalar from scores `[B, L, C]` or `[B, L, A]` and well-formed tags `[B, L]`, `IGNORED`
        in padding."""
        inside = tags != IGNORED
        everything = log_partition(self._automaton, scores, inside)
        gold = self.log_gold(scores, tags.masked_fill(~inside, 0), inside)
        return (everything - gold).sum() / inside.sum()

    def log_gold(self, scores: Tensor, tags: Tensor, inside: Tensor) -> Tensor:
        """Logarithm of the weight of the gold sequences of each sentence, `[B]`.

        `tags [B, L]` hold any tag in padding. Closed form: scores belong to single words and sets
        do not overlap, so the two namings of each set are summed by themselves.
        """
        if scores.shape[-1] == len(self._automaton.arcs):
            arcs = arcs_of(self._automaton, tags)
            return _chosen(scores, arcs).masked_fill(~inside, 0).sum(dim=1)
        own = _chosen(scores, tags).masked_fill(~inside, 0)
        exchanged = self._exchange.to(tags.device)[tags]
        typed = (exchanged != tags) & inside
        if self._partial_labels == "first" or not typed.any():
            return own.sum(dim=1)
        sets = torch.isin(tags, self._opening.to(tags.device)).cumsum(dim=1)
        other = _chosen(scores, exchanged)
        one, two = (_sums(part.masked_fill(~typed, 0), sets) for part in (own, other))
        together = one.max(two) if self._partial_labels == "hard" else torch.logaddexp(one, two)
        if self._partial_labels == "shared":
            x, y = (
                _sums((torch.isin(tags, kind.to(tags.device)) & inside).to(own.dtype), sets)
                for kind in self._components
            )
            together = torch.where((x == 1) & (y > 1), one, together)
            together = torch.where((x > 1) & (y == 1), two, together)
        there = _sums(typed.to(own.dtype), sets) > 0
        fixed = own.masked_fill(typed, 0).sum(dim=1)
        return fixed + together.masked_fill(~there, 0).sum(dim=1)


def log_partition(automaton: Automaton, scores: Tensor, inside: Tensor) -> Tensor:
    """`Distribution.log_partition` of a batch, `[B]`.

    `scores [B, L, C]` of tags or `[B, L, A]` of arcs; `inside [B, L]` is false in padding, which
    comes last and is passed over.
    """
    device = scores.device
    arcs = len(automaton.arcs)
    if scores.shape[-1] != arcs:
        scores = scores[..., torch.from_numpy(automaton.arc_tags).to(device)]
    padded = functional.pad(scores, (0, 1), value=NEVER)
    states, width = automaton.entering.shape
    entering = torch.from_numpy(automaton.entering).to(device).flatten()
    sources = torch.from_numpy(automaton.sources).to(device)[entering]
    values = scores.new_full((len(scores), states), NEVER)
    values[:, automaton.start] = 0.0
    for own, here in zip(padded.unbind(1), inside.unbind(1), strict=True):
        ways = values.index_select(1, sources) + own.index_select(1, entering)
        after = ways.unflatten(1, (states, width)).logsumexp(dim=2)
        values = torch.where(here[:, None], after, values)
    return values[:, list(automaton.finals)].logsumexp(dim=1)


def arcs_of(automaton: Automaton, tags: Tensor) -> Tensor:
    """The arcs `[B, L]` that well-formed tags `[B, L]` lead over; padding reads as class 0."""
    table = torch.from_numpy(automaton.arc_after).to(tags.device)
    targets = torch.from_numpy(automaton.targets).to(tags.device)
    state = torch.full((len(tags),), automaton.start, device=tags.device)
    arcs = []
    for tag in tags.unbind(1):
        arcs.append(table[state, tag])
        state = targets[arcs[-1]]
    return torch.stack(arcs, dim=1)


def _chosen(scores: Tensor, classes: Tensor) -> Tensor:
    """The score of one class of each word, `[B, L]`."""
    return scores.gather(2, classes[..., None]).squeeze(2)


def _sums(values: Tensor, sets: Tensor) -> Tensor:
    """Sums over the words of each set, `[B, L + 1]`; `sets [B, L]` number them from 1."""
    sums = values.new_zeros(len(values), values.shape[1] + 1)
    return sums.scatter_add(1, sets, values)
