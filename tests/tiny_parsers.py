"""Small parsers around a tiny encoder, in memory, and sentences for them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from trigner.families.transition.settings import TransitionSettings
from trigner.families.transition.system import TransitionSystem, build
from trigner.mentions import Mention, Sentence

LABELS = ("ADR", "Drug")
SMALL = {"lstm_size": 8, "hidden_size": 7, "action_size": 3}
TEXT = "my left right leg arm hurt and felt numb after the second tablet no pain then"


def tiny_parser(
    encoder: Path,
    seed: int = 1,
    labels: tuple[str, ...] = LABELS,
    sharp: float = 4.0,
    **changes: Any,
) -> TransitionSystem:
    """A fresh parser, `SMALL` but for `changes`; `sharp` keeps its actions from being equal."""
    torch.manual_seed(seed)
    settings = SimpleNamespace(encoder=str(encoder), model=TransitionSettings(**SMALL | changes))
    system = build(settings, labels)
    with torch.no_grad():
        system.network.output.weight.mul_(sharp)
    return system


def sentence(text: str, *mentions: tuple[tuple[int, ...], str]) -> Sentence:
    """A sentence of words between blanks."""
    words = tuple(text.split())
    starts = [sum(len(w) + 1 for w in words[:i]) for i in range(len(words))]
    offsets = tuple((a, a + len(w)) for a, w in zip(starts, words, strict=True))
    return Sentence("d", 0, words, offsets, tuple(Mention(*m) for m in mentions))


GOLD = [
    sentence("my left and right leg hurt", ((1, 4, 5), "ADR"), ((3, 4, 5), "ADR")),
    sentence("felt numb after the second tablet", ((1,), "ADR"), ((5,), "Drug")),
    sentence("no pain then", ((1,), "ADR"), ((1,), "Drug")),
    sentence("the tablet", ((1,), "Drug")),
    sentence("my arm and leg felt numb", ((1, 5), "ADR"), ((3, 5), "ADR")),
    sentence("then my leg hurt and no tablet", ((2, 3), "ADR"), ((6,), "Drug")),
    sentence("left leg and arm hurt and numb", *(((a, b), "ADR") for a in (1, 3) for b in (4, 6))),
    sentence("the second the tablet"),
]
"""With crossing mentions, equal words of two types, and none."""
