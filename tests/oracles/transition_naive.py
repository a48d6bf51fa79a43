"""The parser written plainly, from section 3.1 of Dai et al. 2020, with sets and lists."""

from __future__ import annotations

from itertools import combinations


def mentions_by(actions, length, labels):
    """Mentions that named actions find, as `(words, label)`, and what is left on the stack."""
    stack, buffer, found = [], [(word,) for word in range(length)], set()
    for name in actions:
        if name == "SHIFT":
            stack.append(buffer.pop(0))
        elif name == "OUT":
            buffer.pop(0)
        elif name == "SWAP":
            buffer.insert(0, stack.pop(-2))
        elif name == "COPY":
            stack.append(stack[-1])
        elif name.startswith("COMPLETE-"):
            found.add((stack.pop(), name.removeprefix("COMPLETE-")))
        else:
            top, second = stack.pop(), stack.pop()
            stack += {"REDUCE": [], "LEFT-REDUCE": [second], "RIGHT-REDUCE": [top]}[name]
            stack.append(tuple(sorted({*second, *top})))
    assert all(label in labels for _, label in found)
    return found, stack


def every_mention_set(length, labels, most):
    """All sets of at most `most` mentions over the words and labels."""
    words = [w for n in range(1, length + 1) for w in combinations(range(length), n)]
    every = [(w, label) for w in words for label in labels]
    return [chosen for n in range(most + 1) for chosen in combinations(every, n)]


def within_six_actions(gold, length):
    """Whether any sequence of the paper's actions finds exactly these word tuples."""
    wanted = [frozenset(words) for words in gold]
    todo = [((), 0, frozenset(), False)]
    seen = set(todo)
    while todo:
        stack, position, found, shared = todo.pop()
        if position == length and not stack and len(found) == len(wanted):
            return True
        following = []
        if position < length:
            word = frozenset([position])
            following += [(own, position + 1, found, False) for own in (stack, (*stack, word))]
        if stack and stack[-1] in wanted:
            following.append((stack[:-1], position, found | {stack[-1]}, False))
        if len(stack) > 1 and not shared:
            *rest, second, top = stack
            for kept in ((), (second,), (top,)):
                merged = (*rest, *kept, second | top)
                following.append((merged, position, found, bool(kept)))
        for state in following:
            # A node that is part of no mention never becomes one.
            if state not in seen and all(any(n <= g for g in wanted) for n in state[0]):
                seen.add(state)
                todo.append(state)
    return False
