"""How messages write how many of something there are, and how long it takes."""

from __future__ import annotations


def counted(number: int, one: str, more: str | None = None) -> str:
    """`1 file`, `2 files`; `more` is the plural of words that take more than an s."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def duration(seconds: float) -> str:
    """`2 h 5 min`, `3 min`, `20 s`."""
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60:,} h {minutes % 60} min"
    return f"{minutes} min" if seconds >= 60 else f"{round(seconds)} s"
