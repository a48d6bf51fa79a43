from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

from trigner.errors import TrignerError
from trigner.systems.sections import OptimisationSettings
from trigner.training.trainer import SystemTrainer, check_trackers


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


def test_an_unknown_tracker_is_refused(refused):
    with refused():
        check_trackers(["wanbd"])


def test_a_tracker_that_is_not_installed_is_told(monkeypatch, refused):
    def absent():
        raise RuntimeError("WandbCallback requires wandb to be installed")

    monkeypatch.setitem(INTEGRATION_TO_CALLBACK, "wandb", absent)
    with refused(error=TrignerError):
        check_trackers(["tensorboard", "wandb"])
