"""The shape of the code: which room may import which, what stays light, where tests stand."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "trigner"
MODULES = sorted(PACKAGE.rglob("*.py"))

# A room may import the rooms of the layers above its own, through their `__init__`.
LAYERS = (
    {"arrays", "errors", "mentions"},
    {"machine"},
    {"qualifiers", "schemes", "text"},
    {"batches", "corpora", "encoders", "networks", "triplets"},
    {"evaluation"},
    {"rendering", "systems"},
    {"models"},
    {"families/core"},
    {"families/onnx"},
    {"families/tagging"},
    {"families/hypergraph", "families/seq2seq", "families/spans", "families/transition"},
    {"families/generative", "families/segments"},
    {"pipeline"},
    {"linking", "pipeline/bulk", "training"},
    {"integrations", "serving"},
    {"cli"},
    {"lab/prompting"},
    {"lab/studies"},
    {"lab/commands"},
    {"__main__"},
)
PEERS = {("mentions", "errors")}  # and within a layer

NEVER_TORCH = {
    *("arrays", "batches", "corpora", "errors", "evaluation", "lab/prompting", "machine"),
    *("mentions", "models", "qualifiers", "rendering", "schemes", "text"),
}
TORCH_ONLY_INSIDE_FUNCTIONS = NEVER_TORCH | {
    *("__init__", "__main__", "cli", "families", "lab", "lab/commands", "linking", "pipeline"),
    "systems",
}
HEAVY = {"torch", "transformers", "accelerate", "safetensors", "tensorboard", "matplotlib"}
HEAVY |= {"pandas", "jinja2", "peft", "pyarrow", "ray", "pyspark", "datasets"}

NAMELESS = {"utils", "util", "common", "helpers", "helper", "misc"}
LONGEST_FILE = 400
LONGEST_FUNCTION = 60


def name_of(path: Path) -> str:
    """Path below the package, as a readable id for a test's case."""
    return path.relative_to(PACKAGE).as_posix()


def room_of(path: Path) -> str:
    """`corpora` for `corpora/brat.py`, `families/spans` for `families/spans/spec.py`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    nested = parts[0] in ("families", "lab") or parts[:2] == ("pipeline", "bulk")
    return "/".join(parts[:2]) if nested and len(parts) > 2 else parts[0]


def layer_of(room: str) -> int:
    """How far a room stands from the shared values; a room without a layer is an error."""
    found = [number for number, rooms in enumerate(LAYERS) if room in rooms]
    assert found, f"room {room!r} stands in no layer: name its layer in LAYERS"
    return found[0]


def imports(node: ast.AST, path: Path, *, into_functions: bool) -> Iterator[str]:
    """Dotted names of what is imported, relative imports resolved.

    `from a.b import c` gives both `a.b` and `a.b.c`, as `c` may be a module. Without
    `into_functions` only what an import of the module runs: no function bodies, no
    `if TYPE_CHECKING`.
    """
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = child.module or ""
            if child.level:
                inside = path.relative_to(PACKAGE.parent).parts[: -child.level]
                base = ".".join(inside + ((base,) if base else ()))
            yield base
            yield from (f"{base}.{alias.name}" for alias in child.names)
        elif into_functions:
            yield from imports(child, path, into_functions=True)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for statement in child.orelse:
                yield from imports(ast.Module([statement], []), path, into_functions=False)
        elif not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from imports(child, path, into_functions=False)


def imported(path: Path, *, into_functions: bool) -> set[str]:
    return set(imports(ast.parse(path.read_text("utf-8")), path, into_functions=into_functions))


def target_of(name: str) -> str | None:
    """The room of an imported dotted name; None for other packages and the package itself."""
    parts = name.split(".")
    if parts[0] != "trigner" or len(parts) == 1 or parts[1] in ("__version__", "load"):
        return None
    nested = parts[1] in ("families", "lab") or parts[1:3] == ["pipeline", "bulk"]
    return "/".join(parts[1:3]) if nested and len(parts) > 2 else parts[1]


def beyond_its_layer(path: Path) -> set[tuple[str, str]]:
    """A module's room with each other room that it imports and that is in no layer above."""
    room = room_of(path)
    if room == "__init__":  # offers names of any room, and loads them when asked for
        return set()
    rooms = {target_of(name) for name in imported(path, into_functions=True)}
    others = rooms - {room, None, "families", "lab"}
    return {(room, other) for other in others if layer_of(other) >= layer_of(room)}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_other_rooms_are_entered_by_their_door(path):
    """What one room takes from another is in that room's `__init__`."""
    around = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            room = target_of(node.module)
            door = f"trigner.{(room or '').replace('/', '.')}"
            if room not in (None, room_of(path)) and node.module != door:
                around.append(node.module)
    assert room_of(path) == "__init__" or not around


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path):
    wrong = {other for _, other in beyond_its_layer(path) - PEERS}
    assert not wrong, f"{room_of(path)} must not import {sorted(wrong)}"


