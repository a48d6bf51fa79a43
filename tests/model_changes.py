"""Model folders that say something else than what was saved, with hashes that are right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trigner.models.folder import DESCRIPTION, HASH, hash_of_description, hash_of_file


def change_description(folder: Path, **changes: Any) -> Path:
    """Change fields of a description; those of `runtime`, `model` and `state` one by one."""
    path = folder / DESCRIPTION
    content = json.loads(path.read_text("utf-8"))
    for name, value in changes.items():
        if isinstance(value, dict) and value and name in ("runtime", "model", "state"):
            value = {**content[name], **value}
        content[name] = value
    content.pop(HASH, None)
    path.write_text(json.dumps({**content, HASH: hash_of_description(content)}), "utf-8")
    return folder


def accept_files(folder: Path) -> Path:
    """Let the description have the hashes of the files as they are now."""
    content = json.loads((folder / DESCRIPTION).read_text("utf-8"))
    return change_description(
        folder, files={name: hash_of_file(folder / name) for name in content["files"]}
    )
