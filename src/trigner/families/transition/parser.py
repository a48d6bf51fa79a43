"""The parser: a stack of partial mentions, a buffer of words, and what each action does to them.

Training, decoding and the oracle move through these states alone, under one rule of what is legal
(Dai et al. 2020, section 3.1; what differs is in `research/decisions/transition.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from trigner.arrays import Booleans
from trigner.mentions import Mention


class Action(IntEnum):
    """What a parser can do. `COMPLETE` is the first of one action for each entity type."""

    SHIFT = 0
    """Move the first item of the buffer to the stack."""
    OUT = 1
    """Drop the first word of the buffer."""
    REDUCE = 2
    """Replace the two top nodes by their union."""
    LEFT_REDUCE = 3
    """The same, and the lower one stays below the union."""
    RIGHT_REDUCE = 4
    """The same, and the upper one stays below the union."""
    SWAP = 5
    """Move the node below the top to the front of the buffer (Nivre 2009)."""
    COPY = 6
    """Put a copy of the top on top of it."""
    COMPLETE = 7
    """Pop the top: it is a mention. `COMPLETE + i` gives it the type of index `i`."""


REDUCTIONS = (Action.REDUCE, Action.LEFT_REDUCE, Action.RIGHT_REDUCE)
SHARING = (Action.LEFT_REDUCE, Action.RIGHT_REDUCE)


def action_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Names of all actions, in the order of their indices: `LEFT-REDUCE`, `COMPLETE-ADR`."""
    plain = (action.name.replace("_", "-") for action in Action if action is not Action.COMPLETE)
    return (*plain, *(f"COMPLETE-{label}" for label in labels))


@dataclass(slots=True, eq=False)
class Node:
    """Words that may become a mention, as the bits of an integer.

    A leaf has a `word`, a union its `parts`: the lower and the upper node. `steps` are those at
    which it was made: the SHIFT of each of its words and their reductions. `row` says where a
    network keeps its vectors.
    """

    words: int
    steps: tuple[int, ...]
    word: int = -1
    parts: tuple[Node, Node] | None = None
    row: int = -1


@dataclass(slots=True, eq=False)
class Cell:
    """A stack as its top node and the stack below; `row` is where a network keeps its state."""

    below: Cell | None
    node: Node
    height: int
    row: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class FinishedMention:
    """A finished mention and the steps whose actions made it, COMPLETE the last."""

    words: int
    label: int
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Stack, buffer and what has been found. The buffer is `returned`, the last one first, and then
    the words from `position`.

    `extra` counts SWAP and COPY, `steps` all actions.
    """

    stack: Cell | None = None
    returned: tuple[Node, ...] = ()
    position: int = 0
    previous: int = -1
    extra: int = 0
    steps: int = 0
    found: tuple[FinishedMention, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """What is legal for `types` entity types.

    `extended` allows SWAP and COPY, `overlapping` reductions of nodes that share words, which the
    released code scores (and then treats differently in its two stacks).
    """

    types: int = 1
    extended: bool = True
    overlapping: bool = False

    def bound(self, length: int) -> int:
        """How many SWAP and COPY actions a sentence of `length` words may have."""
        return 2 * length + 8 if self.extended else 0

    def legal(self, state: State, length: int) -> int:
        """The legal actions as bits: `1 << Action.SHIFT` and so on, one bit for all COMPLETE.

        Zero where the sentence is parsed.
        """
        bits = 0
        if state.returned:
            # Right behind SWAP it would but exchange two nodes, and with SWAP again and again.
            bits = 0 if state.previous == Action.SWAP else 1 << Action.SHIFT
        elif state.position < length:
            bits = 1 << Action.SHIFT | 1 << Action.OUT
        stack = state.stack
        if stack is None:
            return bits
        bits |= 1 << Action.COMPLETE
        below = stack.below
        more = state.extra < self.bound(length)
        if more and (below is not None or self.types > 1):
            bits |= 1 << Action.COPY
        if below is None:
            return bits
        if state.previous not in SHARING and (
            self.overlapping or not stack.node.words & below.node.words
        ):
            for action in REDUCTIONS:
                bits |= 1 << action
        if more and stack.height > 2:
            bits |= 1 << Action.SWAP
        return bits

    def allows(self, state: State, length: int, action: int) -> bool:
        """Whether an action, by its index, is legal."""
        return bool(self.legal(state, length) >> min(action, Action.COMPLETE) & 1)

    def table(self) -> Booleans:
        """What is legal, `[256, actions]`, by the bits that `legal` gives."""
        columns = [min(a, int(Action.COMPLETE)) for a in range(Action.COMPLETE + self.types)]
        result: Booleans = (np.arange(256)[:, None] >> np.array(columns) & 1).astype(bool)
        return result


def push(stack: Cell | None, node: Node) -> Cell:
    """The stack with a node on top."""
    return Cell(stack, node, 1 if stack is None else stack.height + 1)


def after(state: State, action: int) -> State:
    """The state after a legal action."""
    step, stack = state.steps, state.stack
    returned, position, extra, found = state.returned, state.position, state.extra, state.found
    if action == Action.OUT:
        position += 1
    elif action == Action.SHIFT:
        if returned:
            stack = push(stack, returned[-1])
            returned = returned[:-1]
        else:
            stack = push(stack, Node(1 << position, (step,), word=position))
            position += 1
    elif stack is None:
        raise ValueError(f"action {action} needs a stack that is not empty")
    elif action >= Action.COMPLETE:
        own = (*stack.node.steps, step)
        found = (*found, FinishedMention(stack.node.words, action - Action.COMPLETE, own))
        stack = stack.below
    elif action == Action.COPY:
        top = stack.node
        stack = push(stack, Node(top.words, (*top.steps, step), top.word, top.parts, top.row))
        extra += 1
    elif (second := stack.below) is None:
        raise ValueError(f"action {action} needs two nodes on the stack")
    elif action == Action.SWAP:
        returned = (*returned, second.node)
        stack = push(second.below, stack.node)
        extra += 1
    else:
        stack = _reduced(stack.node, second, action, step)
    return State(stack, returned, position, action, extra, step + 1, found)


def _reduced(right: Node, second: Cell, action: int, step: int) -> Cell:
    left = second.node
    steps = (*left.steps, *right.steps, step)
    if left.words & right.words:  # otherwise they have no step in common
        steps = tuple(sorted(set(steps)))
    union = Node(left.words | right.words, steps, parts=(left, right))
    if action == Action.LEFT_REDUCE:
        return push(second, union)
    if action == Action.RIGHT_REDUCE:
        return push(push(second.below, right), union)
    return push(second.below, union)


def replay(actions: Iterable[int], length: int, rules: Rules) -> State:
    """The state after these actions. Raises ValueError for one that is not legal."""
    state = State()
    for action in actions:
        if not rules.allows(state, length, action):
            raise ValueError(f"action {action} is not legal at step {state.steps}")
        state = after(state, action)
    return state


def words_of(bits: int) -> tuple[int, ...]:
    """The words of a node, in order."""
    return tuple(word for word in range(bits.bit_length()) if bits >> word & 1)


def mentions_of(state: State, labels: Sequence[str]) -> set[Mention]:
    """What has been found."""
    return {Mention(words_of(each.words), labels[each.label]) for each in state.found}