def test_every_exception_is_used():
    stale = PEERS.difference(*map(beyond_its_layer, MODULES))
    assert not stale, f"no import needs {sorted(stale)} of PEERS"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_light_rooms_name_no_heavy_library(path):
    room = room_of(path)
    found: set[str] = set()
    if room in NEVER_TORCH:
        found |= {"torch", "transformers"} & top_level(imported(path, into_functions=True))
    if room in TORCH_ONLY_INSIDE_FUNCTIONS:
        found |= HEAVY & top_level(imported(path, into_functions=False))
    assert not found


def top_level(names: set[str]) -> set[str]:
    return {name.split(".")[0] for name in names}


def test_light_rooms_load_no_heavy_library():
    light = [
        ".".join(("trigner", *path.relative_to(PACKAGE).with_suffix("").parts))
        for path in MODULES
        if room_of(path) in NEVER_TORCH | {"batches"}
    ]
    names = [name.removesuffix(".__init__") for name in light]
    assert not HEAVY & loaded_by(f"import importlib; [importlib.import_module(n) for n in {names}]")


def test_import_of_the_package_is_light():
    loaded = loaded_by("import trigner; trigner.__version__")
    assert not (HEAVY | {"numpy", "onnxruntime", "tokenizers"}) & loaded


def test_help_is_light():
    code = """
import sys
from trigner.cli import main
sys.argv = ["trigner", "--help"]
try:
    main()
except SystemExit as stop:
    assert stop.code in (0, None), stop.code
"""
    assert not HEAVY & loaded_by(code)


def loaded_by(code: str) -> set[str]:
    """Top-level modules that a fresh interpreter holds after `code`."""
    report = "\nimport json, sys; print('\\n' + json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", code + report], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return top_level(set(json.loads(run.stdout.splitlines()[-1])))


def body_length(function):
    """Lines of what a function does: a command's options and its help are no code."""
    has_docstring = ast.get_docstring(function) is not None
    first = function.body[1 if has_docstring and len(function.body) > 1 else 0]
    return function.end_lineno - first.lineno + 1


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_files_and_functions_stay_short(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= LONGEST_FILE
    lengths = {
        node.name: body_length(node)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    assert not {name: n for name, n in lengths.items() if n > LONGEST_FUNCTION}


def test_every_file_is_named_after_a_concept():
    nameless = [
        path.relative_to(ROOT).as_posix()
        for folder in ("src", "tests")
        for path in (ROOT / folder).rglob("*.py")
        if NAMELESS & set(path.relative_to(ROOT).with_suffix("").parts)
    ]
    assert not nameless


FACELESS = {"families", "integrations", "lab", "lab/commands"}
"""Rooms that export nothing: what stands in them is named by its module."""


@pytest.mark.parametrize(
    "room", sorted({room_of(path) for path in MODULES} - {"__main__", "families", "lab"})
)
def test_every_room_has_its_tests(room):
    """`tests/ROOM/` for a folder, `tests/test_ROOM.py` for a module of its own."""
    if (PACKAGE / room).is_dir():
        assert list((ROOT / "tests" / room).glob("test_*.py")), f"no tests in tests/{room}"
    else:
        name = "init" if room == "__init__" else room
        assert (ROOT / "tests" / f"test_{name}.py").is_file(), f"no tests/test_{name}.py"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("__init__.py")), ids=name_of)
def test_exported_names_exist(path):
    room = importlib.import_module(".".join(path.parent.relative_to(PACKAGE.parent).parts))
    names = getattr(room, "__all__", [])
    assert names or room_of(path) in FACELESS, "a room says what is public"
    assert len(set(names)) == len(names)
    assert not [name for name in names if not hasattr(room, name)]


def test_the_import_walk_sees_what_it_must():
    source = """
import torch.nn as nn
from typing import TYPE_CHECKING
from ..corpora import brat
if TYPE_CHECKING:
    import accelerate
class Room:
    import numpy
    def work(self):
        from transformers import AutoModel
"""
    path = PACKAGE / "text" / "example.py"
    tree = ast.parse(source)
    runs = set(imports(tree, path, into_functions=False))
    everything = set(imports(tree, path, into_functions=True))
    assert {"torch.nn", "numpy", "trigner.corpora", "trigner.corpora.brat"} <= runs
    assert not {"accelerate", "transformers"} & runs
    assert {"accelerate", "transformers"} <= everything
