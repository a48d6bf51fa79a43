"""Which examples an epoch sees, and how often."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trigner.batches import Example
from trigner.systems import SamplingSettings


def rates(examples: Sequence[Example], settings: SamplingSettings) -> list[float]:
    """How often an epoch sees each example, on average."""
    return [_rate(example, settings) for example in examples]


def drawn(rates: Sequence[float], seed: int) -> list[int]:
    """The examples of one epoch, by index and in order.

    Each as often as the whole part of its rate says, and once more with the rest as probability.
    """
    wanted = np.asarray(rates)
    whole = np.floor(wanted)
    more = np.random.default_rng([seed, len(wanted)]).random(len(wanted)) < wanted - whole
    return np.repeat(np.arange(len(wanted)), (whole + more).astype(int)).tolist()


def _rate(example: Example, settings: SamplingSettings) -> float:
    if not example.mentions:
        return settings.empty
    discontinuous = any(mention.is_discontinuous for mention in example.mentions)
    return settings.discontinuous if discontinuous else 1.0
