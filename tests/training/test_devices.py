from __future__ import annotations

import os

import pytest
import torch
from accelerate.state import AcceleratorState, PartialState
from torch import nn
from transformers import Trainer

from trigner.training.devices import OneDevice, deterministic


@pytest.fixture
def four_gpus(monkeypatch):
    """A machine with four GPUs, as far as asking goes; the devices that were made current."""
    current = []

    def set_device(device):
        if torch.device(device).index is None:  # as PyTorch does where there are GPUs
            raise ValueError(f"Expected a torch.device with a specified index, but got:{device}")
        current.append(str(device))

    with monkeypatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: True)
        patch.setattr(torch.cuda, "device_count", lambda: 4)
        patch.setattr(torch.cuda, "current_device", lambda: 2)
        patch.setattr(torch.cuda, "set_device", set_device)
        yield current
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.mark.parametrize(
    ("place", "used"), [("cuda", "cuda:2"), ("cuda:0", "cuda:0"), ("cuda:3", "cuda:3")]
)
def test_one_of_several_gpus_is_used_and_it_is_the_one_asked_for(four_gpus, tmp_path, place, used):
    arguments = OneDevice(str(tmp_path), device_name=place, per_device_train_batch_size=5)
    assert arguments.device == torch.device(used)
    assert PartialState().device == torch.device(used)
    assert four_gpus[-1] == used
    assert arguments.n_gpu == 1
    assert arguments.train_batch_size == 5


def test_the_cpu_is_used_beside_gpus(four_gpus, tmp_path):
    arguments = OneDevice(str(tmp_path), device_name="cpu")
    assert arguments.device == PartialState().device == torch.device("cpu")
    assert arguments.n_gpu == 0
    assert four_gpus == []


def test_the_precision_is_that_of_the_training_whatever_the_process_had_before(
    tmp_path, monkeypatch
):
    def precision(**chosen):
        AcceleratorState._reset_state(reset_partial_state=True)
        arguments = OneDevice(str(tmp_path), report_to=[], **chosen)
        return Trainer(nn.Linear(1, 1), arguments).accelerator.mixed_precision

    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")  # put back afterwards
    assert precision() == "no"
    assert precision(bf16=True) == "bf16"
    assert precision() == "no"
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.fixture
def switches(monkeypatch):
    """What torch was told to do the same way every time; nothing is really switched."""
    calls = []
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", "")  # so that it is put back afterwards
    monkeypatch.delenv("CUBLAS_WORKSPACE_CONFIG")
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", False)
    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", True)
    for kind, before in ("mem_efficient", True), ("cudnn", "as it was"):
        monkeypatch.setattr(
            torch.backends.cuda,
            f"enable_{kind}_sdp",
            lambda enabled, kind=kind: calls.append((kind, enabled)),
        )
        monkeypatch.setattr(torch.backends.cuda, f"{kind}_sdp_enabled", lambda own=before: own)
    monkeypatch.setattr(
        torch,
        "use_deterministic_algorithms",
        lambda mode, warn_only: calls.append((mode, warn_only)),
    )
    return calls


AS_BEFORE = [("mem_efficient", True), (False, False), ("cudnn", "as it was")]


def test_the_same_result_every_time_on_cuda_and_the_flags_as_before_afterwards(
    switches, monkeypatch
):
    with deterministic(3, torch.device("cuda", 1)):
        assert switches == [("cudnn", False), ("mem_efficient", False), (True, True)]
        assert torch.backends.cudnn.deterministic
        assert not torch.utils.deterministic.fill_uninitialized_memory
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    assert switches[3:] == AS_BEFORE
    assert not torch.backends.cudnn.deterministic
    assert torch.utils.deterministic.fill_uninitialized_memory
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    with deterministic(3, torch.device("cuda")):
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":16:8"


def test_flags_are_restored_after_an_error(switches):
    with pytest.raises(KeyboardInterrupt), deterministic(3, torch.device("cuda")):
        raise KeyboardInterrupt
    assert switches[3:] == AS_BEFORE


def test_not_deterministic_only_what_plans_for_each_shape_is_off(switches):
    with deterministic(3, torch.device("cuda"), wanted=False):
        assert switches == [("cudnn", False)]
        assert not torch.backends.cudnn.deterministic
    assert switches == [("cudnn", False), ("cudnn", "as it was")]
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ


def test_a_cpu_needs_no_more_than_a_seed(switches):
    with deterministic(3, torch.device("cpu")):
        first = torch.rand(2)
    with deterministic(3, torch.device("cpu")):
        assert torch.rand(2).equal(first)
    assert switches == []
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
