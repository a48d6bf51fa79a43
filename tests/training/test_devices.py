from __future__ import annotations

import pytest
import torch
from accelerate.state import AcceleratorState, PartialState

from trigner.training.devices import OneDevice


@pytest.fixture
def four_gpus(monkeypatch):
    """A machine with four GPUs, as far as asking goes; the devices that were made current."""
    current = []
    with monkeypatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: True)
        patch.setattr(torch.cuda, "device_count", lambda: 4)
        patch.setattr(torch.cuda, "set_device", lambda device: current.append(str(device)))
        yield current
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.mark.parametrize("place", ["cuda", "cuda:0", "cuda:3"])
def test_one_of_several_gpus_is_used_and_it_is_the_one_asked_for(four_gpus, tmp_path, place):
    arguments = OneDevice(str(tmp_path), place=place, per_device_train_batch_size=5)
    assert arguments.device == torch.device(place)
    assert PartialState().device == torch.device(place)
    assert four_gpus[-1] == place
    assert arguments.n_gpu == 1
    assert arguments.train_batch_size == 5


def test_the_cpu_is_used_beside_gpus(four_gpus, tmp_path):
    arguments = OneDevice(str(tmp_path), place="cpu")
    assert arguments.device == PartialState().device == torch.device("cpu")
    assert arguments.n_gpu == 0
    assert four_gpus == []
