from __future__ import annotations

import pytest
import torch

from oracles import pair_grid_naive
from trigner.families.tagging.co_predictor import GridBranch, TrignerCoPredictor, W2nerCoPredictor

SIZES = {"word_size": 6, "feature_size": 9, "classes": 3, "grid_size": 7, "dropout": 0.33}


def trigner(kind="full"):
    torch.manual_seed(1)
    return TrignerCoPredictor(**SIZES, pair_map_kind=kind, pair_size=10).double()


def w2ner():
    torch.manual_seed(1)
    return W2nerCoPredictor(**SIZES, biaffine_size=5).double()


def inputs():
    torch.manual_seed(2)
    states = torch.randn(2, 5, 6, dtype=torch.double, requires_grad=True)
    return states, torch.randn(2, 9, 5, 5, dtype=torch.double, requires_grad=True)


def assert_same(layer, oracle, training):
    layer.train(training)
    states, features = inputs()
    torch.manual_seed(3)
    found = layer(states, features).logits
    torch.manual_seed(3)
    expected = oracle(layer, states, features)
    assert found.shape == (2, 3, 5, 5)
    torch.testing.assert_close(found, expected)
    cotangent = torch.randn_like(expected)
    tensors = {"states": states, "features": features, **dict(layer.named_parameters())}
    for name, one, other in zip(
        tensors,
        torch.autograd.grad(found, list(tensors.values()), cotangent),
        torch.autograd.grad(expected, list(tensors.values()), cotangent),
        strict=True,
    ):
        assert other.abs().max() > 0, name
        torch.testing.assert_close(one, other, msg=name)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kind", ["full", "low_rank"])
def test_trigner_equals_the_whole_grids(kind, training):
    assert_same(trigner(kind), pair_grid_naive.trigner_scores, training)


@pytest.mark.parametrize("training", [True, False])
def test_w2ner_equals_the_whole_grids(training):
    assert_same(w2ner(), pair_grid_naive.w2ner_scores, training)


def test_trigners_pair_branch_has_no_dropout():
    layer = trigner().train()
    layer.grid.output.weight.data.zero_()
    states, features = inputs()
    assert layer(states, features).logits.equal(layer(states, features).logits)


def test_w2ners_pair_branch_has_dropout():
    layer = w2ner().train()
    layer.grid.output.weight.data.zero_()
    states, features = inputs()
    assert not layer(states, features).logits.equal(layer(states, features).logits)


@pytest.mark.parametrize("kind", ["full", "low_rank"])
def test_pair_states_are_those_of_the_map(kind):
    layer, (states, _) = trigner(kind), inputs()
    cells = (torch.tensor([1, 0]), torch.tensor([4, 2]), torch.tensor([0, 3]))
    expected = pair_grid_naive.pair_states(layer.pairs, states)[cells]
    torch.testing.assert_close(layer.pair_states(states, *cells), expected)


def test_pair_states_of_w2ners_are_what_its_grid_branch_reads_last():
    layer = w2ner().eval()
    states, features = inputs()
    scores = layer(states, features)
    cells = (torch.tensor([1, 0]), torch.tensor([4, 2]), torch.tensor([0, 3]))
    found = layer.pair_states(scores.states, *cells)
    assert found.shape == (2, 7)
    layer.weight.data.zero_()
    of_grid = layer.grid.output(found[:, :, None, None])[:, :, 0, 0]
    logits = layer(states, features).logits.permute(0, 2, 3, 1)
    torch.testing.assert_close(of_grid, logits[cells])


def test_the_grid_branch_drops_before_its_layer_and_after_its_activation():
    torch.manual_seed(5)
    branch = GridBranch(input_size=9, size=7, classes=3, dropout=0.33).double().train()
    features = inputs()[1]
    torch.manual_seed(6)
    found = branch(features)
    torch.manual_seed(6)
    expected = pair_grid_naive.grid_scores(branch, features)
    torch.testing.assert_close(found, expected)
    by_words = features.permute(0, 2, 3, 1)
    plain = torch.nn.functional.linear(
        torch.nn.functional.gelu(
            torch.nn.functional.linear(by_words, branch.hidden.weight.squeeze(), branch.hidden.bias)
        ),
        branch.output.weight.squeeze(),
        branch.output.bias,
    )
    torch.testing.assert_close(branch.eval()(features).permute(0, 2, 3, 1), plain)
