"""What is tried when a system is built: what a pretrained model cannot do is told before training,
and not at the first evaluation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from trigner.encoders.pretrained import named, quiet
from trigner.errors import InputError
from trigner.mentions import Mention, Sentence


def trial_sentence(label: str) -> Sentence:
    """A word that is a mention."""
    return Sentence("trial", 0, ("and",), ((0, 3),), (Mention((0,), label),))


@contextmanager
def trying(name: str) -> Iterator[None]:
    """What fails in a trial becomes an InputError that names the model.

    The random numbers of the training behind it are as without a trial.
    """
    with named(name, "train with"), quiet(), torch.random.fork_rng(devices=[]):
        yield


def refuse_unlike(name: str, found: Tensor, wanted: Tensor) -> None:
    """Raises InputError when what a model makes of embeddings is not what it makes of their ids."""
    if found.shape == wanted.shape:
        difference = (found - wanted).abs().max()
        if difference <= 1e-3 * wanted.abs().max():
            return
    raise InputError(
        f"the model {name!r} reads embeddings otherwise than their ids, and this system gives it"
        " embeddings"
    )
