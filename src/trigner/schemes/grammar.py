"""Which sequences of tags are well-formed: what all schemes with one tag a word share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from trigner.arrays import Integers
from trigner.schemes.automaton import Automaton
from trigner.schemes.scheme import Scheme

NO_TAG = -1


@dataclass(frozen=True)
class Grammar:
    """The tags of a scheme, class 0 outside, and which sequences of them are well-formed.

    For each tag, `continued` is the tag by which the next word continues the same segment of a
    mention, `NO_TAG` for none; `exchanged` the tag that means the same after the two component
    types x and y of its set of mentions are swapped; `reopened` the same tag at the beginning of a
    set instead of inside one, or the reverse. Both are mostly the tag itself. `opening` tags begin
    a set, `components` begin a component of type x, and of type y.
    """

    tags: tuple[str, ...]
    automaton: Automaton
    continued: tuple[int, ...]
    exchanged: tuple[int, ...]
    reopened: tuple[int, ...]
    opening: tuple[int, ...] = ()
    components: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    @cached_property
    def exchange(self) -> Integers:
        """`exchanged` as an array `[C]`."""
        return np.array(self.exchanged, dtype=np.int64)


class SequenceScheme(Scheme, Protocol):
    """A scheme whose tag space is a sequence."""

    @property
    def grammar(self) -> Grammar:
        """Its well-formed sequences of tags."""
        ...
