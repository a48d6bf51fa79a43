"""The characters that a file's bytes are, in a named encoding or in a guessed one."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from trigner.errors import InputError

UTF_8 = "utf-8"
AUTO = "auto"

_LIKELY = "cp1252"
_HALF = re.compile("[\ud800-\udfff]")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class EncodingError(InputError):
    """Bytes that are not characters in the encoding that is asked for."""


def checked_encoding(name: str) -> str:
    """The name, or `auto`. Raises InputError for a name that is not an encoding of text."""
    try:
        "".encode(name if name != AUTO else UTF_8)
    except (LookupError, ValueError) as error:
        examples = "utf-8, cp1252 (Windows, Western), latin-1, utf-16, shift_jis, or auto"
        raise InputError(f"--encoding: unknown encoding {name!r}; such as {examples}") from error
    return name


def is_utf_8(encoding: str) -> bool:
    """Whether a name means UTF-8."""
    return re.sub(r"[-_ ]", "", encoding.lower()) in ("utf8", "u8")


def decoded(
    data: bytes, encoding: str, path: Path, *, likely: str | None = None
) -> tuple[str, str]:
    """The characters of a file's bytes and the encoding that they are in.

    `auto` takes what is UTF-8 for it, then goes by the mark at the beginning, then takes what is
    `likely` or guesses.
    Raises EncodingError, with the line of the first bad byte as far as it is known, or of the first
    half of a character, of which some encodings make one.
    """
    if encoding == AUTO:
        encoding = _guessed(data, likely)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = not_in(encoding, error.start)
        raise EncodingError(message, path=path, line=line) from error
    except UnicodeError as error:  # of codecs that name no place, such as punycode
        raise EncodingError(f"is not {encoding}: {error}", path=path) from error
    if not is_utf_8(encoding) and (half := _HALF.search(text)):
        line = text.count("\n", 0, half.start()) + 1
        message = f"U+{ord(half[0]):04X} is a lone surrogate, which {encoding} lets in"
        raise EncodingError(message, path=path, line=line)
    return text, encoding


ADVICE = "; --encoding NAME or auto reads other encodings"
"""What errors of documents add: other files are in UTF-8."""


def not_in(encoding: str, at: int) -> str:
    """The message that the byte `at` is no character of an encoding."""
    if is_utf_8(encoding):
        return f"byte {at} is not UTF-8{ADVICE}"
    return f"byte {at} is not {encoding}"


def marked_encoding(data: bytes) -> str | None:
    """The encoding that the mark at the beginning of a file says, None without one."""
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _guessed(data: bytes, likely: str | None) -> str:
    try:
        data.decode(UTF_8)
        return UTF_8
    except UnicodeDecodeError:
        pass
    if encoding := marked_encoding(data):
        return encoding
    if likely is not None:
        return likely
    from charset_normalizer import from_bytes

    found = from_bytes(data)
    best = found.best()
    if best is None:
        return UTF_8
    # Of encodings that fit alike it names the first of the alphabet; this one is far more frequent.
    for match in found:
        if match.chaos <= best.chaos and _LIKELY in (match.encoding, *match.could_be_from_charset):
            return _LIKELY
    return str(best.encoding)
