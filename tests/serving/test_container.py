"""The container's files: what they promise, held against what they say and against the service."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import yaml

from serving_process import process

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
    assert "TRIGNER_API_KEY" in service["environment"]  # its value stands in no file


def test_only_what_is_needed_goes_into_the_image():
    first, *kept = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert first == "*"
    copied = {"pyproject.toml", "constraints.txt", "README.md", "LICENSE", "src"}
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
