from __future__ import annotations

import pytest
import torch

from trigner.errors import InputError
from trigner.networks import choose_device


def test_devices():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type in {"cpu", "cuda", "mps"}
    for name in ("warp", "cuda:x", ""):
        with pytest.raises(InputError) as raised:
            choose_device(name)
        expected = f"no device {name!r}: give auto, cpu, cuda, cuda:1 (the second GPU) or mps"
        assert raised.value.message == expected
    if not torch.backends.mps.is_available():
        with pytest.raises(InputError, match="no device 'mps': ") as raised:
            choose_device("mps")
        assert "give auto" not in raised.value.message
