"""How much of its weight the triplet loss has in the course of a training."""

from __future__ import annotations

from trigner.triplets.settings import Schedule


def share_of_weight(schedule: Schedule, progress: float) -> float:
    """From 0 to 1, after `progress` of all updates, from 0 to 1."""
    if schedule == "constant":
        return 1.0
    risen = min(1.0, max(0.0, 3 * progress - 1))
    return risen if schedule == "rising" else 1 - risen
