"""Which subword may come next, so that the text is well-formed whatever the language model says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from trigner.families.generative.spelling import Ids, Spelling
from trigner.families.seq2seq import END, OutputAutomaton, State


@dataclass(frozen=True, slots=True)
class PrefixState:
    """Where a text stands: the tokens that are whole, the state behind them, and subwords of the
    next one."""

    tokens: tuple[int, ...] = ()
    state: State = field(default_factory=State)
    begun: Ids = ()


@dataclass(frozen=True)
class Writing:
    """The well-formed texts of one sentence, read as far as they are.

    Subwords are taken to continue a token where they can: of "leg" and "legs" the longer. Every
    text has one reading, and from every place that is reached so a text can be ended.
    """

    automaton: OutputAutomaton
    spelling: Spelling
    _known: dict[Ids, Mapping[int, PrefixState]] = field(default_factory=dict, compare=False)

    def allowed(self, text: Ids) -> Mapping[int, PrefixState]:
        """The subwords that may come behind this text, each with where it leads; none at its end.

        Raises KeyError when no well-formed text begins so.
        """
        known = len(text)
        while known and text[:known] not in self._known:
            known -= 1
        for n in range(known, len(text) + 1):  # no recursion: a text may be thousands long
            if text[:n] not in self._known:
                place = self._known[text[: n - 1]][text[n - 1]] if n else PrefixState()
                self._known[text[:n]] = self._steps(place)
        return self._known[text]

    def not_empty(self) -> Writing:
        """The same without the text that has no mention."""
        first = {i: place for i, place in self.allowed(()).items() if i != self.spelling.end}
        return Writing(self.automaton, self.spelling, {(): first})

    def read(self, text: Ids) -> tuple[int, ...]:
        """The tokens of a text, without one that is not whole; `END` is the last of a whole text.

        Raises KeyError when no well-formed text begins so.
        """
        if not text:
            return ()
        place = self.allowed(text[:-1])[text[-1]]
        whole = self._whole(place)
        return place.tokens if whole is None else (*place.tokens, whole)

    def along(self, text: Ids) -> list[list[int]]:
        """The subwords that are allowed at each place of a text, which have to be its own."""
        return [sorted(self.allowed(text[:n])) for n in range(len(text))]

    def _steps(self, place: PrefixState) -> dict[int, PrefixState]:
        depth = len(place.begun)
        found = {}
        for token in self._next(place):
            spelled = self.spelling.tokens[token]
            if len(spelled) > depth:
                begun = (*place.begun, spelled[depth])
                found[spelled[depth]] = PrefixState(place.tokens, place.state, begun)
        whole = self._whole(place)
        if whole is not None and whole != END:
            state = self.automaton.after(place.state, whole)
            further = self._steps(PrefixState((*place.tokens, whole), state))
            found = {**further, **found}
        return found

    def _next(self, place: PrefixState) -> list[int]:
        """The tokens that the begun one may become."""
        depth = len(place.begun)
        tokens: Sequence[int] = np.flatnonzero(self.automaton.allowed(place.state)).tolist()
        return [t for t in tokens if self.spelling.tokens[t][:depth] == place.begun]

    def _whole(self, place: PrefixState) -> int | None:
        """The token that is whole, unless it goes on."""
        for token in self._next(place) if place.begun else ():
            if self.spelling.tokens[token] == place.begun:
                return token
        return None
