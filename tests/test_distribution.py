"""What is built of this source: everything a reader needs, and the same bytes each time."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from importlib.metadata import distribution, version
from pathlib import Path
from threading import Thread

import pytest
from packaging.utils import canonicalize_name

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
    "requirements-fuzz.txt",
    "requirements-supply.txt",
    "requirements-local-llm.txt",
)
FOLDERS = ("src", "tests", "docs", "data", "scripts", "research", "examples", "hashes")
HASHED = sorted((ROOT / "hashes").glob("*.txt"))
PLATFORM = f"cp{sys.version_info[0]}{sys.version_info[1]}-{sysconfig.get_platform()}"
PARTS = sorted((ROOT / "hashes").glob("*/*.txt"))


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


SBOM_MAKER = ".venv-supply/bin/cyclonedx-py"


def test_the_sbom_names_what_is_installed(tmp_path):
    """By the command of `make dist`, on the environment of these tests.

    Without comparing it with CycloneDX's schema as that does: 12 seconds for a hundred addresses.
    """
    if not (ROOT / SBOM_MAKER).exists() or shutil.which("make") is None:
        pytest.skip("what makes it is not installed: `make test-all` and `make dist` do")
    line = ["make", "-n", "dist"]
    recipe = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = recipe.replace("\\\n", "").splitlines()
    (command,) = (shlex.split(own) for own in lines if own.startswith(SBOM_MAKER))
    sbom = tmp_path / "sbom.json"
    places = {"dist/trigner.cdx.json": str(sbom), ".venv/bin/python": sys.executable}
    assert {*places} <= {*command}
    command = [*(places.get(own, own) for own in command), "--no-validate"]
    subprocess.run(command, cwd=ROOT, check=True)
    told = json.loads(sbom.read_text("utf-8"))
    assert (told["bomFormat"], told["metadata"]["component"]["name"]) == ("CycloneDX", "trigner")
    found = {own["name"]: own["version"] for own in told["components"]}
    for name in ("torch", "transformers", "tokenizers"):
        assert found[name] == version(name)


def script(name: str):
    """A module of `scripts/`."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pins(path: Path) -> dict[str, str]:
    """Package -> version, of a file of constraints or requirements."""
    lines = re.findall(r"^([\w.-]+)==([\w.]+)", path.read_text("utf-8"), re.MULTILINE)
    return {canonicalize_name(name): version for name, version in lines}


@pytest.mark.parametrize("path", HASHED, ids=lambda path: path.stem)
def test_hashes_are_those_of_the_constraints(path):
    constraints = ROOT / f"{path.stem.partition('-cp')[0]}.txt"
    found, wanted = pins(path), pins(constraints)
    assert len(found) > 100
    assert {name: own for name, own in found.items() if wanted.get(name) != own} == {}
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")]
    line = re.compile(r"\S+==\S+ --hash=sha256:[0-9a-f]{64}|--no-binary \S+")
    assert all(line.fullmatch(own) for own in lines)


def test_hashes_are_those_that_pip_reports():
    def item(name, version, end=".whl", **info):
        info = {"url": f"file:///{name}-{version}{end}#sha256=x", **info}
        return {"metadata": {"name": name, "version": version}, "download_info": info}

    archive = {"hashes": {"sha256": "ab" * 32}}
    installed = [
        item("B", "2.0+cpu", archive_info=archive),
        item("a", "1", ".tar.gz", archive_info=archive),
    ]
    report = {"install": [*installed, item("trigner", "0", dir_info={"editable": True})]}
    lines = script("hashes").requirements(report).splitlines()[1:]
    hashed = f"--hash=sha256:{'ab' * 32}"
    assert lines == ["--no-binary a", f"a==1 {hashed}", f"B==2.0 {hashed}"]
    report["install"].append(item("c", "1", archive_info={}))
    with pytest.raises(ValueError, match="c: no SHA-256"):
        script("hashes").requirements(report)


def test_hashes_of_a_part_are_lines_of_the_whole():
    one, two = (f"{name}==1 --hash=sha256:{'0' * 64}\n" for name in ("A_b", "c"))
    part = script("hashes").part
    assert part(f"# head\n--no-binary c\n{one}{two}", {"a-b"}).splitlines()[1:] == [one.strip()]
    with pytest.raises(ValueError, match="without a hash: d"):
        part(one, {"a-b", "d"})


@pytest.mark.parametrize("path", PARTS, ids=lambda path: path.stem)
def test_image_and_demo_have_the_hashes_of_all_that_they_need(path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "scripts")
    kind, _, platform = path.stem.partition("-")
    whole = ROOT / "hashes" / f"constraints-{platform}.txt"
    lines = set(path.read_text("utf-8").splitlines())
    assert lines <= set(whole.read_text("utf-8").splitlines())
    needed, found = script("hashes").names(kind), pins(path)
    if platform != PLATFORM or any(
        name in needed and not _is(distribution(name), own) for name, own in found.items()
    ):
        pytest.skip("this environment is not the one that the file was written in")
    assert needed == {*found}
    runs = {"core": "onnxruntime", "serve": "fastapi", "train": "torch", "build": "hatchling"}
    assert runs[kind] in found


