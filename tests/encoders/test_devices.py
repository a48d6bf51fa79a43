from __future__ import annotations

import pytest
import torch

from trigner.encoders import devices
from trigner.encoders.devices import bfloat16_notice, choose_device
from trigner.errors import InputError


def test_devices(refused):
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type in {"cpu", "cuda", "mps"}
    for name in ("warp", "cuda:x", ""):
        with pytest.raises(InputError) as raised:
            choose_device(name)
        expected = f"no device {name!r}: give auto, cpu, cuda, cuda:1 (the second GPU) or mps"
        assert raised.value.message == expected
    if not torch.backends.mps.is_available():
        with refused() as raised:
            choose_device("mps")
        assert "give auto" not in raised.value.message


def test_bfloat16_that_is_slower_than_float32_is_told(monkeypatch: pytest.MonkeyPatch):
    cpu = torch.device("cpu")
    threads = torch.get_num_threads()
    assert devices.bfloat16_time() > 0
    assert torch.get_num_threads() == threads
    for time, told in ((0.4, None), (1.1, None), (1.84, "1.8 times as long in bfloat16")):
        monkeypatch.setattr(devices, "bfloat16_time", lambda time=time: time)
        notice = bfloat16_notice(cpu)
        assert (told is None and notice is None) or told in notice
    assert bfloat16_notice(torch.device("cuda")) is None
