from __future__ import annotations

import json
from copy import deepcopy
from shutil import copytree

import pytest
import torch
from rich.console import Console
from torch import nn

from tiny_language_models import tiny_language_model
from trigner.errors import InputError, TrignerError
from trigner.mentions import Document, Entity
from trigner.systems import own_systems
from trigner.tagging.objective import Objective
from trigner.training import resolve, train
from trigner.training.adversarial import FastGradient, fast_gradient, subword_embeddings
from trigner.training.start import begun
from trigner.training.trainer import SystemTrainer

EPSILON = 0.5
FEW = [
    "optimisation.epochs=2",
    "optimisation.batch_size=2",
    "optimisation.learning_rate=0.01",
]
SMALL = [
    *FEW,
    "model.lstm_size=8",
    "model.channels=4",
    "model.pair_size=6",
    "model.grid_size=5",
    "model.embedding_dropout=0",
    "model.feature_dropout=0",
    "model.output_dropout=0",
]
QUIET = Console(quiet=True)
TEXT = "my left leg hurt. no pain. numb left arm"
DOCUMENTS = [
    Document("d", TEXT, (Entity("ADR", ((3, 11), (12, 16)), "left leg hurt"),)),
    Document("e", "pain after the tablet.", (Entity("ADR", ((0, 4),), "pain"),)),
]


@pytest.fixture(scope="module")
def without_dropout(encoder_of, tmp_path_factory):
    """Folder of the tiny encoder without dropout."""
    folder = copytree(encoder_of(), tmp_path_factory.mktemp("plain") / "bert")
    config = json.loads((folder / "config.json").read_text())
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def run(encoder, out, *assignments, shared=SMALL):
    settings = resolve(
        preset="clean", assignments=assignments, shared=shared, options={"encoder": str(encoder)}
    )
    return train(settings, DOCUMENTS, DOCUMENTS, out, device="cpu", console=QUIET)


def table(gradient=None):
    """An embedding table with a gradient."""
    torch.manual_seed(2)
    weight = nn.Parameter(torch.randn(4, 3))
    weight.grad = gradient
    return weight


def test_the_weight_is_moved_along_the_gradient_and_put_back_exactly():
    gradient = torch.randn(4, 3)
    weight = table(gradient.clone())
    before = weight.detach().clone()
    with FastGradient(weight, EPSILON).moved():
        length = sum(float(g) ** 2 for g in gradient.flatten()) ** 0.5
        torch.testing.assert_close(weight.detach(), before + EPSILON * gradient / length)
        assert (weight.detach() - before).norm().item() == pytest.approx(EPSILON, rel=1e-5)
    assert weight.detach().equal(before)
    assert weight.grad.equal(gradient)


def test_the_gradient_of_earlier_batches_moves_nothing():
    weight = table(torch.full((4, 3), 7.0))
    fgm = FastGradient(weight, EPSILON)
    start, earlier = weight.detach().clone(), fgm.gradient()
    own = torch.randn(4, 3)
    weight.grad += own
    with fgm.moved(earlier):
        torch.testing.assert_close(weight.detach(), start + EPSILON * own / own.norm())


@pytest.mark.parametrize("gradient", [None, 0.0, torch.nan, torch.inf])
def test_a_gradient_without_a_direction_moves_nothing(gradient):
    own = None
    if gradient is not None:
        own = torch.zeros(4, 3)
        own[1, 1] = gradient
    weight = table(own)
    before = weight.detach().clone()
    with FastGradient(weight, EPSILON).moved():
        assert weight.detach().equal(before)


def test_a_tiny_gradient_has_a_direction():
    weight = table(torch.zeros(4, 3))
    weight.grad[2, 0] = 1e-20
    before = weight.detach().clone()
    with FastGradient(weight, 1e30).moved():
        moved = weight.detach() - before
    expected = torch.zeros(4, 3)
    expected[2, 0] = 1e30
    torch.testing.assert_close(moved, expected, rtol=1e-4, atol=0)


def test_the_weight_is_put_back_after_an_error():
    weight = table(torch.ones(4, 3))
    before = weight.detach().clone()
    with pytest.raises(ValueError, match="no memory"), FastGradient(weight, EPSILON).moved():
        raise ValueError("no memory")
    assert weight.detach().equal(before)


def gradients(system, batch):
    """Loss of a batch and the gradient of each parameter, by hand."""
    losses = [system.loss(**part).total for part in batch["parts"]]
    names, weights = zip(*system.network.named_parameters(), strict=True)
    total = torch.stack(losses).sum()
    found = torch.autograd.grad(total, weights, allow_unused=True)
    return total.detach(), dict(zip(names, found, strict=True))


