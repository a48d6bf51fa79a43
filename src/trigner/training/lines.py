"""YAML with the line of every key, so that errors can name it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import SafeConstructor

from trigner.corpora import read_text
from trigner.errors import InputError
from trigner.mentions import shortened

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


MOST_VALUES = 100_000
DEEPEST = 50
"""Aliases let a few lines stand for any number of values, and one for itself."""


def read_yaml(path: Path) -> LocatedYaml:
    """A YAML file of a mapping; an empty one has nothing in it.

    Raises InputError, with the line, for anything else and for a duplicate key.
    """
    root = _composed(read_text(path), path)
    lines: dict[KeyPath, int] = {(): 1}
    if root is None:
        return LocatedYaml(path, {}, lines)
    if not isinstance(root, yaml.MappingNode):
        raise InputError("must be a mapping", path=path, line=1)
    return LocatedYaml(path, _value(root, (), lines, path), lines)


def yaml_value(text: str) -> Any:
    """The value that a text of YAML is. Raises InputError, without a place, when it is none."""
    root = _composed(text, None)
    return None if root is None else _value(root, (), {}, None)


def _composed(text: str, path: Path | None) -> yaml.Node | None:
    try:
        # Only walked through: nothing but plain values is constructed.
        root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = f"is not valid YAML: {getattr(error, 'problem', error)}"
        line = None if mark is None else mark.line + 1
        raise InputError(message, path=path, line=line) from error
    except RecursionError as error:
        raise InputError("is not valid YAML: nested too deep", path=path) from error
    return root


def _value(node: yaml.Node, at: KeyPath, lines: dict[KeyPath, int], path: Path | None) -> Any:
    own = node.start_mark.line + 1
    lines.setdefault(at, own)
    if len(at) > DEEPEST or len(lines) > MOST_VALUES:
        message = f"more than {DEEPEST} levels or {MOST_VALUES:,} values, aliases resolved"
        raise InputError(message, path=path, line=own)
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise InputError("a key must be a name", path=path, line=line)
            key = str(key_node.value)
            if key in found:
                raise InputError(f"duplicate key {key!r}", path=path, line=line)
            lines[(*at, key)] = line
            found[key] = _value(value_node, (*at, key), lines, path)
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(child, (*at, n), lines, path) for n, child in enumerate(node.value)]
    return _plain(node, path)


def _plain(node: yaml.Node, path: Path | None) -> Any:
    try:
        value = SafeConstructor().construct_object(node)
        if value is None or isinstance(value, str | int | float):
            return value
        reason = f"it is a {type(value).__name__}: put it in quotes if it is a text"
    except (yaml.YAMLError, LookupError, ValueError, OverflowError) as error:
        reason = getattr(error, "problem", None) or str(error)
    shown = shortened(str(node.value))
    message = f"{shown} is not a text, a number, true, false or null: {reason}"
    raise InputError(message, path=path, line=node.start_mark.line + 1)
