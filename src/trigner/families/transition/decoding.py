"""Scores to parses: all sentences of a batch take their next action together.

Greedy, or with a beam: at each step a sentence keeps the parses whose actions are most probable
together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import torch
from torch import Tensor

from trigner.arrays import Logits, log_softmax
from trigner.families.core import check_finite
from trigner.families.transition.layout import next_item, top_three
from trigner.families.transition.network import States, TransitionNetwork
from trigner.families.transition.parser import Cell, FinishedMention, Node, Rules, State, after


@dataclass(frozen=True, slots=True)
class Parse:
    """The parse of a sentence: what it found, and what it chose from at each of its `T` steps.

    `logits [T, A]` are -inf for what was not legal. `bounded` says that SWAP and COPY came to their
    bound.
    """

    found: tuple[FinishedMention, ...]
    actions: tuple[int, ...]
    logits: Logits
    bounded: bool

    def log_probabilities(self, temperature: float) -> Logits:
        """Those of the actions, `[T]`; 0 where there was no choice."""
        logs = log_softmax(self.logits.astype(np.float64) / temperature)
        result: Logits = logs[np.arange(len(self.actions)), list(self.actions)]
        return result


@dataclass(slots=True, eq=False)
class _Path:
    """A parse on its way: its state, the steps before it, and the sum of their log-probabilities.

    `row` is that of its action history among those of the last step.
    """

    state: State
    score: float
    row: int
    before: _Path | None = None
    action: int = -1
    logits: Logits | None = None


class _Pool:
    """Rows `[N, ...]` that more are added to, in memory that doubles when it is full."""

    def __init__(self, values: Tensor) -> None:
        self._values = values
        self._count = len(values)

    def __getitem__(self, rows: Sequence[int] | Sequence[Sequence[int]]) -> Tensor:
        return self._values[torch.tensor(rows, device=self._values.device)]

    def columns(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """`[N, K, ...]`, of each of `K` rows what stands at its own place in the second axis."""
        numbers = torch.tensor(rows, device=self._values.device)
        return self._values[numbers, torch.arange(numbers.shape[1], device=numbers.device)]

    def add(self, values: Tensor) -> range:
        """Adds these rows; gives their numbers."""
        first, self._count = self._count, self._count + len(values)
        if self._count > len(self._values):
            grown = self._values.new_empty((2 * self._count, *self._values.shape[1:]))
            grown[:first] = self._values[:first]
            self._values = grown
        self._values[first : self._count] = values
        return range(first, self._count)


class _Vectors:
    """The vectors of all nodes and stacks of a batch, by their `row`."""

    def __init__(self, network: TransitionNetwork, words: Tensor, inside: Tensor) -> None:
        self.network, self.words, self.inside = network, words, inside
        self.width = words.shape[1]
        flat = words.flatten(0, 1)
        h, c = network.composition.leaves(flat)
        self.h, self.c = _Pool(h), _Pool(c)
        self.items = torch.cat([flat, network.no_word[None]])
        empty = network.empty_stack[:, None].expand(2, len(words), network.size)
        self.stack_h, self.stack_c = _Pool(empty[0]), _Pool(empty[1])
        self.around = _Pool(network.attended(empty[0][:, None], words, inside)[:, 0])

    def add(self, states: Sequence[tuple[int, State]]) -> None:
        """Computes what is new in the states of these sentences."""
        unions: list[Node] = []
        levels: tuple[list[tuple[int, Cell]], list[tuple[int, Cell]]] = ([], [])
        for sentence, state in states:
            cell = state.stack
            if cell is None or cell.row >= 0:
                continue
            if cell.node.row < 0 and cell.node.parts is None:
                cell.node.row = sentence * self.width + cell.node.word
            elif cell.node.row < 0:
                unions.append(cell.node)
            if cell.below is not None and cell.below.row < 0:
                levels[0].append((sentence, cell.below))
                levels[1].append((sentence, cell))
            else:
                levels[0].append((sentence, cell))
        self._add_unions(unions)
        for cells in levels:
            self._add_stacks(cells)

    def _add_unions(self, nodes: Sequence[Node]) -> None:
        parts = [node.parts for node in nodes if node.parts is not None]
        if not parts:
            return
        left, right = ([pair[side].row for pair in parts] for side in (0, 1))
        h, c = self.network.composition.unions(
            (self.h[left], self.c[left]), (self.h[right], self.c[right])
        )
        self.c.add(c)
        for node, row in zip(nodes, self.h.add(h), strict=True):
            node.row = row

    def _add_stacks(self, cells: Sequence[tuple[int, Cell]]) -> None:
        if not cells:
            return
        sentences = [sentence for sentence, _ in cells]
        below = [s if cell.below is None else cell.below.row for s, cell in cells]
        top = self.h[[cell.node.row for _, cell in cells]]
        h, c = self.network.pushed(top, (self.stack_h[below], self.stack_c[below]))
        around = self.network.attended(h[:, None], self.words[sentences], self.inside[sentences])
        self.stack_c.add(c)
        self.around.add(around[:, 0])
        for (_, cell), row in zip(cells, self.stack_h.add(h), strict=True):
            cell.row = row

    def scores(self, states: Sequence[tuple[int, State, int]], history: Tensor) -> Tensor:
        """Logits `[N, A]` of states of sentences of this many words."""
        rows = [
            [s if cell is None else cell.row for cell in top_three(state.stack)]
            for s, state, _ in states
        ]
        nodes = len(self.items)
        numbers = [next_item(state, n, s * self.width, nodes) for s, state, n in states]
        words = torch.tensor([i if i < nodes else -1 for i in numbers], device=history.device)
        buffer = self.items[words]
        if returned := [place for place, i in enumerate(numbers) if i >= nodes]:
            buffer[returned] = self.h[[numbers[place] - nodes for place in returned]]
        return self.network.scores(self.stack_h[rows], self.around.columns(rows), buffer, history)


def parses(
    network: TransitionNetwork,
    words: Tensor,
    inside: Tensor,
    rules: Rules,
    beam_size: int = 1,
) -> list[Parse]:
    """The parse of each sentence, from word states `[B, L, d]` and which of them are words.

    Every sentence ends: the rules bound how many actions it may take. Raises InputError for scores
    that are NaN or infinite.
    """
    vectors = _Vectors(network, words, inside)
    lengths = inside.sum(dim=1).tolist()
    table = rules.table()
    start, memory = network.no_action[:, None].expand(2, len(words), network.size)
    history: States = (start, memory)
    beams = [[_Path(State(), 0.0, sentence)] for sentence in range(len(words))]
    while live := [
        (sentence, path, legal)
        for sentence, beam in enumerate(beams)
        for path in beam
        if (legal := rules.legal(path.state, lengths[sentence]))
    ]:
        rows = torch.tensor([path.row for _, path, _ in live], device=words.device)
        states = [(sentence, path.state, lengths[sentence]) for sentence, path, _ in live]
        logits = vectors.scores(states, history[0][rows]).float().cpu().numpy()
        check_finite(logits)
        logits[~table[[legal for _, _, legal in live]]] = -np.inf
        chosen = _advanced(beams, live, logits, beam_size)
        parents = torch.tensor([path.row for _, path in chosen], device=words.device)
        taken = torch.tensor([path.action for _, path in chosen], device=words.device)
        history = network.remembered(taken, (history[0][parents], history[1][parents]))
        for row, (_, path) in enumerate(chosen):
            path.row = row
        vectors.add([(sentence, path.state) for sentence, path in chosen])
    return [_parse(beam[0], rules, n) for beam, n in zip(beams, lengths, strict=True)]


def _advanced(
    beams: list[list[_Path]],
    live: Sequence[tuple[int, _Path, int]],
    logits: Logits,
    beam_size: int,
) -> list[tuple[int, _Path]]:
    """Lets each beam take a step. Gives the paths that did, each with the row of its parent."""
    logs = log_softmax(logits)
    moved: list[tuple[int, _Path]] = []
    for sentence, group in groupby(enumerate(live), key=lambda own: own[1][0]):
        own = [(row, path) for row, (_, path, _) in group]
        going = {id(path) for _, path in own}
        options = [(path.score, -1, path) for path in beams[sentence] if id(path) not in going]
        for row, path in own:
            best = (
                (int(logs[row].argmax()),)
                if beam_size == 1
                else np.argsort(-logs[row], kind="stable")[:beam_size].tolist()
            )
            for action in best:
                if logs[row, action] > -np.inf:
                    score = path.score + float(logs[row, action])
                    options.append((score, action, _Path(path.state, score, row)))
        options.sort(key=lambda option: -option[0])
        beams[sentence] = []
        for _, action, path in options[:beam_size]:
            if action >= 0:
                before = live[path.row][1]
                state = after(path.state, action)
                path = _Path(state, path.score, before.row, before, action, logits[path.row])
                moved.append((sentence, path))
            beams[sentence].append(path)
    return moved


def _parse(path: _Path, rules: Rules, length: int) -> Parse:
    state, steps = path.state, []
    while path.before is not None:
        steps.append(path)
        path = path.before
    steps.reverse()
    logits = np.array([step.logits for step in steps], np.float32).reshape(len(steps), -1)
    bounded = rules.extended and state.extra >= rules.bound(length)
    return Parse(state.found, tuple(step.action for step in steps), logits, bounded)
