from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from trigner.training.ema import EMA_FILE, ExponentialMovingAverage


def steps(network, averaging, values, first=0):
    for made, value in enumerate(values, first):
        with torch.no_grad():
            network.weight.fill_(value)
        averaging.on_optimizer_step(None, SimpleNamespace(global_step=made), None)


def network(value=0.0):
    made = nn.Linear(2, 2, bias=False)
    nn.init.constant_(made.weight, value)
    return made


def averaged(net, averaging):
    with averaging.in_place():
        return net.weight.detach().clone()


def test_the_average_against_its_definition():
    net = network(1.0)
    averaging = ExponentialMovingAverage(net, 0.5)
    averaging.on_train_begin(None, None, None)
    expected = 1.0
    values = [3.0, -2.0, 4.0, 8.0, 1.0, 0.5, 9.0, 2.0, 6.0, 7.0]
    for made, value in enumerate(values):
        kept = min(0.5, (1 + made) / (10 + made))
        expected = kept * expected + (1 - kept) * value
    steps(net, averaging, values)
    torch.testing.assert_close(averaged(net, averaging), torch.full((2, 2), expected))
    assert net.weight.eq(7.0).all()


def test_training_goes_on_with_its_own_weights_also_after_an_error():
    net = network(1.0)
    averaging = ExponentialMovingAverage(net, 0.9)
    averaging.on_train_begin(None, None, None)
    steps(net, averaging, [5.0])

    def judge():
        with averaging.in_place():
            assert not net.weight.eq(5.0).any()
            raise ValueError("judged")

    with pytest.raises(ValueError, match="judged"):
        judge()
    assert net.weight.eq(5.0).all()


def test_a_checkpoint_keeps_it(tmp_path):
    whole, parts = network(), network()
    one = ExponentialMovingAverage(whole, 0.9)
    one.on_train_begin(None, None, None)
    steps(whole, one, [1.0, 2.0, 3.0, 4.0])

    folder = tmp_path / "checkpoint-2"
    folder.mkdir()
    first = ExponentialMovingAverage(parts, 0.9)
    first.on_train_begin(None, None, None)
    steps(parts, first, [1.0, 2.0])
    first.save(folder)
    assert (folder / EMA_FILE).is_file()
    second = ExponentialMovingAverage(parts, 0.9, checkpoint=folder)
    second.on_train_begin(None, None, None)
    steps(parts, second, [3.0, 4.0], first=2)
    assert averaged(parts, second).equal(averaged(whole, one))
