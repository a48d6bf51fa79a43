"""The container's files: what they promise, held against what they say and against the service."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import yaml

from serving_process import process
from trigner.cli.serve import serve

ROOT = Path(__file__).resolve().parents[2]


def instructions():
    """The instructions of the Dockerfile's last stage, in order."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    last = max(i for i, line in enumerate(lines) if line.startswith("FROM "))
    return [(line.split()[0], line.split(None, 1)[1]) for line in lines[last:]]


def test_the_image_runs_as_a_user_that_is_not_root():
    found = dict(instructions())
    assert found["USER"] == "10001:10001"
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert json.loads(found["ENTRYPOINT"])[:2] == ["trigner", "serve"]


def run_lines():
    """What the Dockerfile runs, stage by stage."""
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    _, *stages = re.split(r"^FROM .*$", text, flags=re.MULTILINE)
    return [re.findall(r"^RUN (.*)$", stage, re.MULTILINE) for stage in stages]


def test_python_and_the_service_are_the_only_programs_of_the_image(tmp_path):
    """What removes the others is run on files of this test in the place of the image's."""
    assert instructions()[:2] == [("FROM", "scratch"), ("COPY", "--from=bare / /")]
    assert not {"ADD", "COPY", "RUN"} & {name for name, _ in instructions()[2:]}
    (command,) = run_lines()[-2]
    own = re.sub(r"(?<=\s)/(?!6000)", f"{tmp_path}/", command)
    paths = [word for word in shlex.split(own) if word.startswith("/") and word != "/6000"]
    assert all(path.startswith(f"{tmp_path}/") for path in paths)

    kept = {
        "etc/passwd": 0o644,
        "lib/ld-linux.so.2": 0o755,
        "opt/trigner/bin/trigner": 0o755,
        "opt/trigner/lib/python3.11/site-packages/trigner/__init__.py": 0o644,
        "usr/local/bin/python3.11": 0o755,
        "usr/local/lib/python3.11/os.py": 0o644,
    }
    removed = {
        "sbin/init": 0o755,
        "usr/bin/dash": 0o755,
        "usr/bin/su": 0o4755,
        "usr/lib/apt/methods/http": 0o755,
        "usr/lib/dpkg/methods/install": 0o755,
        "usr/lib/mail": 0o2755,
        "usr/local/bin/pip3": 0o755,
        "usr/local/lib/python3.11/ensurepip/__init__.py": 0o644,
        "usr/local/lib/python3.11/site-packages/pip/__init__.py": 0o644,
        "usr/sbin/chroot": 0o755,
    }
    for name, mode in (kept | removed).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        (tmp_path / name).chmod(mode)
    (tmp_path / "bin").symlink_to("usr/bin")
    (tmp_path / "usr/bin/sh").symlink_to("dash")
    (tmp_path / "opt/trigner/bin/python").symlink_to("/usr/local/bin/python3.11")
    others = "daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\nrooted:x:5:5::/:/bin/sh\n"
    (tmp_path / "etc/passwd").write_text(f"root:x:0:0:root:/root:/bin/bash\n{others}")

    subprocess.run(["sh", "-ec", own], check=True)
    left = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if not p.is_dir()}
    assert left == {*kept, "opt/trigner/bin/python"}
    passwd = (tmp_path / "etc/passwd").read_text()
    assert passwd == f"root:x:0:0:root:/root:/usr/sbin/nologin\n{others}"


def test_the_image_is_made_of_what_is_named():
    """A base of one release, by tag or digest; packages by their hashes; nothing else."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    assert re.search(r"^ARG BASE=python:3\.\d+-slim-[a-z]+$", text, re.MULTILINE)
    assert re.findall(r"^FROM (\S+)", text, re.MULTILINE) == ["${BASE}", "${BASE}", "scratch"]
    every = " && ".join(line for stage in run_lines() for line in stage)
    installs = [own for own in every.split("&&") if re.search(r"pip .*(install|wheel) ", own)]
    assert len(installs) == 4
    for own in installs:
        by_hash = "--require-hashes" in own and "--only-binary :all:" in own
        here = "--no-build-isolation" in own or "--no-index" in own
        assert by_hash or here, own
        assert "--no-deps" in own, own
    (platform,) = re.findall(r"^ARG PLATFORM=(\S+)$", text, re.MULTILINE)
    for name in re.findall(r"--requirement (\S+)", every):
        assert (ROOT / name.replace("${PLATFORM}", platform)).is_file(), name


def test_the_health_check_tells_a_service_that_answers(exported_model):
    (_, check) = next(own for own in instructions() if own[0] == "HEALTHCHECK")
    _, _, command = check.partition("CMD ")
    _, option, code = json.loads(command)
    with process(exported_model) as (_, port):
        assert code.count("8000") == 1
        alive = [sys.executable, option, code.replace("8000", str(port))]
        assert subprocess.run(alive, check=False).returncode == 0
    ended = subprocess.run(alive, check=False, stderr=subprocess.DEVNULL)
    assert ended.returncode == 1


def test_compose_takes_away_what_the_service_does_not_need():
    service = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["trigner"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    grace = int(service["stop_grace_period"].removesuffix("s"))
    assert grace > inspect.signature(serve).parameters["stop_within"].default
    assert service["cpus"] >= 1  # the model takes as many threads as the quota has CPUs
    assert "TRIGNER_API_KEY" in service["environment"]  # its value stands in no file


def test_only_what_is_needed_goes_into_the_image():
    first, *kept = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert first == "*"
    copied = {"pyproject.toml", "hashes/image", "README.md", "LICENSE", "src"}
    assert {name[1:] for name in kept if name.startswith("!")} == copied


def test_the_service_writes_no_file(exported_model, tmp_path, monkeypatch):
    """Its home and its folder for temporary files stay empty: the file system may be read-only."""
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delenv("ORT_DISABLE_TELEMETRY")  # the service sees to it itself
    before = os.listdir()
    with process(exported_model) as (_, port):
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("POST", "/v1/extract", json.dumps({"text": "my leg hurt"}))
        assert connection.getresponse().status == 200
        connection.close()
        assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert os.listdir() == before
