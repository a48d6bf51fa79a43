"""What a training records about itself, so that resuming it can be checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trigner.errors import InputError
from trigner.machine import is_leftover, remove_leftovers, write_text

RUN = "run.json"
"""Settings and data of a run, written before it starts: a resumption must agree with them."""

ORDER = "order"
"""The name by which a run has its training documents in their order: batches are drawn by it."""

OTHERS = {"finished": int, "history": list, "reduced": dict}
"""What else a record holds, once there is something to say."""


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write all of a JSON file or nothing, and remove what was cut off before.

    Raises TrignerError when it cannot be written.
    """
    remove_leftovers(path)
    write_text(path, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def read_record(path: Path, advice: str = "") -> dict[str, Any]:
    """What `write_record` wrote. Raises InputError, with `advice`, when it cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("it is not an object")
        return content
    except (OSError, ValueError, RecursionError) as error:
        reason = "; ".join(filter(None, (f"is damaged: {error}", advice)))
        raise InputError(reason, path=path) from error


def differences(before: Any, now: Any, name: str = "") -> set[str]:
    """Dotted names of what differs; an absent value is like None."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        found: set[str] = set()
        for key in before.keys() | now.keys():
            found |= differences(before.get(key), now.get(key), f"{name}.{key}" if name else key)
        return found
    return set() if before == now else {name}


def record_to_resume(out: Path, run: Mapping[str, Any]) -> dict[str, Any]:
    """What else the training in `out` recorded.

    `finished` epochs and their `history` when it ended, and settings that memory `reduced`. Where
    nothing is yet, the training was interrupted before its first record, and begins.

    Raises InputError when there is another training than `run`, or something else.
    """
    path = out / RUN
    if not out.exists() or (out.is_dir() and all(map(is_leftover, out.iterdir()))):
        return {}
    if not path.is_file():
        raise InputError("contains no training to resume: omit --resume", path=out)
    before = read_record(path)
    others = {name: before.pop(name, None) for name in OTHERS}
    for name, kind in {"settings": dict, **OTHERS}.items():
        found = before.get(name) if name == "settings" else others[name]
        if found is not None and type(found) is not kind:
            raise InputError(f"is damaged: {name} is not a {kind.__name__}", path=path)
    if (others["finished"] is None) != (others["history"] is None):
        raise InputError("is damaged: finished and history belong together", path=path)
    different = sorted(differences(before, run))
    if different:
        message = f"was started with different {', '.join(different)}; resume with the same"
        if "settings.preset" in different and (preset := before["settings"].get("preset")):
            message += f", --preset {preset}"
        raise InputError(message, path=path)
    return {name: value for name, value in others.items() if value is not None}


def finish_record(out: Path, epochs: int, history: Sequence[Mapping[str, float]]) -> None:
    """Record that nothing is left to do."""
    finished = {"finished": epochs, "history": list(history)}
    write_record(out / RUN, {**read_record(out / RUN), **finished})
