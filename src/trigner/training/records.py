"""What a training writes down about itself, to be held against when it is taken up again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trigner.atomic_files import write_text
from trigner.errors import InputError


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write all of a JSON file or nothing. Raises TrignerError when it cannot be written."""
    write_text(path, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def read_record(path: Path) -> dict[str, Any]:
    """What `write_record` wrote. Raises InputError when it cannot be read."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"is damaged: {error}", path=path) from error


def differences(before: Any, now: Any, name: str = "") -> set[str]:
    """Dotted names of what differs; an absent value is like None."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        found: set[str] = set()
        for key in before.keys() | now.keys():
            found |= differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
        return found
    return set() if before == now else {name}
