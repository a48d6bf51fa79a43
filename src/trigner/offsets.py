"""Offsets that do not belong to a text, and why that may be: other tools count other things."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


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
