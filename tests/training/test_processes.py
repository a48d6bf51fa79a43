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
from trigner.errors import InputError
from trigner.model_folder import WEIGHTS
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


def command(encoder, out, *options, processes):
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    launch = ["-m", "accelerate.commands.launch", "--cpu", "--num_processes", str(processes)]
    launch += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
    launch += ["--main_process_port", str(port), "-m", "trigner"]
    settings = {**SMALL, **dict(each.split("=", 1) for each in options)}
    return [
        *(sys.executable, *(launch if processes > 1 else ["-m", "trigner"]), "train"),
        *("--train", str(DATA / "dev"), "--dev", str(DATA / "test"), "--out", str(out)),
        *("--encoder", str(encoder), "--preset", "clean", "--device", "cpu"),
        *(f"--set={name}={value}" for name, value in settings.items()),
    ]


def trained(encoder, out, *options, processes):
    done = subprocess.run(
        command(encoder, out, *options, processes=processes), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return load_file(out / WEIGHTS), done


CASES = {
    "cells": ("triplets.weight=0.1",),
    "equal": ("triplets.weight=0.1", "optimisation.batch_weighting=equal"),
    "sum": ("triplets.weight=0.001", "triplets.reduction=sum"),
    "moved": ("triplets.weight=0.1", "optimisation.adversarial=1", "optimisation.r_drop=1"),
}


@pytest.mark.parametrize("case", ["cells", "equal", "sum", "moved"])
def test_two_processes_train_as_one_does(encoder, tmp_path, case):
    one, _ = trained(encoder, tmp_path / "one", *CASES[case], processes=1)
    two, done = trained(encoder, tmp_path / "two", *CASES[case], processes=2)
    for name, weights in one.items():
        torch.testing.assert_close(two[name], weights, rtol=1e-3, atol=1e-5, msg=name)
    assert done.stderr.count("epoch 2 of 2") == 1
    assert done.stdout.count("best epoch on dev") == 1


def test_two_processes_go_on_where_they_were_killed(encoder, tmp_path):
    whole, _ = trained(encoder, tmp_path / "whole", processes=2)
    out = tmp_path / "killed"
    killed = subprocess.Popen(
        command(encoder, out, processes=2), start_new_session=True, stderr=subprocess.PIPE
    )
    try:
        while killed.poll() is None and not list((out / CHECKPOINTS).glob(f"*/{HASHES}")):
            time.sleep(0.02)
        time.sleep(trial_seed.chosen(5).uniform(0, 0.1))
    finally:
        os.killpg(killed.pid, signal.SIGKILL)
        killed.communicate()
    again = [*command(encoder, out, processes=2), "--resume"]
    done = subprocess.run(again, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    resumed = load_file(out / WEIGHTS)
    assert all(torch.equal(resumed[name], weights) for name, weights in whole.items())


def test_shares_are_whole_and_apart():
    for count in (1, 2, 3, 5):
        for size in range(1, 8):
            batch = list(range(size))
            shares = [Processes(count, index).share(batch) for index in range(count)]
            assert sorted(i for share in shares for i in share) == batch


def test_one_gpu_for_several_processes_is_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="one GPU for 2 processes"):
        connected(torch.device("cuda:0"))
