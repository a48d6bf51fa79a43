"""Two nodes of Ray on this machine, of which one is killed in the middle of a job."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from rows import found, ray_files, read_rows, rows_of, write_rows

pytest.importorskip("ray", reason="Ray is not installed (extra `scale`)")

ROWS = 10_000
WAITING = 200
"""Seconds for what takes a few on a machine that is not busy."""


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """Its address and the process of its second node, each with a CPU; it asks for a token."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(16))
    with ray_files() as files:
        head = ["--head", f"--port={port}", "--include-dashboard=false", f"--temp-dir={files}"]
        nodes = []
        try:
            for options in (head, [f"--address=127.0.0.1:{port}"]):
                nodes.append(begun(options, tmp_path / f"node-{len(nodes)}"))
            yield f"127.0.0.1:{port}", nodes[1]
        finally:
            for each in nodes:
                end(each)


def begun(options, log):
    """A node with one CPU. Ray gives up after 30 seconds, which a busy machine may take."""
    common = ["--num-cpus=1", "--object-store-memory=80000000", "--disable-usage-stats", "--block"]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", *options, *common]
    for _ in range(4):
        with log.open("wb") as file:
            node = subprocess.Popen(command, stdout=file, stderr=file, start_new_session=True)
        while node.poll() is None and b"runtime started" not in log.read_bytes():
            time.sleep(0.1)
        if node.poll() is None:
            return node
        end(node)
    raise AssertionError(log.read_text())


def wait_for(condition):
    until = time.monotonic() + WAITING
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.1)


def end(node):
    """Kill all processes of a node."""
    with suppress(ProcessLookupError):
        os.killpg(node.pid, signal.SIGKILL)
    node.wait()


def is_annotating(node):
    """Whether a node has a worker that annotates; Ray calls processes by what they do."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            title = (process / "cmdline").read_bytes()
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            is_here = parent > 0 and os.getpgid(parent) == node.pid
        except OSError:  # it has ended
            continue
        if is_here and title.startswith(b"ray::_Actor.annotate"):
            return True
    return False


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are seen in /proc")
def test_a_job_over_two_nodes_survives_the_end_of_one(cluster, exported_model, tmp_path):
    address, second = cluster
    rows = rows_of(ROWS)
    path = write_rows(tmp_path / "a.parquet", rows)
    out = tmp_path / "out"
    options = ["--model", exported_model, "--address", address, "--workers", "2"]
    command = ["annotate", path, out, *options, "--part-rows", "200"]
    job = subprocess.Popen(
        [sys.executable, "-m", "trigner", *map(str, command)], stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: job.poll() is not None or is_annotating(second))
    end(second)
    assert not (out / "_SUCCESS").exists()
    told = job.communicate()[1]
    assert job.returncode == 0, told
    assert read_rows(out) == found(exported_model, rows, path)
