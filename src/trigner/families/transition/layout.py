"""Gold actions of a batch as arrays, so that a network computes all steps of all sentences at once.

With the actions given, every node and every stack that a parse meets is known beforehand: unions of
equal depth are computed together, and so are stacks of equal height.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trigner.arrays import Integers
from trigner.batches import IGNORED
from trigner.families.transition.parser import Action, Cell, Node, Rules, State, after


@dataclass(frozen=True, slots=True)
class Layout:
    """What the steps of a batch of `B` sentences of up to `L` words read.

    Nodes are numbered: words `b * L + w`, then unions by depth; `unions [U, 2]` are the numbers of
    their parts and `depths` how many of each depth there are. Stacks are numbered by height,
    `stacks [S, 2]` are what stands below (0: nothing) and the top node, `heights` how many of each
    there are; number 0 is the empty stack.

    `held [B, C]` are the stacks that a sentence meets, the empty one first. Each step reads three
    of these, `tops [B, T, 3]`, from the third to the top; the next item of the buffer,
    `buffer [B, T]`: a word by its number, a node by its number plus `B * L`, nothing as -1; and
    what is `legal [B, T]`, as bits. It is to take `gold [B, T]`, which is `IGNORED` in padding and
    at steps at which one action alone is legal, after `taken [B, T - 1]`.
    """

    unions: Integers
    depths: tuple[int, ...]
    stacks: Integers
    heights: tuple[int, ...]
    held: Integers
    tops: Integers
    buffer: Integers
    legal: Integers
    gold: Integers
    taken: Integers


def states_of(actions: Sequence[int]) -> list[State]:
    """The states before each action and after the last."""
    states = [State()]
    for action in actions:
        states.append(after(states[-1], action))
    return states


def top_three(stack: Cell | None) -> tuple[Cell | None, Cell | None, Cell | None]:
    """Third, second and top stack; the lowest stands for those that are missing."""
    if stack is None or stack.below is None:
        return stack, stack, stack
    return stack.below.below or stack.below, stack.below, stack


def layout(
    actions: Sequence[Sequence[int]], lengths: Sequence[int], rules: Rules, width: int
) -> Layout:
    """The layout of sentences with these actions and lengths; `width` is `L`."""
    states = [states_of(own) for own in actions]
    unions, depths = _numbered_nodes(states, width)
    cells, heights = _numbered_cells(states)
    steps = max(map(len, actions), default=0)
    shape = (len(actions), steps)
    tops = np.zeros((*shape, 3), np.int64)
    buffer, gold = np.full(shape, -1, np.int64), np.full(shape, IGNORED, np.int64)
    legal = np.full(shape, 1 << Action.OUT, np.int64)
    taken = np.zeros((len(actions), max(0, steps - 1)), np.int64)
    held: list[list[int]] = []
    for b, (own, length) in enumerate(zip(states, lengths, strict=True)):
        places: dict[int, int] = {0: 0}
        for t, (state, action) in enumerate(zip(own, actions[b], strict=False)):
            rows = [0 if cell is None else cell.row for cell in top_three(state.stack)]
            tops[b, t] = [places.setdefault(row, len(places)) for row in rows]
            buffer[b, t] = next_item(state, length, b * width, len(actions) * width)
            legal[b, t] = rules.legal(state, length)
            if _choices(int(legal[b, t]), rules) > 1:
                gold[b, t] = action
        taken[b, : max(0, len(actions[b]) - 1)] = actions[b][:-1]
        held.append(list(places))
    padded = np.zeros((len(held), max(map(len, held), default=1)), np.int64)
    for b, numbers in enumerate(held):
        padded[b, : len(numbers)] = numbers
    return Layout(unions, depths, cells, heights, padded, tops, buffer, legal, gold, taken)


def scored_steps(actions: Sequence[int], length: int, rules: Rules) -> int:
    """At how many steps there is a choice: those make the loss."""
    states = states_of(actions)[:-1]
    return sum(_choices(rules.legal(state, length), rules) > 1 for state in states)


def _choices(legal: int, rules: Rules) -> int:
    return legal.bit_count() + (rules.types - 1) * (legal >> Action.COMPLETE & 1)


def next_item(state: State, length: int, first: int, nodes: int) -> int:
    """Number of the next item of the buffer: a word from `first`, a node from `nodes`, or -1."""
    if state.returned:
        return nodes + state.returned[-1].row
    return first + state.position if state.position < length else -1


def _numbered_nodes(
    states: Sequence[Sequence[State]], width: int
) -> tuple[Integers, tuple[int, ...]]:
    """Numbers all nodes. Gives the parts of the unions, and how many of each depth there are."""
    levels: list[list[Node]] = []
    depth: dict[int, int] = {}
    for b, own in enumerate(states):
        for state in own:
            node = None if state.stack is None else state.stack.node
            if node is None or id(node) in depth:
                continue
            if node.parts is None:
                depth[id(node)] = 0
                node.row = b * width + node.word
                continue
            depth[id(node)] = 1 + max(depth[id(part)] for part in node.parts)
            while len(levels) < depth[id(node)]:
                levels.append([])
            levels[depth[id(node)] - 1].append(node)
    first = len(states) * width
    for row, node in enumerate((node for level in levels for node in level), first):
        node.row = row
    parts = [[part.row for part in n.parts or ()] for level in levels for n in level]
    return np.array(parts, np.int64).reshape(-1, 2), tuple(map(len, levels))


def _numbered_cells(states: Sequence[Sequence[State]]) -> tuple[Integers, tuple[int, ...]]:
    """Numbers all stacks from 1. Gives what they are made of, and how many of each height."""
    levels: list[list[Cell]] = []
    seen: set[int] = set()
    for own in states:
        for state in own:
            cell = state.stack
            while cell is not None and id(cell) not in seen:
                seen.add(id(cell))
                while len(levels) < cell.height:
                    levels.append([])
                levels[cell.height - 1].append(cell)
                cell = cell.below
    ordered = [cell for level in levels for cell in level]
    for row, cell in enumerate(ordered, 1):
        cell.row = row
    made = [[0 if cell.below is None else cell.below.row, cell.node.row] for cell in ordered]
    return np.array(made, np.int64).reshape(-1, 2), tuple(map(len, levels))
