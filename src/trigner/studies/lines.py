"""YAML with the line of every key, so that errors can name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from trigner.corpora.reading import read_text
from trigner.errors import InputError

KeyPath = tuple[str | int, ...]
"""Keys and positions from the top of a file down to a value."""


@dataclass(frozen=True, slots=True)
class LocatedYaml:
    """What a YAML file holds, and the line on which each of its values begins (from 1)."""

    path: Path
    data: Mapping[str, Any]
    lines: Mapping[KeyPath, int]

    def error(self, message: str, at: KeyPath = ()) -> InputError:
        """An error at a key, or at the nearest key above it that the file has."""
        while at not in self.lines:
            at = at[:-1]
        return InputError(message, path=self.path, line=self.lines[at])


def read_yaml(path: Path) -> LocatedYaml:
    """A YAML file of a mapping. Raises InputError, with the line, for anything else and for a
    duplicate key."""
    try:
        # Only walked through: nothing but plain values is constructed.
        root = yaml.compose(read_text(path), Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = f"is not valid YAML: {getattr(error, 'problem', error)}"
        line = None if mark is None else mark.line + 1
        raise InputError(message, path=path, line=line) from error
    lines: dict[KeyPath, int] = {(): 1}
    if not isinstance(root, yaml.MappingNode):
        raise InputError("must be a mapping", path=path, line=1)
    return LocatedYaml(path, _value(root, (), lines, path), lines)


def _value(node: yaml.Node, at: KeyPath, lines: dict[KeyPath, int], path: Path) -> Any:
    lines.setdefault(at, node.start_mark.line + 1)
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key, line = str(key_node.value), key_node.start_mark.line + 1
            if key in found:
                raise InputError(f"duplicate key {key!r}", path=path, line=line)
            lines[(*at, key)] = line
            found[key] = _value(value_node, (*at, key), lines, path)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(child, (*at, n), lines, path) for n, child in enumerate(node.value)]
    return SafeConstructor().construct_object(node)
