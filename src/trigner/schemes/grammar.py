"""What schemes with one tag a word share: which sequences of tags are well-formed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from trigner.schemes.automaton import Automaton, Integers
from trigner.schemes.scheme import Scheme

NO_TAG = -1


@dataclass(frozen=True)
class Grammar:
    """The tags of a scheme, class 0 outside, and which sequences of them are well-formed.

    For each tag, `continued` is the tag with which the next word would go on with the same piece of
    a mention, `NO_TAG` for none; `exchanged` is the tag that means the same once the two types of
    components in its set of mentions change places; `reopened` the one that differs in whether the
    word begins the set; both are mostly the tag itself. `opening` tags begin a set.
    """

    tags: tuple[str, ...]
    automaton: Automaton
    continued: tuple[int, ...]
    exchanged: tuple[int, ...]
    reopened: tuple[int, ...]
    opening: tuple[int, ...] = ()

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