def test_an_update_has_the_sum_of_two_gradients(without_dropout, tmp_path, monkeypatch):
    """Each step of a training, against gradients taken by hand at both places."""
    step = SystemTrainer.training_step
    compared = []

    def checked(self, model, inputs, *args, **kwargs):
        system = deepcopy(self._system)
        plain, first = gradients(system, inputs)
        (name,) = (n for n in first if n.endswith("word_embeddings.weight"))
        weight = dict(system.network.named_parameters())[name]
        with torch.no_grad():
            weight += EPSILON * first[name] / first[name].norm()
        moved, second = gradients(system, inputs)

        before = {n: p.detach().clone() for n, p in self._system.network.named_parameters()}
        loss = step(self, model, inputs, *args, **kwargs)
        torch.testing.assert_close(loss, plain)
        torch.testing.assert_close(self.model.parts["loss_adversarial"], moved)
        assert self._unchecked[-1].equal(loss)
        assert moved > plain  # it is the direction in which the loss rises
        for own, parameter in self._system.network.named_parameters():
            assert parameter.detach().equal(before[own]), own
            if first[own] is None:
                assert parameter.grad is None
                continue
            torch.testing.assert_close(parameter.grad, first[own] + second[own], msg=own)
        compared.append(name)
        return loss

    monkeypatch.setattr(SystemTrainer, "training_step", checked)
    chosen = (f"optimisation.adversarial={EPSILON}", "optimisation.batch_size=1")
    run(without_dropout, tmp_path / "m", *chosen)
    assert len(compared) == 4


def test_it_changes_what_is_learnt(without_dropout, tmp_path):
    one = run(without_dropout, tmp_path / "plain")
    other = run(without_dropout, tmp_path / "moved", "optimisation.adversarial=1")
    assert one.history[0]["eval_train_loss"] == pytest.approx(
        other.history[0]["eval_train_loss"], rel=0.5
    )
    assert one.history != other.history


def test_a_loss_of_moved_embeddings_that_is_nan_is_told(without_dropout, tmp_path, monkeypatch):
    forward, passes = Objective.forward, []

    def nan_when_moved(self, *args, **inputs):
        losses = forward(self, *args, **inputs)
        passes.append(losses)
        if len(passes) == 4:  # the second of the second update
            losses.total.data.fill_(torch.nan)
        return losses

    monkeypatch.setattr(Objective, "forward", nan_when_moved)
    with pytest.raises(TrignerError, match=r"loss of moved embeddings is NaN .* at update 2"):
        run(without_dropout, tmp_path / "m", "optimisation.adversarial=1")


@pytest.mark.parametrize("name", [name for name in own_systems() if name != "generative"])
def test_every_system_with_an_encoder_has_its_embeddings(encoder, name):
    settings = resolve(options={"system": name, "encoder": str(encoder)}, shared=FEW)
    system, _ = begun(settings, DOCUMENTS, None)
    expected = system.network.encoder.model.embeddings.word_embeddings.weight
    assert subword_embeddings(system.network) is expected
    assert fast_gradient(system.network, 1.0).weight is expected
    assert fast_gradient(system.network, 0.0) is None


@pytest.mark.parametrize("name", ["spans", "seq2seq", "corro"])
def test_other_systems_train_with_it(encoder, tmp_path, name):
    chosen = ["optimisation.adversarial=1", "optimisation.precision=bfloat16"]
    assert run(encoder, tmp_path / "m", f"system={name}", *chosen, shared=FEW).epochs == 2


def test_frozen_embeddings_are_refused_before_anything_is_written(tmp_path):
    model = tiny_language_model(tmp_path / "gpt2", "gpt2")
    chosen = ("system=generative", "optimisation.adversarial=1")
    with pytest.raises(InputError, match="which this training leaves as they are"):
        run(model, tmp_path / "m", *chosen, shared=FEW)
    assert not (tmp_path / "m").exists()
    whole = ("model.tuning=full", "optimisation.learning_rate=0.0001")
    assert run(model, tmp_path / "m", *chosen, *whole, shared=FEW).epochs == 2


def test_a_network_without_embeddings_is_refused():
    with pytest.raises(InputError, match="this system's network has none: set it to 0"):
        fast_gradient(nn.Linear(2, 2), 1.0)


def test_a_norm_below_zero_is_refused():
    with pytest.raises(InputError, match=r"optimisation\.adversarial: must be at least 0"):
        resolve(assignments=["optimisation.adversarial=-1"])
