from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from transformers import TrainerControl
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

from trigner.errors import InputError, TrignerError
from trigner.training.sections import OptimisationSettings
from trigner.training.trainer import KeepBest, SystemTrainer, check_trackers, training_arguments


def epochs_until_stop(scores, patience, metric="eval_f1", select_by="overall"):
    """(epochs run, epochs saved) when dev scores come like this."""
    saved = []
    keeper = KeepBest(
        select_by=select_by, patience=patience, save=lambda epoch, metrics: saved.append(epoch)
    )
    history = []
    for epoch, score in enumerate(scores, 1):
        history.append({"eval_f1": 0.0, metric: score})
        state = SimpleNamespace(log_history=[{"loss": 1.0}, *history])
        control = keeper.on_evaluate(None, state, TrainerControl(), metrics=history[-1])
        if control.should_training_stop:
            return epoch, saved
    return len(scores), saved


def test_saved_when_strictly_better_and_the_first_even_at_zero():
    assert epochs_until_stop([0.0, 0.0, 0.5, 0.5, 0.4, 0.6], None) == (6, [1, 3, 6])


def test_stops_after_the_eleventh_epoch_without_improvement():
    assert epochs_until_stop([0.5, *[0.4] * 40], 10) == (12, [1])
    assert epochs_until_stop([0.5, *[0.4] * 10, 0.6, *[0.4] * 40], 10) == (23, [1, 12])


def test_never_stops_while_nothing_is_found():
    assert epochs_until_stop([0.0] * 40, 10) == (40, [1])
    assert epochs_until_stop([*[0.0] * 20, 0.1, *[0.0] * 40], 10) == (32, [1, 21])


def transformers_adamw(weights, gradients, lr, betas, eps):
    """AdamW as transformers had it until version 4, without weight decay."""
    mean, squares = torch.zeros_like(weights), torch.zeros_like(weights)
    for update, gradient in enumerate(gradients, 1):
        mean = betas[0] * mean + (1 - betas[0]) * gradient
        squares = betas[1] * squares + (1 - betas[1]) * gradient**2
        size = lr * (1 - betas[1] ** update) ** 0.5 / (1 - betas[0] ** update)
        weights = weights - size * mean / (squares.sqrt() + eps)
    return weights


@pytest.mark.parametrize("epsilon_to", ["corrected", "uncorrected"])
def test_epsilon_is_added_before_or_after_bias_correction(epsilon_to):
    torch.manual_seed(1)
    start, gradients = torch.randn(5), 1e-6 * torch.randn(30, 5)
    settings = OptimisationSettings(epsilon=1e-6, epsilon_to=epsilon_to, beta2=0.99)
    weights = torch.nn.Parameter(start.clone())
    trainer = SystemTrainer.__new__(SystemTrainer)
    trainer.optimizer, trainer._settings = None, settings
    trainer._system = SimpleNamespace(
        parameter_groups=lambda _: [{"params": [weights], "lr": 0.01, "weight_decay": 0.0}]
    )
    optimiser = trainer.create_optimizer()
    for update, gradient in enumerate(gradients):
        trainer.state = SimpleNamespace(global_step=update)
        weights.grad = gradient.clone()
        optimiser.step()
    expected = transformers_adamw(start, gradients, 0.01, (0.9, 0.99), 1e-6)
    close = torch.allclose(weights.detach(), expected, atol=1e-6)
    assert close == (epsilon_to == "uncorrected")


def test_another_score_can_choose():
    run = epochs_until_stop([0.1, 0.3, 0.2], None, "eval_discontinuous_f1", "discontinuous")
    assert run == (3, [1, 2])


def test_equal_discontinuous_scores_are_decided_by_the_overall_one():
    saved = []
    keeper = KeepBest(
        select_by="discontinuous", patience=None, save=lambda epoch, metrics: saved.append(epoch)
    )
    history = []
    for overall, discontinuous in [(0.2, 0.0), (0.4, 0.0), (0.3, 0.0), (0.1, 0.1), (0.9, 0.0)]:
        history.append({"eval_f1": overall, "eval_discontinuous_f1": discontinuous})
        keeper.on_evaluate(None, SimpleNamespace(log_history=history), TrainerControl())
    assert saved == [1, 2, 4]


def test_an_unknown_tracker_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"unknown tracker 'wanbd'; known are: .*mlflow.*wandb"):
        training_arguments(
            tmp_path,
            OptimisationSettings(),
            seed=1,
            epochs=1,
            updates=1,
            device=torch.device("cpu"),
            report_to=["wanbd"],
        )


def test_a_tracker_that_is_not_installed_is_told(monkeypatch):
    def absent():
        raise RuntimeError("WandbCallback requires wandb to be installed")

    monkeypatch.setitem(INTEGRATION_TO_CALLBACK, "wandb", absent)
    with pytest.raises(TrignerError, match=r"the tracker wandb cannot be used: .* to be installed"):
        check_trackers(["tensorboard", "wandb"])
