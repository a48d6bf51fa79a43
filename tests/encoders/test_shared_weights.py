from __future__ import annotations

import torch
from safetensors.torch import save_file
from torch import nn

from trigner.encoders.shared_weights import keep_shared_once, separate, weight_names


class Halves(nn.Module):
    """A table, and two parts that read with it."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(3, 2)
        self.one, self.other = nn.Embedding(3, 2), nn.Embedding(3, 2)
        self.one.weight = self.other.weight = self.table.weight


def test_what_is_shared_is_named_once_and_read_by_all(refused):
    whole = nn.Sequential(Halves())
    keep_shared_once(whole[0])
    state = {name: weight.clone() + 1 for name, weight in whole.state_dict().items()}
    assert list(state) == ["0.table.weight"]
    whole.load_state_dict(state, strict=True)
    assert whole[0].other.weight is whole[0].table.weight
    assert whole[0].one.weight.equal(state["0.table.weight"])
    with refused(error=RuntimeError):
        whole.load_state_dict({}, strict=True)


def test_what_a_file_has_of_its_own_is_separated(tmp_path):
    module = Halves()
    keep_shared_once(module)
    values = {"table.weight": torch.ones(3, 2), "other.weight": torch.zeros(3, 2)}
    save_file(values, tmp_path / "weights")
    separate(module, weight_names(tmp_path / "weights"))
    assert list(module.state_dict()) == ["table.weight", "other.weight"]
    module.load_state_dict(values, strict=True)
    assert module.one.weight is module.table.weight
    assert not module.other.weight.any()


def test_a_file_without_weights(tmp_path, refused):
    (tmp_path / "weights").write_bytes(b"none")
    with refused():
        weight_names(tmp_path / "weights")
