"""How messages write how long something takes."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """`2 h 5 min`, `3 min`, `20 s`."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60} min"
    return f"{minutes} min" if seconds >= 60 else f"{round(seconds)} s"
