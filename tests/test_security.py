"""Rules that hold for all code of the package: nothing that is read is ever run as code."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

from used_names import used_names

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "scripts", "research", "examples")
MODULES = sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))

RUNS_DATA = {
    *("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"),
    *("code", "runpy"),
    "builtins",  # of which nobody needs the name but to hide what stands below
}
"""Modules whose purpose is to make code or objects of any class out of data."""

BUILT_IN = {"eval", "exec", "compile", "__import__", "__builtins__"}
PICKLES = {"read_pickle", "to_pickle"}
SHELLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
UNSAFE_YAML = {
    f"yaml.{kind}load{many}" for kind in ("", "unsafe_", "full_") for many in ("", "_all")
}
UNPICKLING = {"torch.hub.load", "torch.hub.load_state_dict_from_url", "torch.jit.load"}
PROGRAMS = ("os.exec", "os.spawn", "os.posix_spawn")
"""Beginnings of the names of what becomes another program."""


def is_forbidden(name: str) -> bool:
    """Whether no module may name this."""
    known = name in SHELLS | UNSAFE_YAML | UNPICKLING
    return known or name.startswith(PROGRAMS) or name.rpartition(".")[2] in PICKLES


def faults(tree: ast.AST) -> list[str]:
    """What a module does that none may, with its lines."""
    found = []
    names = dict(used_names(tree))
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = {alias.name.partition(".")[0] for alias in node.names}
            found += [(node, f"imports {name}") for name in modules & RUNS_DATA]
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and (node.module or "").partition(".")[0] in RUNS_DATA:
                found.append((node, f"imports {node.module}"))
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found += [(node, f"imports {name}") for name in whole if is_forbidden(name)]
        elif isinstance(node, ast.Call):
            options = {option.arg: option.value for option in node.keywords}
            found += [(node, fault) for fault in in_options(options)]
            if names.get(node.func) == "torch.load" and not is_(True, options.get("weights_only")):
                found.append((node, "torch.load without weights_only=True"))
        elif isinstance(node, ast.Dict):  # which may become options
            keys = (getattr(key, "value", None) for key in node.keys)
            options = dict(zip(keys, node.values, strict=True))
            found += [(node, fault) for fault in in_options(options)]
        elif node in names:
            name = names[node].removeprefix("builtins.")
            handed_on = name == "torch.load" and node not in called
            if name in BUILT_IN or is_forbidden(name) or handed_on:
                found.append((node, f"uses {name}"))
    return [f"line {node.lineno}: {fault}" for node, fault in found]


def in_options(options: Mapping[object, ast.expr]) -> list[str]:
    names = ("trust_remote_code", "shell", "allow_pickle")
    return [
        f"{own} is not False" for own in names if own in options and not is_(False, options[own])
    ]


def is_(wanted: bool, value: ast.expr | None) -> bool:
    """Whether this is written there, so that nothing has to be computed to know it."""
    return isinstance(value, ast.Constant) and value.value is wanted


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_that_is_read_is_run(path):
    assert faults(ast.parse(path.read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "code",
    [
        "import pickle",
        "from pickle import loads",
        "import joblib.numpy_pickle",
        "eval('1')",
        "exec(text)",
        "__import__(name)",
        "import builtins",
        "builtins.eval('1')",
        "__builtins__['eval']('1')",
        "from builtins import eval as run",
        "values = map(eval, texts)",
        "os.system('ls')",
        "subprocess.run('ls', shell=True)",
        "numpy.load(path, allow_pickle=True)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
        "AutoModel.from_pretrained(name, trust_remote_code=wanted)",
        "torch.load(path)",
        "from torch import load\nload(path)",
        "torch.load(path, weights_only=False)",
        "yaml.load(text)",
        "import yaml as y\ny.load(text)",
        "from yaml import load",
        "from os import system",
        "pandas.read_pickle(path)",
        "map(pandas.read_pickle, paths)",
        "import _pickle",
        "from runpy import run_path",
        "yaml.unsafe_load_all(text)",
        "yaml.full_load_all(text)",
        "torch.hub.load(name, model)",
        "from torch import hub\nhub.load(name, model)",
        "torch.jit.load(path)",
        "functools.partial(torch.load, path)",
        "from torch import load\nmap(load, paths)",
        "os.execvp(name, arguments)",
        "from os import execv",
        "os.spawnl(mode, path)",
        "import runpy\nrunpy.run_path(path)",
        "subprocess.run('ls', **{'shell': True})",
        "options = {'allow_pickle': wanted}",
        "functools.partial(numpy.load, allow_pickle=True)",
    ],
)
def test_the_rule_finds_what_it_forbids(code):
    assert len(faults(ast.parse(code))) == 1


def test_the_rule_lets_pass_what_is_safe():
    safe = """
model.eval()
re.compile(pattern)
torch.load(path, weights_only=True)
AutoModel.from_pretrained(name, trust_remote_code=False)
yaml.safe_load(text)
from re import compile
compile(pattern)
"""
    assert faults(ast.parse(safe)) == []


def test_all_of_the_hub_is_asked_for_without_its_code():
    """transformers' default is not relied on: each call says so itself."""
    asking = [
        node
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".from_pretrained")
    ]
    assert len(asking) >= 6
    for node in asking:
        assert "trust_remote_code" in {option.arg for option in node.keywords}, ast.unparse(node)
