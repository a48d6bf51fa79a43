"""The names that code uses, in full, whatever its imports call them."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def used_names(tree: ast.AST) -> Iterator[tuple[ast.Name | ast.Attribute, str]]:
    """Each name that is read, as `time.time` for `now` behind `from time import time as now`."""
    imported: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {own.asname: own.name for own in node.names if own.asname}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imported |= {own.asname or own.name: f"{node.module}.{own.name}" for own in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            first, dot, rest = ast.unparse(node).partition(".")
            yield node, imported.get(first, first) + dot + rest
