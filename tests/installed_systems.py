"""Packages with systems that come and go in the course of a test."""

from __future__ import annotations

from trigner.systems import registry


def look_again() -> None:
    """The registry looks again at what is installed when it is next asked."""
    registry._found.cache_clear()
    registry._added.cache_clear()
