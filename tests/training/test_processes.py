"""Several processes train as one does with the same batches."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import trial_seed
from tiny_encoders import tiny_encoder
from trigner.models.folder import WEIGHTS
from trigner.training.checkpoints import CHECKPOINTS, HASHES
from trigner.training.processes import Processes, connected

DATA = Path(__file__).resolve().parents[2] / "data" / "mini-adr"
NO_DROPOUT = ("embedding_dropout", "feature_dropout", "output_dropout")
SMALL = {
    "model.lstm_size": 8,
    "model.distance_size": 3,
    "model.region_size": 3,
    "model.channels": 4,
    "model.pair_size": 6,
    "model.grid_size": 5,
    **{f"model.{name}": 0 for name in NO_DROPOUT},
    "optimisation.epochs": 2,
    "optimisation.batch_size": 5,
    "optimisation.learning_rate": 0.01,
    "optimisation.bias_init": "false",
}


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    """A small encoder without dropout: each process draws its own."""
    folder = tiny_encoder(tmp_path_factory.mktemp("encoder") / "bert", "bert", head=False)
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def launch(script, *given, processes):
    """The command that runs a script in one process, or in several as `accelerate launch` does."""
    command = [*map(str, (script, *given))]
    if processes == 1:
        return [sys.executable, *command]
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    options = ["--cpu", "--num_processes", str(processes), "--num_machines", "1"]
    options += ["--mixed_precision", "no", "--dynamo_backend", "no"]
    options += ["--main_process_port", str(port)]
    return [sys.executable, "-m", "accelerate.commands.launch", *options, *command]


def training(encoder, out, *options):
    """The arguments of one."""
    settings = {**SMALL, **dict(each.split("=", 1) for each in options)}
    return [
        *("train", "--train", str(DATA / "dev"), "--dev", str(DATA / "test"), "--out", str(out)),
        *("--encoder", str(encoder), "--preset", "clean", "--device", "cpu"),
        *(f"--set={name}={value}" for name, value in settings.items()),
    ]


CASES = {
    "cells": ("triplets.weight=0.1",),
    "equal": ("triplets.weight=0.1", "optimisation.batch_weighting=equal"),
    "sum": ("triplets.weight=0.001", "triplets.reduction=sum"),
}
ALL = """\
import json
import sys

from trigner.cli import main

for sys.argv[1:] in json.loads(sys.argv[1]):
    try:
        main()
    except SystemExit as end:
        assert not end.code
"""


def test_two_processes_train_as_one_does(encoder, tmp_path):
    script = tmp_path / "all.py"
    script.write_text(ALL)

    def trained(processes):
        """The weights by case: one launch for all, as most of its time is that of imports."""
        folders = {case: tmp_path / f"{processes}" / case for case in CASES}
        every = [training(encoder, out, *CASES[case]) for case, out in folders.items()]
        command = launch(script, json.dumps(every), processes=processes)
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return {case: load_file(out / WEIGHTS) for case, out in folders.items()}, done

    one, _ = trained(1)
    two, done = trained(2)
    for case in CASES:
        for name, weights in one[case].items():
            message = f"{case}: {name}"
            torch.testing.assert_close(two[case][name], weights, rtol=1e-3, atol=1e-5, msg=message)
    assert done.stderr.count("epoch 2 of 2") == len(CASES)
    assert done.stdout.count("best epoch on dev") == len(CASES)


def test_two_processes_go_on_where_they_were_killed(encoder, tmp_path):
    def command(out, *options):
        return launch("-m", "trigner", *training(encoder, out), *options, processes=2)

    out, whole = tmp_path / "killed", tmp_path / "whole"
    subprocess.run(command(whole), capture_output=True, check=True)
    killed = subprocess.Popen(command(out), start_new_session=True, stderr=subprocess.PIPE)
    try:
        while killed.poll() is None and not list((out / CHECKPOINTS).glob(f"*/{HASHES}")):
            time.sleep(0.02)
        time.sleep(trial_seed.chosen(5).uniform(0, 0.1))
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
    done = subprocess.run(command(out, "--resume"), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    resumed = load_file(out / WEIGHTS)
    expected = load_file(whole / WEIGHTS)
    assert all(torch.equal(resumed[name], weights) for name, weights in expected.items())


def test_shares_are_whole_and_apart():
    for count in (1, 2, 3, 5):
        for size in range(1, 8):
            batch = list(range(size))
            shares = [Processes(count, index).share(batch) for index in range(count)]
            assert sorted(i for share in shares for i in share) == batch


def test_one_gpu_for_several_processes_is_refused(monkeypatch, refused):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with refused():
        connected(torch.device("cuda:0"))
