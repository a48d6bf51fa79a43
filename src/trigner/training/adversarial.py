"""Adversarial training: a second gradient, at subwords moved to where the loss rises most (FGM).

Miyato et al., Adversarial training methods for semi-supervised text classification, 2017, equation
5. They move the vectors of each text by themselves; here the table of subword embeddings is moved,
once for a batch: no network has to take vectors in place of subwords, and all processes, which
share a batch's gradient, move it alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from trigner.errors import InputError


class FastGradient:
    """Moves `weight`, the subword embeddings, by a vector of the norm `epsilon` for a while."""

    def __init__(self, weight: nn.Parameter, epsilon: float) -> None:
        self.weight = weight
        self._epsilon = epsilon

    def gradient(self) -> Tensor | None:
        """A copy of the gradient that there is by now; None: there is none."""
        return None if self.weight.grad is None else self.weight.grad.clone()

    @contextmanager
    def moved(self, before: Tensor | None = None) -> Iterator[None]:
        """The weight is moved along the gradient that came since `before`, and put back after.

        A gradient that is zero, NaN or infinite has no direction and moves nothing. This is not
        looked at outside the device, which would wait for it: a second loss is always computed.
        """
        kept = self.weight.detach().clone()
        with torch.no_grad():
            self.weight.add_(self._shift(before))
        try:
            yield
        finally:
            with torch.no_grad():
                self.weight.copy_(kept)

    def _shift(self, before: Tensor | None) -> Tensor:
        """What is added to the weight, of its shape."""
        if self.weight.grad is None:
            return torch.zeros_like(self.weight)
        own = self.weight.grad if before is None else self.weight.grad - before
        norm = torch.linalg.vector_norm(own, dtype=torch.float32)
        usable = torch.isfinite(norm) & (norm > 0)
        # First over the norm: epsilon over a tiny one could be infinite.
        return torch.where(usable, own / norm * self._epsilon, 0.0).to(self.weight.dtype)


def fast_gradient(network: nn.Module, epsilon: float) -> FastGradient | None:
    """What moves a network's subword embeddings; None without a perturbation.

    Raises InputError for a network without a pretrained part, or whose embeddings are frozen.
    """
    if epsilon == 0:
        return None
    weight = subword_embeddings(network)
    if weight is None:
        raise InputError(
            "optimisation.adversarial moves an encoder's subword embeddings, and this system's"
            " network has none: set it to 0"
        )
    if not weight.requires_grad:
        raise InputError(
            "optimisation.adversarial needs the gradient of the subword embeddings, which this"
            " training leaves as they are: set it to 0, or tune all weights"
        )
    return FastGradient(weight, epsilon)


def subword_embeddings(network: nn.Module) -> nn.Parameter | None:
    """The input embeddings of the first pretrained model in a network, or None."""
    for module in network.modules():
        if isinstance(module, PreTrainedModel):
            try:
                found = module.get_input_embeddings()
            except NotImplementedError:  # of models that do not read subwords
                continue
            weight = getattr(found, "weight", None)
            if isinstance(weight, nn.Parameter):
                return weight
    return None
