"""Which token may come next, so that the output is well-formed whatever the network says.

Tokens are counted as in the paper (section 3.2): start, end, the types, then the pointers. A type
ends a mention, `END` the output. With `increasing` every mention comes after the one before, in the
order of words and then of types: none is written twice, and every set of mentions has one output.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trigner.arrays import Booleans
from trigner.families.seq2seq.pointers import Pointers

START = 0
END = 1
FIRST_TYPE = 2

Written = tuple[tuple[int, ...], int]
"""A mention of the output: its pointers and the index of its type."""


@dataclass(frozen=True, slots=True)
class State:
    """Where an output stands.

    `open` are the pointers of the mention that is being written, `previous` is the one before. The
    open one is `tight` while it agrees with the beginning of the previous one, and `unfinished`
    when it would come before it if it ended here.
    """

    open: tuple[int, ...] = ()
    previous: Written | None = None
    tight: bool = False
    unfinished: bool = False
    ended: bool = False


@dataclass(frozen=True)
class OutputAutomaton:
    """The well-formed outputs for a sentence with these pointers and this number of types."""

    pointers: Pointers
    types: int
    increasing: bool = True

    @property
    def tokens(self) -> int:
        """Size of the vocabulary, `2 + types + pointers`."""
        return FIRST_TYPE + self.types + len(self.pointers)

    def allowed(self, state: State) -> Booleans:
        """Which tokens `[V]` may come next; from every state that is reached so, one may."""
        found = np.zeros(self.tokens, dtype=np.bool_)
        if state.ended:
            return found
        types, targets = found[FIRST_TYPE : self._first], found[self._first :]
        known = self.pointers
        if not state.open:
            found[END] = True
            targets[:] = known.opens
        else:
            last = state.open[-1]
            low, stop = known.low[last], known.high[last] + 1
            opens = known.opens[low:stop]
            targets[low:stop] = opens if known.closes[last] else ~opens
            types[:] = known.closes[last] and not state.unfinished
        if state.tight:
            self._keep_order(state, types, targets)
        return found

    def _keep_order(self, state: State, types: Booleans, targets: Booleans) -> None:
        """Take out what would make the open mention come before the previous one, or equal it."""
        assert state.previous is not None
        (previous, kind), depth = state.previous, len(state.open)
        if depth == len(previous):
            types[: kind + 1] = False
            return
        types[:] = False
        same = previous[depth]
        if self._ends(depth):
            # One that ends its segment earlier is missing a word: it comes after the previous one
            # with a later word in its place, and before it without.
            targets[:same] &= self.pointers.low[:same] < len(self.pointers)
            if depth < len(previous) - 1:
                targets[same + 1 :] = False
        else:
            targets[:same] = False
        targets[same] &= self._can_exceed((*previous[: depth + 1],), state.previous)

    def _ends(self, depth: int) -> bool:
        """Whether the pointer at this place of a mention is the end of a segment."""
        return self.pointers.representation == "span" and depth % 2 == 1

    def _can_exceed(self, begun: tuple[int, ...], previous: Written) -> bool:
        """Whether some mention that begins so comes after the previous one."""
        words = self._greatest(begun)
        other = self.pointers.words_of(previous[0])
        assert other is not None
        return words > other or (words == other and previous[1] < self.types - 1)

    def _greatest(self, begun: tuple[int, ...]) -> tuple[int, ...]:
        """The words of the mention that begins so and comes last."""
        known, whole = self.pointers, list(begun)
        if known.representation == "span" and not known.closes[whole[-1]]:
            # Another segment behind the word beats the word after it, and that beats nothing.
            nearest = whole[-1] + 1
            onward = known.low[nearest] < len(known) or nearest + 1 == len(known)
            whole.append(nearest if onward else nearest + 2)
        while not known.closes[whole[-1]]:
            whole.append(whole[-1] + 1)
        words = known.words_of(whole)
        assert words is not None
        return (*words, known.words - 1) if known.low[whole[-1]] < len(known) else words

    def after(self, state: State, token: int) -> State:
        """The state behind a token that is allowed there."""
        if token == END:
            return replace(state, ended=True)
        if token < self._first:
            written = (state.open, token - FIRST_TYPE)
            return State(previous=written, tight=True) if self.increasing else State()
        pointer, depth = token - self._first, len(state.open)
        tight = unfinished = False
        if state.tight:
            assert state.previous is not None
            previous = state.previous[0]
            tight = depth < len(previous) and pointer == previous[depth]
            unfinished = depth < len(previous) and self._ends(depth) and pointer < previous[depth]
        return State((*state.open, pointer), state.previous, tight, unfinished)

    @property
    def _first(self) -> int:
        return FIRST_TYPE + self.types

    def along(self, tokens: Iterable[int]) -> list[Booleans]:
        """What is allowed before each of these tokens, which have to be allowed themselves."""
        state, found = State(), []
        for token in tokens:
            found.append(self.allowed(state))
            state = self.after(state, token)
        return found

    def accepts(self, tokens: Sequence[int]) -> bool:
        """Whether a well-formed output begins with these tokens."""
        state = State()
        for token in tokens:
            if not (0 <= token < self.tokens and self.allowed(state)[token]):
                return False
            state = self.after(state, token)
        return True
