"""What JSON objects of annotation tools look like: their formats are told apart by it, and what
looks like annotations and is not read is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from trigner.corpora.documents import files, peek
from trigner.corpora.strict_json import FLAWS, parsed
from trigner.errors import InputError
from trigner.mentions import DOCUMENT_KEYS, Extra, shortened

STARTS = ("start", "start_offset", "startOffset", "start_char", "char_start", "begin", "from")
ENDS = ("end", "end_offset", "endOffset", "end_char", "char_end", "to")
"""Names that tools give to the bounds of an annotation, the usual ones first."""

_OFFSETS = ("fragments", "offsets", "span", "spans", "position", "index")
_ALWAYS = ("spans", "annotations", "ents", "ner", "ner_tags", "tokenized_text")
_TAG = re.compile(r"O|[BIESLU]-\S+")
_DEPTH = 6
_SIZES = (1 << 16, 1 << 24)  # bytes of a file's beginning; more where the first holds no value
_FIRST = re.compile(r"[ \t\r\n]*\[?[ \t\r\n]*")
_NEXT = re.compile(r"[ \t\r\n]*,?[ \t\r\n]*")

Object = Mapping[str, Any]


def all_objects(
    path: Path, endings: tuple[str, ...], fits: Callable[[Sequence[Object]], bool]
) -> bool:
    """Whether `fits` holds for the first objects of `files`, which all have these endings or none.

    It does not for a file that begins with anything else.
    """
    found = files(path, endings)
    return bool(found) and all(
        file.suffix.lower() in ("", *endings) and _begins(file, fits) for file in found
    )


def _begins(file: Path, fits: Callable[[Sequence[Object]], bool]) -> bool:
    found = beginning(file)
    return bool(found) and all(isinstance(value, dict) for value in found) and fits(found)


def beginning(file: Path) -> list[Any]:
    """The values that stand whole at the beginning of a file of JSON lines or of a JSON list."""
    for size in _SIZES:
        if found := _values(peek(file, size)):
            return found
    return []


def _values(start: str) -> list[Any]:
    found: list[Any] = []
    decoder = json.JSONDecoder()
    at = 0
    while True:
        before = (_NEXT if found else _FIRST).match(start, at)
        try:
            value, at = decoder.raw_decode(start, at if before is None else before.end())
        except (ValueError, RecursionError):
            return found
        found.append(value)


def bounds_of(entry: object) -> tuple[int, int] | None:
    """Start and end of an entry by any of the names that tools give them, or of `[0, 4, "ADR"]`."""
    if isinstance(entry, list):
        numbers = [value for value in entry[:3] if type(value) is int]
        named = any(isinstance(value, str) for value in entry[:3])
        return (numbers[0], numbers[1]) if named and len(numbers) == 2 else None
    if not isinstance(entry, dict):
        return None
    start, end = (_first_number(entry, names) for names in (STARTS, ENDS))
    if start is None and end is None:
        start, length = (_first_number(entry, (name,)) for name in ("offset", "length"))
        end = None if start is None or length is None else start + length
    return None if start is None or end is None else (start, end)


def _first_number(entry: Object, names: Sequence[str]) -> int | None:
    return next((entry[name] for name in names if type(entry.get(name)) is int), None)


def content_of(extra: Extra, id: str, path: Path) -> Object:
    """The object that an extra of a JSON format holds. Raises InputError for anything else."""
    try:
        content = parsed(extra.content)
    except FLAWS as error:
        message = f"has extra data of format {extra.format} that {error}"
        raise InputError(f"document {shortened(id)} {message}", path=path) from error
    except (ValueError, RecursionError) as error:
        content = error
    if not isinstance(content, dict):
        message = f"has extra data of format {extra.format} that is not a JSON object"
        raise InputError(f"document {shortened(id)} {message}", path=path)
    return content


def kept_in(
    extras: Iterable[Extra], format: str, names: Collection[str] | None, id: str, path: Path
) -> dict[str, Any]:
    """What the extras of a format hold under these names (None: any). Raises as `content_of`."""
    found: dict[str, Any] = {}
    for extra in extras:
        if extra.format == format:
            found |= content_of(extra, id, path)
    return {name: value for name, value in found.items() if names is None or name in names}


def extras_of(format: str, kept: Object) -> tuple[Extra, ...]:
    """The extra of a format that keeps this; none when that is nothing."""
    return (Extra(format, json.dumps(kept, ensure_ascii=False)),) if kept else ()


def listed(item: Object, name: str) -> list[Any]:
    """The list under a name, empty when there is none. Raises ValueError for anything else."""
    found = item.get(name)
    if found is not None and not isinstance(found, list):
        raise ValueError(f"`{name}` is not a list: {shortened(found)}")
    return found or []


def chosen(fields: Object, names: Iterable[str]) -> dict[str, Any]:
    """The fields that have one of these names, in their order."""
    return {name: fields[name] for name in names if name in fields}


def others(fields: Object, taken: Collection[str]) -> dict[str, Any]:
    """The fields that have none of these names."""
    return {name: value for name, value in fields.items() if name not in taken}


def separated(fields: Object, text: str) -> tuple[Object, Object]:
    """What of an object's other keys can be fields of a document, and what cannot.

    A field has no name of the document's own parts and does not look like annotations.
    """
    kept = {
        name: value
        for name, value in fields.items()
        if name in DOCUMENT_KEYS or _looks_like_annotations(name, value, len(text))
    }
    return {name: value for name, value in fields.items() if name not in kept}, kept


def refuse_annotations(fields: Object, text: str) -> None:
    """Raises ValueError naming the first field that looks like annotations: nobody reads them."""
    if bounds_of(fields) is not None and "label" in fields:
        name = next(name for name in fields if name in (*STARTS, "offset"))
        raise ValueError(_message(name, fields[name]))
    for name, value in fields.items():
        if _looks_like_annotations(name, value, len(text)):
            raise ValueError(_message(name, value))


def _looks_like_annotations(name: str, value: object, length: int) -> bool:
    return _is_always(name, value) or _has_annotations(value, length, _DEPTH)


def _message(name: str, value: object) -> str:
    return (
        f"the field {shortened(name)} looks like annotations, which are not read here:"
        f" {shortened(value)}; name the format with --from, or remove the field"
    )


def _is_always(name: str, value: object) -> bool:
    if name not in _ALWAYS or not isinstance(value, (list, dict)) or not value:
        return False
    return isinstance(value, dict) or not all(isinstance(item, str) for item in value)


def _has_annotations(value: object, length: int, depth: int) -> bool:
    if depth == 0:
        return False
    if isinstance(value, dict):
        return any(_has_annotations(inner, length, depth - 1) for inner in value.values())
    if not isinstance(value, list):
        return False
    if value and all(isinstance(item, str) and _TAG.fullmatch(item) for item in value):
        return any(item != "O" for item in value)
    return any(
        _is_annotation(item, length) or _has_annotations(item, length, depth - 1) for item in value
    )


def _is_annotation(item: object, length: int) -> bool:
    bounds = bounds_of(item)
    if bounds is None and isinstance(item, dict):
        return any(_are_numbers(item.get(name)) for name in _OFFSETS)
    return bounds is not None and 0 <= bounds[0] <= bounds[1] <= length


def _are_numbers(value: object) -> bool:
    """Whether it is `[0, 4]` or a list of such."""
    if isinstance(value, list) and value and isinstance(value[0], list):
        return all(map(_are_numbers, value))
    return isinstance(value, list) and len(value) > 1 and all(type(item) is int for item in value)
