"""The errors that reach a user. The command line turns them into one line and an exit code."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

LONGEST = 2000
"""Characters of a message: input is quoted in messages, and may be of any length."""


class TrignerError(Exception):
    """Something failed while working on good input (exit code 1)."""


class InputError(TrignerError):
    """Input that cannot be trusted or an option that makes no sense (exit code 2).

    The message starts with `path:line:` as far as they are known (lines count from 1).
    """

    def __init__(
        self, message: str, *, path: str | Path | None = None, line: int | None = None
    ) -> None:
        if len(message) > LONGEST:
            message = f"{message[:LONGEST]} ... ({len(message):,} characters)"
        self.message = message
        self.path = None if path is None else Path(path)
        self.line = line
        where = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(where + message)


def first_line(error: BaseException) -> str:
    """The first line of an error's message, or the name of its class where it has none."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


def require_extra(extra: str, *packages: str) -> None:
    """Raises TrignerError with the cure when packages of one of our extras are not installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise TrignerError(f"this needs {' and '.join(missing)}: pip install 'trigner[{extra}]'")


def unknown_setting(name: str, known: Collection[str]) -> str:
    """What to say of a setting that there is not: the one that is meant, or all that there are."""
    alike = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {alike[0]}?" if alike else f"known are: {', '.join(known)}"
    return f"unknown setting; {hint}"


def validation_message(*errors: Mapping[str, Any]) -> str:
    """Pydantic's `errors()` about one value in plain words, without the name of the setting.

    There are several where it may be of several kinds.
    """
    first = errors[0]
    wanted = [_wanted(error) for error in errors if error["input"] is first["input"]]
    if wanted[0] is None:
        return str(first["msg"]).removeprefix("Value error, ")
    return f"must be {' or '.join(filter(None, wanted))}, got {first['input']!r}"


def _wanted(error: Mapping[str, Any]) -> str | None:
    """What a value should be, or None where the error's own message says more."""
    limits = {"at least": "ge", "above": "gt", "at most": "le", "below": "lt"}
    given, kind = error.get("ctx", {}), str(error["type"])
    if kind in ("literal_error", "enum"):
        expected = str(given["expected"])
        return f"one of {expected}" if " or " in expected else expected
    if kind == "too_short":
        return f"a list of at least {given['min_length']}"
    if kind == "multiple_of":
        return f"a multiple of {given['multiple_of']}"
    limit = next((f"{word} {given[key]}" for word, key in limits.items() if key in given), None)
    return limit or next((what for start, what in _WANTED.items() if kind.startswith(start)), None)


_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "finite": "a finite number",
    "bool": "true or false",
    "string_type": "a text",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
}
"""What pydantic's types of errors, by their beginnings, ask for."""


def miscounted(surface: str, text: str, fragments: Sequence[tuple[int, int]]) -> str:
    """The end of a message: what offsets seem to count in the place of `text`'s characters.

    Counted so, the surface stands at these fragments, white space aside. Empty if nothing does it.
    """
    for told, pieces in _counted_otherwise(text, fragments):
        if " ".join(pieces).split() == surface.split():
            return f"; they seem {told}"
    return ""


def _counted_otherwise(
    text: str, fragments: Sequence[tuple[int, int]]
) -> Iterator[tuple[str, Iterator[str]]]:
    """Ways to count, and what stands at the fragments by each."""
    if text.startswith("\ufeff"):
        yield "not to count the byte order mark", _of_text(text[1:], fragments)
    if "\r\n" in text:
        joined = text.replace("\r\n", "\n")
        yield "to count a line end of Windows (CR LF) as one", _of_text(joined, fragments)
    elif "\n" in text:
        parted = text.replace("\n", "\r\n")
        yield "to be of a text with line ends of Windows (CR LF)", _of_text(parted, fragments)
    if not text.isascii():
        for told, encoding, size in (
            ("to count UTF-16 units, of which an emoji has two", "utf-16-le", 2),
            ("to count bytes of UTF-8", "utf-8", 1),
        ):
            units = text.encode(encoding, "surrogatepass")
            found = (units[start * size : end * size] for start, end in fragments)
            yield told, (own.decode(encoding, "replace") for own in found)


def _of_text(text: str, fragments: Sequence[tuple[int, int]]) -> Iterator[str]:
    return (text[start:end] for start, end in fragments)
