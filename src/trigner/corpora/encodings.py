"""The characters that a file's bytes are, in a named encoding or in a guessed one."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from trigner.errors import InputError

UTF_8 = "utf-8"
AUTO = "auto"

_LIKELY = "cp1252"
_EAST_ASIAN = re.compile("big5|cp9(32|49|50)|euc_|gb|hz|iso2022|johab|shift_jis")
_LETTERS, _HIGH = re.compile(b"[A-Za-z]"), re.compile(b"[\x80-\xff]")
_NOT_ASCII = re.compile("[^\0-\x7f]+")
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
    if _is_likely(data) and (
        (_EAST_ASIAN.match(best.encoding) and _looks_western(data, str(best)))
        # Of more than a few bytes some blank or line end would have a zero byte.
        or (best.encoding.startswith(("utf_16", "utf_32")) and b"\0" not in data)
    ):
        return _LIKELY
    return str(best.encoding)


def _is_likely(data: bytes) -> bool:
    """Whether all bytes are characters of the likely encoding."""
    try:
        data.decode(_LIKELY)
    except UnicodeDecodeError:
        return False
    return True


def _looks_western(data: bytes, guessed: str) -> bool:
    """Whether bytes that fit an East Asian encoding are rather cp1252.

    A letter or sign of cp1252 and the ASCII letter behind it, as in "39°C", may be a character of
    such an encoding. It stands alone among many ASCII letters, where words of Chinese, Japanese or
    Korean have several characters and markup around them has few letters.
    """
    letters = len(_LETTERS.findall(data))
    others = len(_HIGH.findall(data))
    runs = _NOT_ASCII.findall(guessed)
    alone = sum(len(run) == 1 for run in runs)
    return 2 * others < letters and 2 * alone > len("".join(runs))
