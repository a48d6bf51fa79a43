from __future__ import annotations

import pytest

from trigner.errors import InputError
from trigner.inference import choose_device


def test_devices():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type in {"cpu", "cuda", "mps"}
    with pytest.raises(InputError, match="no device 'warp'"):
        choose_device("warp")
