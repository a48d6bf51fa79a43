"""Failures as they are logged: what failed where, without what users sent."""

from __future__ import annotations

import traceback


def without_texts(error: BaseException) -> str:
    """The class of an exception and the places it came through.

    Its message is left out: those of many libraries quote the value that they cannot deal with.
    """
    places = "".join(traceback.format_tb(error.__traceback__))
    return f"{type(error).__qualname__}, its message left out as it may quote a text\n{places}"
