"""What is built of this source: everything a reader needs, and the same bytes each time."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "Makefile",
    "mkdocs.yml",
    "Dockerfile",
    "compose.yaml",
    "constraints.txt",
    "constraints-oldest.txt",
    "requirements-minilm.txt",
    "requirements-local-llm.txt",
)
FOLDERS = ("src", "tests", "docs", "data", "scripts", "benchmarks", "examples")


def test_the_source_distribution_names_what_its_makefile_needs():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    named = settings["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    found = {path.relative_to(ROOT).as_posix() for own in named for path in ROOT.glob(own[1:])}
    assert {*FOLDERS} <= found
    assert {*FILES} - {"pyproject.toml", "README.md", "LICENSE"} <= found  # these always go along
    assert all((ROOT / name).exists() for name in (*FILES, *FOLDERS))


def build(source: Path, out: Path, kind: str, epoch: str) -> Path:
    """Build a wheel or a source distribution of a folder, by the build backend alone."""
    code = "import sys; from hatchling.build import *; globals()[sys.argv[1]](sys.argv[2])"
    out.mkdir()
    subprocess.run(
        [sys.executable, "-c", code, f"build_{kind}", str(out)],
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": epoch},
        check=True,
    )
    (built,) = out.iterdir()
    return built


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Two copies of the source, of other times and in other folders."""
    copies = []
    for name in ("one", "another place"):
        copy = tmp_path_factory.mktemp("source") / name
        ignored = shutil.ignore_patterns(".*", "__pycache__", "runs", "*.pyc")
        shutil.copytree(ROOT, copy, ignore=ignored, copy_function=shutil.copy, symlinks=True)
        shutil.copy(ROOT / ".gitignore", copy)
        shutil.copy(ROOT / ".dockerignore", copy)
        copies.append(copy)
    for path in copies[1].rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    return copies


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_two_builds_have_equal_bytes(sources, tmp_path, kind):
    pytest.importorskip("hatchling")
    built = [build(own, tmp_path / str(n), kind, "1700000000") for n, own in enumerate(sources)]
    assert built[0].name == built[1].name
    hashes = {hashlib.sha256(path.read_bytes()).hexdigest() for path in built}
    assert len(hashes) == 1
    if kind == "wheel":
        names = zipfile.ZipFile(built[0]).namelist()
        assert "trigner/bundled/model.onnx" in names
        assert "trigner/serving/page/index.html" in names
        assert not [name for name in names if name.endswith(".pyc") or name.startswith("tests")]
    else:
        with tarfile.open(built[0]) as archive:
            names = [name.partition("/")[2] for name in archive.getnames()]
        assert {*FILES, "src/trigner/__init__.py", "tests/conftest.py"} <= {*names}
        assert not [name for name in names if name.startswith(("runs/", ".venv", "shared/"))]
