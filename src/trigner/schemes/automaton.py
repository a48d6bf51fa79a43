"""Finite automata over tags: the best, the sum and the marginals of all well-formed sequences.

Everything here takes time linear in the number of words. An arc of an automaton reads one word's
tag; a sequence is well-formed when it leads from the start to a final state. Its score is the sum
of its words' scores; ill-formed sequences have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trigner.arrays import Booleans, Floats, Integers, Logits, Tags

_NOWHERE = -1
_LOWEST = float(np.finfo(np.float64).min)


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
    order of `arcs`: then an arc can have a weight of its own. Raises ValueError for two arcs from
    one state with the same tag, and for an unknown state.
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
        """The arcs into each state, `[S, K]`, by tag and source; padded with `A`."""
        return self._by([arc.target for arc in self.arcs])

    @cached_property
    def leaving(self) -> Integers:
        """The arcs out of each state, `[S, K]`; padded with `A`."""
        return self._by([arc.source for arc in self.arcs])

    @cached_property
    def sources(self) -> Integers:
        """The source of each arc, `[A + 1]`; the last stands for no arc."""
        return np.array([*(arc.source for arc in self.arcs), 0], dtype=np.int64)

    @cached_property
    def targets(self) -> Integers:
        """The target of each arc, `[A + 1]`; the last stands for no arc."""
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
        """From each state by tag to the next, as plain numbers for a walk word by word."""
        moves: list[dict[int, int]] = [{} for _ in self.states]
        for arc in self.arcs:
            moves[arc.source][arc.tag] = arc.target
        return moves

    def accepts(self, tags: Sequence[int] | Tags) -> bool:
        """Whether this sequence of tags is well-formed."""
        state = self.start
        for tag in np.asarray(tags).tolist():
            state = self._moves[state].get(tag, _NOWHERE)
            if state == _NOWHERE:
                return False
        return state in self.finals

    def arc_scores(self, scores: Logits) -> Floats:
        """`[..., L, A]` from the scores of tags `[..., L, C]` or of arcs."""
        if scores.shape[-1] == len(self.arcs):
            return scores.astype(np.float64)
        return scores[..., self.arc_tags].astype(np.float64)

    def best(self, scores: Logits) -> Path:
        """The well-formed sequence with the highest score (Viterbi).

        Ties are broken from the last word backwards: the first tag, then the first state before
        it. Raises ValueError when no sequence of this length is well-formed.
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

    def _each_alone(self, scores: Logits) -> Path | None:
        """The best tag of each word, if together they are well-formed: no sequence is better.

        None also where a word has several best tags, or arcs have weights of their own.
        """
        if scores.shape[-1] == len(self.arcs):
            return None
        tags = scores.argmax(axis=1)
        best = scores.max(axis=1)
        if np.count_nonzero(scores == best[:, None]) != len(scores) or not self.accepts(tags):
            return None
        return Path(tags.astype(np.int64), float(sum(best.tolist())))

    def distribution(self, scores: Logits) -> Distribution:
        """Well-formed sequences, each with a probability proportional to `exp(score)`."""
        own = self.arc_scores(scores)
        largest = own.max(axis=1, initial=_LOWEST)
        leaving = self.leaving.T
        targets = self.targets[leaving]
        ways = _with_none(own - largest[:, None])[:, leaving]
        after = self._at(*self.finals)
        with np.errstate(divide="ignore"):
            for likely in ways[::-1]:
                likely += after[targets]
                most = likely.max(axis=0, initial=_LOWEST)
                np.exp(np.subtract(likely, most, out=likely), out=likely)
                total = likely.sum(axis=0)
                likely /= np.maximum(total, 1)
                after = most + np.log(total)
        arcs = np.empty((len(own), len(self.arcs) + 1))
        arcs[:, leaving] = ways
        return Distribution(self, arcs[:, :-1], float(after[self.start] + largest.sum()))

    def _at(self, *states: int) -> Floats:
        """Log-weights `[S]`: 0 at these states, none at others."""
        weights = np.full(len(self.states), -np.inf)
        weights[list(states)] = 0.0
        return weights

    def _by(self, states: Sequence[int]) -> Integers:
        """Arcs grouped by the state given for each, as rows of equal width."""
        lists: list[list[int]] = [[] for _ in self.states]
        order = sorted(range(len(self.arcs)), key=lambda a: (self.arcs[a].tag, self.arcs[a].source))
        for arc in order:
            lists[states[arc]].append(arc)
        width = max(map(len, lists), default=0)
        return np.array([own + [len(self.arcs)] * (width - len(own)) for own in lists])


@dataclass(frozen=True)
class Distribution:
    """The distribution over an automaton's sequences, as a Markov chain over its states.

    `arcs [L, A]` are transition probabilities: that a word takes an arc, given that the state
    before the word is the arc's source. All that comes later is summed out, so the probability of
    what depends on the first words only is known after these. `log_partition` is the logarithm of
    the sum of `exp(score)`.
    """

    automaton: Automaton
    arcs: Floats
    log_partition: float

    @cached_property
    def states(self) -> Floats:
        """Marginal probability of each state before each word and after the last, `[L + 1, S]`."""
        automaton = self.automaton
        sources, targets = automaton.sources[:-1], automaton.targets[:-1]
        states = np.zeros((len(self.arcs) + 1, len(automaton.states)))
        states[0, automaton.start] = 1.0
        for word, own in enumerate(self.arcs):
            weights = states[word, sources] * own
            states[word + 1] = np.bincount(targets, weights, minlength=states.shape[1])
        return states

    @cached_property
    def marginals(self) -> Floats:
        """Marginal probability of each tag at each word, `[L, C]`."""
        through = self.states[:-1, self.automaton.sources[:-1]] * self.arcs
        reads = self.automaton.arc_tags[:, None] == np.arange(self.automaton.arc_after.shape[1])
        marginals: Floats = through @ reads
        return marginals

    def steps(self, word: int, arcs: Booleans) -> Floats:
        """Probability of going from each state to each by one of these arcs, `[S, S]`."""
        count = len(self.automaton.states)
        steps: Floats = np.bincount(
            self._cells, self.arcs[word] * arcs, minlength=count * count
        ).astype(np.float64, copy=False)
        return steps.reshape(count, count)

    @cached_property
    def _cells(self) -> Integers:
        """The index of each arc in a flat table of sources and targets, `[A]`."""
        cells: Integers = self.automaton.sources * len(self.automaton.states)
        return (cells + self.automaton.targets)[:-1]


def _with_none(scores: Floats) -> Floats:
    """Scores of arcs, and minus infinity for no arc."""
    none = np.full((*scores.shape[:-1], 1), -np.inf)
    return np.concatenate([scores, none], axis=-1)
