"""Rules that hold for all code of the package: nothing that is read is ever run as code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from used_names import used_names

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "scripts", "benchmarks", "examples")
MODULES = sorted(path for name in FOLDERS for path in (ROOT / name).rglob("*.py"))

RUNS_DATA = {
    *("pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "code"),
    "builtins",  # of which nobody needs the name but to hide what stands below
}
"""Modules whose purpose is to make code or objects of any class out of data."""

BUILT_IN = {"eval", "exec", "compile", "__import__", "__builtins__"}
PICKLES = {"read_pickle", "to_pickle"}
SHELLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
UNSAFE_YAML = {"yaml.load", "yaml.unsafe_load", "yaml.full_load", "yaml.load_all"}


def faults(tree: ast.AST) -> list[str]:
    """What a module does that none may, with its lines."""
    found = []
    names = dict(used_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = {alias.name.partition(".")[0] for alias in node.names}
            found += [(node, f"imports {name}") for name in modules & RUNS_DATA]
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and (node.module or "").partition(".")[0] in RUNS_DATA:
                found.append((node, f"imports {node.module}"))
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            found += [(node, f"imports {name}") for name in whole & (SHELLS | UNSAFE_YAML)]
        elif isinstance(node, ast.Call):
            name = names.get(node.func) or ast.unparse(node.func)
            found += [(node, fault) for fault in in_call(node, name)]
        elif node in names:
            name = names[node].removeprefix("builtins.")
            if name in BUILT_IN | SHELLS | UNSAFE_YAML:
                found.append((node, f"uses {name}"))
    return [f"line {node.lineno}: {fault}" for node, fault in found]


def in_call(node: ast.Call, name: str) -> list[str]:
    if name.rpartition(".")[2] in PICKLES:
        return [f"calls {name}"]
    options = {option.arg: option.value for option in node.keywords}
    found = []
    for option in ("trust_remote_code", "shell", "allow_pickle"):
        value = options.get(option)
        if value is not None and not (isinstance(value, ast.Constant) and value.value is False):
            found.append(f"{option} is not False")
    weights_only = options.get("weights_only")
    if name == "torch.load" and not (
        isinstance(weights_only, ast.Constant) and weights_only.value is True
    ):
        found.append("torch.load without weights_only=True")
    return found


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
