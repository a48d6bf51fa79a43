"""How strongly triplets pull at a network, compared with its tags, at weight 1.

    python research/benchmarks/triplet_gradients.py --data data/mini-adr/train \
        [--weight 0.01] [--to FILE]

For each form of the triplet loss a network of the preset `best` is trained with it at `--weight`.
At some updates the gradients of both losses of that update's batch are taken apart: their norms
over all weights but the projection head's, triplets' divided by tags', and the cosine between
them: below 0 they pull against each other. What is printed are means over the updates since the
line before, of the norms the geometric one. `--to` writes them as JSON, with what they were
measured on.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from trigner.corpora import read
from trigner.evaluation.signature import sign
from trigner.training.data import EpochBatches
from trigner.training.settings import Settings, resolve
from trigner.training.start import begun
from trigner.training.weighting import Collator

FORMS: dict[str, Mapping[str, Any]] = {
    "logits": {"source": "logits"},
    "pair-states": {"source": "pair_states"},
    "projection": {"source": "projection"},
    "projection, mean over all": {"source": "projection", "reduction": "mean_all"},
    "projection, hard negatives": {"source": "projection", "selection": "hard-negative"},
    "projection, semi-hard": {"source": "projection", "selection": "semi-hard"},
}
"""Settings of `triplets`."""

EVERY = 5
"""Updates from one comparison to the next."""


def gradients(loss: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """The gradient of a loss, all in one vector; 0 of weights that it does not reach."""
    found = torch.autograd.grad(
        loss, weights, retain_graph=True, allow_unused=True, materialize_grads=True
    )
    return torch.cat([own.flatten() for own in found])


def settings_of(
    form: Mapping[str, Any], weight: float, seed: int, others: Sequence[str] = ()
) -> Settings:
    """`best` with a form of the triplet loss."""
    assignments = [f"triplets.{name}={str(value).lower()}" for name, value in form.items()]
    return resolve(
        preset="best",
        assignments=[f"triplets.weight={weight}", *assignments, *others],
        options={"seed": seed},
    )


def compared(folder: Path, settings: Settings, updates: int) -> Iterator[tuple[int, float, float]]:
    """Update, norm of the triplets' gradient over that of the tags', and their cosine."""
    assert settings.triplets is not None  # `best` trains a system that has some
    weight, seed = settings.triplets.weight, settings.seed
    optimisation = settings.optimisation
    system, data = begun(settings, read(folder).documents, None)
    size = max(1, len(data) // optimisation.batch_size)
    epochs = -(-updates // size) + 1
    batches = EpochBatches(data.lengths, optimisation, seed, epochs, data.rates)
    collate = Collator(system, data.examples, batches, optimisation)
    groups = system.parameter_groups(optimisation)
    optimiser = torch.optim.AdamW(groups, betas=(0.9, optimisation.beta2), fused=True)
    learning_rates = [group["lr"] for group in optimiser.param_groups]
    system.network.train()
    weights = [p for n, p in system.network.named_parameters() if "projection." not in n]
    for update, members in enumerate(_endless(batches)):
        if update == updates:
            return
        warm = min(1.0, (update + 1) / max(1, optimisation.warmup * updates))
        for group, rate in zip(optimiser.param_groups, learning_rates, strict=True):
            group["lr"] = rate * warm
        batch = collate([data.examples[i] for i in members])["batch"]
        counts = dict(batch.pop("weights"))
        random = torch.get_rng_state()
        losses = system.loss(counts, **batch)
        if update % EVERY == 0:
            after = torch.get_rng_state()
            torch.set_rng_state(random)  # the same dropout
            alone = system.loss(counts, **{**batch, "candidates": None})
            torch.set_rng_state(after)
            assert alone.parts["loss_tags"] == losses.parts["loss_tags"]
            tags = gradients(alone.total, weights)
            own = (gradients(losses.total, weights) - tags) / weight
            if own.any():  # a batch may have no triplet, or none within the margin
                cosine = torch.cosine_similarity(own, tags, dim=0)
                yield update, float(own.norm() / tags.norm()), float(cosine)
        optimiser.zero_grad()
        losses.total.backward()
        torch.nn.utils.clip_grad_norm_(system.network.parameters(), optimisation.max_grad_norm)
        optimiser.step()


def _endless(batches: EpochBatches) -> Iterator[list[int]]:
    for epoch in itertools.count():
        batches.epoch = epoch % batches.epochs
        yield from batches


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="training documents")
    parser.add_argument("--updates", type=int, default=200)
    parser.add_argument("--weight", type=float, default=0.01)
    parser.add_argument("--parts", type=int, default=4, help="lines of each form")
    parser.add_argument("--only", nargs="*", choices=FORMS, default=list(FORMS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--to", type=Path, help="JSON file for the rows")
    options = parser.parse_args()
    rows = []
    size = -(-options.updates // options.parts)
    print("| triplets | updates | gradient, triplets' to tags' | cosine |\n|---|---|---|---|")
    for name in options.only:
        settings = settings_of(FORMS[name], options.weight, options.seed)
        found = compared(options.data, settings, options.updates)
        for part, own in itertools.groupby(found, key=lambda each: each[0] // size):
            _, norms, cosines = zip(*own, strict=True)
            first, last = part * size + 1, min((part + 1) * size, options.updates)
            ratio, cosine = statistics.geometric_mean(norms), statistics.mean(cosines)
            print(f"| {name} | {first} to {last} | {ratio:.3g} | {cosine:+.2f} |", flush=True)
            rows.append({"form": name, "updates": [first, last], "ratio": ratio, "cosine": cosine})
    if options.to:
        how = {name: getattr(options, name) for name in ("updates", "weight")}
        signature = sign(read(options.data).documents, settings=how, seed=options.seed)
        told = {**how, "seed": options.seed, "signature": signature, "rows": rows}
        options.to.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
