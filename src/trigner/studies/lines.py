"""YAML in which every key knows its line, so that an error can name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from trigner.corpora.reading import read_text
from trigner.errors import InputError

Place = tuple[str | int, ...]
"""Keys and positions from the top of a file down to a value."""


@dataclass(frozen=True, slots=True)
class Located:
    """What a YAML file holds, and the line on which each of its values begins (from 1)."""

    path: Path
    data: Mapping[str, Any]
    lines: Mapping[Place, int]

    def error(self, message: str, place: Place = ()) -> InputError:
        """An error at a place, or at the nearest place above it that the file has."""
        while place not in self.lines:
            place = place[:-1]
        return InputError(message, path=self.path, line=self.lines[place])


def read_located(path: Path) -> Located:
    """A YAML file of a mapping. Raises InputError, with the line, for anything else and for a key
    that stands twice."""
    try:
        # Only to be walked through: nothing is constructed but plain values.
        root = yaml.compose(read_text(path), Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = f"is not YAML: {getattr(error, 'problem', error)}"
        line = None if mark is None else mark.line + 1
        raise InputError(message, path=path, line=line) from error
    lines: dict[Place, int] = {(): 1}
    if not isinstance(root, yaml.MappingNode):
        raise InputError("must be a mapping", path=path, line=1)
    return Located(path, _value(root, (), lines, path), lines)


def _value(node: yaml.Node, place: Place, lines: dict[Place, int], path: Path) -> Any:
    lines.setdefault(place, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key, line = str(key_node.value), key_node.start_mark.line + 1
            if key in found:
                raise InputError(f"{key!r} stands twice", path=path, line=line)
            lines[(*place, key)] = line
            found[key] = _value(value_node, (*place, key), lines, path)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(child, (*place, n), lines, path) for n, child in enumerate(node.value)]
    return SafeConstructor().construct_object(node)
