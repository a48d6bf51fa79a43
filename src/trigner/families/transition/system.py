"""The parser as training sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel

from trigner.batches import IGNORED, Example, Prepared
from trigner.encoders import Encoder, choose_device, load_encoder
from trigner.families.core import WordSystem, word_inputs, word_parts
from trigner.families.transition.layout import layout, scored_steps
from trigner.families.transition.network import TransitionNetwork
from trigner.families.transition.oracle import Derivation, derivation
from trigner.families.transition.parser import action_names
from trigner.families.transition.predictor import TransitionPredictor
from trigner.families.transition.settings import TransitionSettings
from trigner.mentions import Mention, Sentence
from trigner.systems import Losses


def build(
    settings: Any, labels: tuple[str, ...], init_from: Path | None = None
) -> TransitionSystem:
    """A fresh parser of `training.Settings`. Raises InputError when there is no such encoder."""
    pretrained, tokenizer, padding_id = load_encoder(settings.encoder, ())
    network = build_network(pretrained, settings.model, labels)
    return TransitionSystem(labels, network, tokenizer, padding_id, settings.model)


def build_network(
    pretrained: PreTrainedModel, settings: TransitionSettings, labels: tuple[str, ...]
) -> TransitionNetwork:
    """The network around an encoder, its other weights freshly drawn."""
    return TransitionNetwork(
        size=settings.lstm_size,
        actions=len(action_names(labels)),
        action_size=settings.action_size,
        hidden_size=settings.hidden_size,
        dropout=settings.output_dropout,
        **word_parts(Encoder(pretrained, layers=settings.encoder_layers), settings),
    )


class TransitionSystem(WordSystem):
    """A network, the actions that it learns from and their loss (`systems.System`)."""

    network: TransitionNetwork

    def __init__(
        self,
        labels: tuple[str, ...],
        network: TransitionNetwork,
        tokenizer: Tokenizer,
        padding_id: int,
        settings: TransitionSettings,
    ) -> None:
        inputs = word_inputs(network.encoder, tokenizer, padding_id, settings)
        super().__init__(labels, network, tokenizer, inputs)
        self.settings = settings
        self.rules = settings.rules(labels)
        self._legal = torch.from_numpy(self.rules.table())
        self._derivations: dict[tuple[tuple[Mention, ...], int], Derivation] = {}

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """Examples, without those that are dropped for what their actions cannot express."""
        prepared = super().prepare(sentences)
        if self.settings.inexpressible_sentences == "keep":
            return prepared
        kept = [e for e in prepared.inputs if not self._derived(e.mentions, e.length).lost]
        return Prepared(tuple(kept), prepared.lost, prepared.windowed, prepared.truncated)

    def inexpressible(self, sentences: Sequence[Sentence]) -> int:
        """How many mentions the actions cannot express, or were dropped with one of these."""
        found = [self._derived(s.mentions, len(s.words)) for s in sentences]
        dropped = self.settings.inexpressible_sentences == "drop"
        return sum(len(d.lost) + (len(d.mentions) if dropped and d.lost else 0) for d in found)

    def _derived(self, mentions: Sequence[Mention], length: int) -> Derivation:
        """Found once: every epoch asks for it, and crowded sentences take long."""
        known = self._derivations
        given = tuple(mentions), length
        if given not in known:
            known[given] = derivation(mentions, length, self.labels, self.rules)
        return known[given]

    def sizes(self, example: Example) -> Mapping[str, int]:
        """Steps at which there is a choice."""
        actions = self._derived(example.mentions, example.length).actions
        return {"actions": scored_steps(actions, example.length, self.rules)}

    def collate(self, examples: Sequence[Example]) -> dict[str, Any]:
        """The network's arrays: those of the encoder and a `Layout` of the gold actions."""
        actions = [self._derived(e.mentions, e.length).actions for e in examples]
        lengths = [e.length for e in examples]
        laid = layout(actions, lengths, self.rules, max(lengths))
        tensors = ("unions", "stacks", "held", "tops", "buffer", "taken", "gold")
        return {
            **self.tensors(examples),
            **{name: torch.from_numpy(getattr(laid, name)) for name in tensors},
            "legal": self._legal[torch.from_numpy(laid.legal)],
            "depths": laid.depths,
            "heights": laid.heights,
        }

    def loss(self, weights: Mapping[str, float], **batch: Any) -> Losses:
        """Minus the mean log-probability of gold actions among the legal ones.

        Steps at which one action alone is legal make no loss (Dai et al. 2020, released code).
        """
        gold, legal = batch.pop("gold"), batch.pop("legal")
        logits: Tensor = self.network(**batch)
        masked = logits.float().masked_fill(~legal, -torch.inf)
        scored = gold != IGNORED
        if not scored.any():
            return Losses(logits.sum() * 0.0)
        mean = functional.cross_entropy(masked[scored], gold[scored])
        total = weights.get("actions", 1.0) * mean
        return Losses(total, {"loss_actions": total.detach()})

    def predictor(self, device: str = "auto") -> TransitionPredictor:
        """A predictor with the system's own weights, moved to the device."""
        self.network.to(choose_device(device))
        return TransitionPredictor(
            self.network,
            self.labels,
            self.rules,
            self.settings.beam_size,
            inputs=self.inputs,
        )
