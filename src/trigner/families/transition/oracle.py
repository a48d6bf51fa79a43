"""From mentions to the actions that find them.

`actions_for` is ours: with SWAP and COPY it reaches any set of mentions. `static_oracle` is that of
the released code (Dai et al. 2020), with its losses.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from trigner.families.transition.parser import Action, Rules, mentions_of, replay
from trigner.mentions import Mention
from trigner.schemes import check


@dataclass(frozen=True, slots=True)
class Derivation:
    """Actions that find `mentions`; the `lost` ones they cannot."""

    actions: tuple[int, ...]
    mentions: tuple[Mention, ...]
    lost: tuple[Mention, ...] = ()


def derivation(
    mentions: Collection[Mention], length: int, labels: Sequence[str], rules: Rules
) -> Derivation:
    """Actions that find exactly these mentions, or all but the `lost` ones.

    Mentions are taken out, one that is not found at a time, until the rest comes back. A parser
    that learnt from actions that miss mentions would learn to complete what is left on its stack.
    Raises ValueError for an unknown label or a word outside the sentence.
    """
    check(tuple(mentions), tuple(labels), length)
    wanted = sorted(set(mentions))
    lost: list[Mention] = []
    while True:
        actions = (actions_for if rules.extended else static_oracle)(wanted, length, labels)
        found = _found(actions, length, labels, rules)
        missed = [m for m in wanted if m not in found]
        if not missed and len(found) == len(wanted):
            return Derivation(tuple(actions), tuple(wanted), tuple(lost))
        # The longest first: what stands in the way of others reaches far.
        out = max(missed, key=lambda m: (m.words[-1] - m.words[0], m), default=wanted[-1])
        wanted.remove(out)
        lost.append(out)


def _found(
    actions: Sequence[int], length: int, labels: Sequence[str], rules: Rules
) -> set[Mention]:
    """What these actions find; nothing where they are not legal or leave nodes on the stack."""
    try:
        state = replay(actions, length, rules)
    except ValueError:
        return set()
    return mentions_of(state, labels) if state.stack is None else set()


@dataclass(slots=True)
class _Part:
    """A node and the mentions, by index, that it is a part of."""

    words: frozenset[int]
    of: set[int]


@dataclass(slots=True)
class _Oracle:
    """Each mention's words that were shifted lie on stack and buffer, in nodes that are its own.

    Rules, the first that fits:

    1. the top is a whole mention and belongs to no other: COMPLETE;
    2. it is several mentions of different types: COPY, then 1;
    3. top and next word belong to the same mentions, not all of which own the node below: wait, so
       that both are shared as one;
    4. the two top nodes have mentions in common: reduce, and keep what has others;
       where both have, COPY and SWAP put a copy of the top aside first;
    5. the top has a mention in common with a node further down: SWAP;
    6. SHIFT, or OUT of a word of no mention.
    """

    mentions: Sequence[Mention]
    types: Sequence[int]
    length: int
    stack: list[_Part] = field(default_factory=list)
    returned: list[_Part] = field(default_factory=list)
    position: int = 0
    actions: list[int] = field(default_factory=list)

    def run(self) -> list[int]:
        at: list[set[int]] = [set() for _ in range(self.length)]
        for index, mention in enumerate(self.mentions):
            for word in mention.words:
                at[word].add(index)
        while self.stack or self.returned or self.position < self.length:
            if not (self._complete() or (not self._waits(at) and self._join())):
                self._read(at)
        return self.actions

    def _complete(self) -> bool:
        top = self.stack[-1] if self.stack else None
        if top is None or any(len(self.mentions[i].words) != len(top.words) for i in top.of):
            return False
        first = min(top.of)
        if len(top.of) > 1:
            self.actions.append(Action.COPY)
            top.of.remove(first)
        else:
            self.stack.pop()
        self.actions.append(Action.COMPLETE + self.types[first])
        return True

    def _waits(self, at: list[set[int]]) -> bool:
        if len(self.stack) < 2 or self.returned:
            return False
        top = self.stack[-1]
        coming = next((own for own in at[self.position :] if own), None)
        return top.of == coming and not top.of <= self.stack[-2].of

    def _join(self) -> bool:
        if not any(part.of & self.stack[-1].of for part in self.stack[:-1]):
            return False
        second, top = self.stack[-2:]
        common = second.of & top.of
        if not common:
            self.actions.append(Action.SWAP)
            self.returned.append(self.stack.pop(-2))
            return True
        second.of -= common
        top.of -= common
        if second.of and top.of:
            self.actions += [Action.COPY, Action.SWAP]
            self.returned.append(top)
        kept = [second] if second.of else [top] if top.of else []
        action = Action.LEFT_REDUCE if second.of else Action.RIGHT_REDUCE
        self.actions.append(action if kept else Action.REDUCE)
        self.stack[-2:] = [*kept, _Part(second.words | top.words, common)]
        return True

    def _read(self, at: list[set[int]]) -> None:
        if self.returned:
            self.actions.append(Action.SHIFT)
            self.stack.append(self.returned.pop())
            return
        word = self.position
        self.position += 1
        self.actions.append(Action.SHIFT if at[word] else Action.OUT)
        if at[word]:
            self.stack.append(_Part(frozenset([word]), set(at[word])))


def actions_for(mentions: Sequence[Mention], length: int, labels: Sequence[str]) -> list[int]:
    """Actions that find these distinct mentions, with SWAP and COPY where it needs them.

    Each merge leaves a mention in one node less, so it ends. The rules are those of `_Oracle`.
    """
    types = [labels.index(mention.label) for mention in mentions]
    return _Oracle(mentions, types, length).run()


def static_oracle(mentions: Sequence[Mention], length: int, labels: Sequence[str]) -> list[int]:
    """The actions of the released code's oracle, without SWAP and COPY.

    They can miss mentions and leave nodes on the stack: those of mentions that cross, that share
    words on both sides, or that have equal words and other types.
    """
    remaining = list(mentions)
    stack: list[tuple[int, ...]] = []
    actions: list[int] = []
    for word in range(length):
        if not any(word in mention.words for mention in remaining):
            actions.append(Action.OUT)
            continue
        actions.append(Action.SHIFT)
        stack.append((word,))
        while _completed(stack, remaining, actions, labels) | _reduced(stack, remaining, actions):
            pass
    return actions


def _completed(
    stack: list[tuple[int, ...]],
    remaining: list[Mention],
    actions: list[int],
    labels: Sequence[str],
) -> bool:
    if not stack:
        return False
    equal = [mention for mention in remaining if mention.words == stack[-1]]
    if len(equal) != 1 or _holding(remaining, stack[-1]) != 1:
        return False
    actions.append(Action.COMPLETE + labels.index(equal[0].label))
    remaining.remove(equal[0])
    stack.pop()
    return True


def _reduced(
    stack: list[tuple[int, ...]], remaining: Sequence[Mention], actions: list[int]
) -> bool:
    if len(stack) < 2 or set(stack[-2]) & set(stack[-1]):
        return False
    second, top = stack[-2:]
    union = tuple(sorted((*second, *top)))
    number = _holding(remaining, union)
    if not number:
        return False
    if number != _holding(remaining, second):
        action, kept = Action.LEFT_REDUCE, [second]
    elif number != _holding(remaining, top):
        action, kept = Action.RIGHT_REDUCE, [top]
    else:
        action, kept = Action.REDUCE, []
    actions.append(action)
    stack[-2:] = [*kept, union]
    return True


def _holding(mentions: Sequence[Mention], words: tuple[int, ...]) -> int:
    """How many mentions hold each run of neighbouring words within one of their own."""
    return sum(
        set(words) <= set(mention.words)
        and all(b in mention.words for a, b in pairwise(words) if b == a + 1)
        for mention in mentions
    )


def round_trip(
    labels: Sequence[str], rules: Rules, mentions: Sequence[Mention], length: int
) -> tuple[set[Mention], bool]:
    """What comes back of mentions from their actions, and whether no bound stood in the way.

    With SWAP and COPY nothing is lost but to the bound on these.
    """
    found = derivation(mentions, length, labels, rules)
    complete = not (rules.extended and found.lost)
    return mentions_of(replay(found.actions, length, rules), labels), complete
