"""Finite automata over tags: the best, the sum and the chances of all well-formed sequences.

Everything here takes time linear in the number of words. An arc of an automaton reads one word's
tag; a sequence is well-formed when it leads from the start to a final state. Its score is the sum
of its words' scores; ill-formed sequences have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Scores = NDArray[np.floating[Any]]

_NOWHERE = -1


@dataclass(frozen=True, slots=True, order=True)
class Arc:
    """From one state to another by reading a tag. States and tags are numbers."""

    source: int
    tag: int
    target: int


@dataclass(frozen=True, slots=True)
class Path:
    """A well-formed sequence `tags [L]` and its score."""

    tags: Integers
    score: float


@dataclass(frozen=True)
class Automaton:
    """A deterministic automaton. `states` are names; `arcs`, `start` and `finals` number them.

    Scores are given for each word and tag, `[L, C]`, or for each word and arc, `[L, A]`, in the
    order of `arcs`: then an arc can have a weight of its own. Raises ValueError for arcs that
    leave a choice, and where a state or an arc is named that is not there.
    """

    states: tuple[str, ...]
    arcs: tuple[Arc, ...]
    start: int
    finals: tuple[int, ...]

    def __post_init__(self) -> None:
        known = range(len(self.states))
        named = {self.start, *self.finals, *(s for a in self.arcs for s in (a.source, a.target))}
        if not named <= set(known):
            raise ValueError(f"unknown states: {sorted(named - set(known))}")
        if len({(arc.source, arc.tag) for arc in self.arcs}) < len(self.arcs):
            raise ValueError("two arcs leave a state with the same tag")

    @cached_property
    def arc_tags(self) -> Integers:
        """The tag of each arc, `[A]`."""
        return np.array([arc.tag for arc in self.arcs], dtype=np.int64)

    @cached_property
    def entering(self) -> Integers:
        """The arcs into each state, `[S, K]`, by tag and source; `A` where there are no more."""
        return self._by([arc.target for arc in self.arcs])

    @cached_property
    def leaving(self) -> Integers:
        """The arcs out of each state, `[S, K]`; `A` where there are no more."""
        return self._by([arc.source for arc in self.arcs])

    @cached_property
    def sources(self) -> Integers:
        """The state that each arc leaves, `[A + 1]`; any for the one that is not there."""
        return np.array([*(arc.source for arc in self.arcs), 0], dtype=np.int64)

    @cached_property
    def targets(self) -> Integers:
        """The state that each arc enters, `[A + 1]`; any for the one that is not there."""
        return np.array([*(arc.target for arc in self.arcs), 0], dtype=np.int64)

    @cached_property
    def arc_after(self) -> Integers:
        """The arc that leaves each state with each tag, `[S, C]`; `A` where there is none."""
        table = np.full((len(self.states), int(self.arc_tags.max()) + 1), len(self.arcs))
        for number, arc in enumerate(self.arcs):
            table[arc.source, arc.tag] = number
        return table

    @cached_property
    def _moves(self) -> list[dict[int, int]]:
        """From each state by tag to the next: plain numbers, for walking word by word."""
        moves: list[dict[int, int]] = [{} for _ in self.states]
        for arc in self.arcs:
            moves[arc.source][arc.tag] = arc.target
        return moves

    def accepts(self, tags: Sequence[int] | NDArray[np.integer[Any]]) -> bool:
        """Is this sequence of tags well-formed?"""
        state = self.start
        for tag in np.asarray(tags).tolist():
            state = self._moves[state].get(tag, _NOWHERE)
            if state == _NOWHERE:
                return False
        return state in self.finals

    def arc_scores(self, scores: Scores) -> Floats:
        """`[..., L, A]` from the scores of tags `[..., L, C]` or of arcs."""
        if scores.shape[-1] == len(self.arcs):
            return scores.astype(np.float64)
        return scores[..., self.arc_tags].astype(np.float64)

    def best(self, scores: Scores) -> Path:
        """The well-formed sequence with the highest score (Viterbi).

        Of equals, at each word from the last on, the one with the first tag and then the first
        state before it. Raises ValueError when no sequence of this length is well-formed.
        """
        alone = self._each_alone(scores)
        if alone is not None:
            return alone
        entered = _with_none(self.arc_scores(scores))[:, self.entering]
        sources = self.sources[self.entering]
        rows = np.arange(len(self.states))
        values = self._at(self.start)
        taken = np.zeros((len(scores), len(self.states)), dtype=np.int64)
        for word, own in enumerate(entered):
            ways = values[sources] + own
            taken[word] = ways.argmax(axis=1)
            values = ways[rows, taken[word]]
        state = max(self.finals, key=values.__getitem__)
        total = float(values[state])
        if total == -np.inf:
            raise ValueError(f"no sequence of {len(scores)} tags is well-formed")
        tags = np.zeros(len(scores), dtype=np.int64)
        for word in range(len(scores) - 1, -1, -1):
            arc = self.entering[state, taken[word, state]]
            tags[word], state = self.arc_tags[arc], self.sources[arc]
        return Path(tags, total)

    def _each_alone(self, scores: Scores) -> Path | None:
        """The best tag of each word, if together they are well-formed: nothing can be better.

        None too where a word has several best ones, or arcs have weights of their own.
        """
        if scores.shape[-1] == len(self.arcs):
            return None
        tags = scores.argmax(axis=1)
        best = scores.max(axis=1)
        if np.count_nonzero(scores == best[:, None]) != len(scores) or not self.accepts(tags):
            return None
        return Path(tags.astype(np.int64), float(sum(best.tolist())))

    def log_partition(self, scores: Scores, allowed: NDArray[np.bool_] | None = None) -> Floats:
        """Logarithm of the sum of `exp(score)` over all well-formed sequences, a number.

        With `allowed [M, L, C]` only over the sequences all of whose tags are allowed: `[M]`.
        """
        scores = self.arc_scores(scores)
        sources = self.sources[self.entering]
        values = self._at(self.start)
        if allowed is not None:
            values = np.broadcast_to(values, (len(allowed), len(values)))
        for word, own in enumerate(scores):
            if allowed is not None:
                own = np.where(allowed[:, word, self.arc_tags], own, -np.inf)
            ways = values[..., sources] + _with_none(own)[..., self.entering]
            values = np.logaddexp.reduce(ways, axis=-1)
        total: Floats = np.logaddexp.reduce(values[..., list(self.finals)], axis=-1)
        return total

    def marginals(self, scores: Scores) -> Floats:
        """How likely each word has each tag, `[L, C]`; tags that no arc reads stay out of `C`.

        Under the distribution in which a well-formed sequence's chance is in proportion to
        `exp(score)` (forward-backward).
        """
        own = self.arc_scores(scores)
        padded = _with_none(own)
        length = len(own)
        before = np.empty((length + 1, len(self.states)))
        after = np.empty_like(before)
        before[0] = self._at(self.start)
        after[length] = self._at(*self.finals)
        for word in range(length):
            ways = before[word][self.sources[self.entering]] + padded[word][self.entering]
            before[word + 1] = np.logaddexp.reduce(ways, axis=-1)
        for word in range(length - 1, -1, -1):
            ways = after[word + 1][self.targets[self.leaving]] + padded[word][self.leaving]
            after[word] = np.logaddexp.reduce(ways, axis=-1)
        through = before[:-1, self.sources[:-1]] + own + after[1:, self.targets[:-1]]
        total = np.logaddexp.reduce(before[length] + after[length])
        reads = self.arc_tags[:, None] == np.arange(self.arc_after.shape[1])
        chances: Floats = np.exp(through - total) @ reads
        return chances

    def _at(self, *states: int) -> Floats:
        """Log-weights `[S]`: 0 at these states, none at others."""
        weights = np.full(len(self.states), -np.inf)
        weights[list(states)] = 0.0
        return weights

    def _by(self, states: Sequence[int]) -> Integers:
        """Arcs listed by the state beside each, as rows of equal width."""
        lists: list[list[int]] = [[] for _ in self.states]
        order = sorted(range(len(self.arcs)), key=lambda a: (self.arcs[a].tag, self.arcs[a].source))
        for arc in order:
            lists[states[arc]].append(arc)
        width = max(map(len, lists), default=0)
        return np.array([own + [len(self.arcs)] * (width - len(own)) for own in lists])


def _with_none(scores: Floats) -> Floats:
    """Scores of arcs and, behind them, of the arc that is not there."""
    none = np.full((*scores.shape[:-1], 1), -np.inf)
    return np.concatenate([scores, none], axis=-1)