@pytest.fixture
def make(tmp_path):
    """What `make` would do in a folder where nothing was made yet."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    for name in ("minilm", "local-llm"):
        shutil.copy(ROOT / f"requirements-{name}.txt", tmp_path)
    (tmp_path / "hashes").mkdir()
    hashed = tmp_path / "hashes" / f"constraints-{PLATFORM}.txt"

    def run(*options, target="env"):
        line = ["make", "-n", target, f"PYTHON={sys.executable}", *options]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    if shutil.which("make") is None:
        pytest.skip("no make here")
    return run, hashed, tmp_path


def test_with_required_hashes_nothing_is_installed_without_one(make):
    run, hashed, folder = make
    code, _, err = run("HASHES=require")
    assert code == 2  # none for this platform
    assert f"No rule to make target 'hashes/{hashed.name}'" in err
    hashed.write_text("")
    code, out, _ = run("HASHES=require")
    assert code == 0
    installs = [own for own in re.split(r"\n(?=\S)", out) if "pip install" in own]
    assert len(installs) == 4
    # These two files have hashes of their own, which pip checks then.
    own = ("requirements-minilm.txt", "requirements-local-llm.txt")
    for line in installs:
        checked = "--require-hashes" in line or line.rstrip().split(" ")[-1] in own
        assert checked or "--no-deps --no-build-isolation --editable ." in line or own[1] in line
    for name in own:
        assert "--hash=sha256:" in (ROOT / name).read_text("utf-8")
    assert "--constraint" not in out
    (folder / ".venv").mkdir()
    (folder / ".venv" / ".ready").write_text("")
    os.utime(hashed, (2e9, 2e9))
    assert "pip install" in run("HASHES=require")[1]
    assert "pip install" not in run()[1]


def test_as_a_rule_versions_are_what_is_asked_for(make):
    code, out, _ = make[0]()
    assert code == 0
    assert re.search(r'--constraint constraints\.txt --editable "\.\[all,dev,docs\]"', out)
    assert "--no-build-isolation" not in out


def test_the_demo_extracts_before_it_installs_what_training_needs(make):
    code, out, err = make[0](target="demo")
    assert code == 0, err
    extracted = out.index(".venv-demo/bin/trigner extract")
    core, train = (out.index(f'--editable "{own}"') for own in (".", ".[train]"))
    assert core < extracted < train < out.index(".venv-demo/bin/trigner train")
    assert ".[all" not in out
    # The tutorial's models are in runs/.
    assert re.findall(r"^rm .*", out, re.MULTILINE) == ["rm -rf build/demo"]
    assert "runs" not in make[0](target="clean")[1]


@pytest.mark.skipif(sys.platform != "linux", reason="PyPI's builds for others are small")
def test_the_demo_takes_a_small_build_of_pytorch_where_it_can(make, tmp_path, monkeypatch):
    run, tools = make[0], tmp_path / "tools"
    (tmp_path / "index" / "torch").mkdir(parents=True)
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path / "index")
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        index = f"http://127.0.0.1:{server.server_port}"
        tools.mkdir()
        for name in ("uname", "timeout", "make", "sh"):
            (tools / name).symlink_to(shutil.which(name))
        monkeypatch.setenv("PATH", str(tools))
        try:
            assert f"--extra-index-url {index} " in run(f"CPU_BUILDS={index}", target="demo")[1]
            (tools / "nvidia-smi").symlink_to(shutil.which("sh", path="/bin:/usr/bin"))
            assert index not in run(f"CPU_BUILDS={index}", target="demo")[1]
            (tools / "nvidia-smi").unlink()
        finally:
            server.shutdown()
            thread.join()
    code, out, _ = run(f"CPU_BUILDS={index}", target="demo")
    assert code == 0
    assert "--extra-index-url" not in out


def test_what_builds_the_package_is_in_the_hashed_set():
    needed = {*script("licences").needed(name="hatchling")}
    for path in HASHED:
        assert needed <= {*pins(path)}, path
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    # Without these an editable installation needs the package `editables` too.
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"]["dev-mode-dirs"] == ["src"]


def test_all_dependencies_have_licences_that_ask_nothing_of_users():
    licences = script("licences")
    found = {name: licences.licence(package) for name, package in licences.needed("all").items()}
    assert {"numpy", "torch", "fastapi", "spacy"} <= {*found}
    assert {*licences.needed()} < {*found}
    assert [name for name, said in found.items() if licences.COPYLEFT.search(said)] == []
    # The page is of PyTorch for CPUs; that for CUDA brings more, mostly NVIDIA's own.
    of_cuda = ("cuda-", "nvidia-", "triton")
    found = {name: said for name, said in found.items() if not name.startswith(of_cuda)}
    assert [name for name, said in found.items() if said == "not stated"] == []
    page = (ROOT / "research/results/licences.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", page, re.MULTILINE)
    told = {canonicalize_name(name): said for said, own in rows for name in own.split(", ")}
    versions = pins(ROOT / "constraints.txt")
    needed = licences.needed("all")
    same = [name for name in found if _is(needed[name], versions.get(name))]
    assert {name: found[name] for name in same} == {name: told.get(name) for name in same}


def _is(package, version: str | None) -> bool:
    return package.version.partition("+")[0] == version
