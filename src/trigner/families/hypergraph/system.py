"""The hypergraph as training sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import PreTrainedModel

from trigner.batches import Example
from trigner.encoders import Encoder, choose_device, load_encoder
from trigner.families.core import WordSystem, word_inputs, word_parts
from trigner.families.hypergraph.graph import Graph, encode, prefix_tree
from trigner.families.hypergraph.network import HypergraphNetwork, gold_score, log_partition
from trigner.families.hypergraph.predictor import HypergraphPredictor
from trigner.families.hypergraph.reading import round_trip
from trigner.families.hypergraph.settings import HypergraphSettings
from trigner.families.hypergraph.torch_runtime import torch_scorer
from trigner.mentions import Mention, Sentence
from trigner.systems import Losses


def build(
    settings: Any, labels: tuple[str, ...], init_from: Path | None = None
) -> HypergraphSystem:
    """A fresh system of `training.Settings`. Raises InputError when there is no such encoder."""
    pretrained, tokenizer, padding_id = load_encoder(settings.encoder, ())
    network = build_network(pretrained, settings.model, labels)
    return HypergraphSystem(labels, network, tokenizer, padding_id, settings.model)


def build_network(
    pretrained: PreTrainedModel, settings: HypergraphSettings, labels: tuple[str, ...]
) -> HypergraphNetwork:
    """The network around an encoder, its other weights freshly drawn."""
    return HypergraphNetwork(
        graph=settings.structure(),
        labels=len(labels),
        size=settings.lstm_size,
        hidden_size=settings.hidden_size,
        start_rank=settings.start_rank,
        dropout=settings.output_dropout,
        **word_parts(Encoder(pretrained, layers=settings.encoder_layers), settings),
    )


class HypergraphSystem(WordSystem):
    """A network and the exact likelihood of sets of mentions (`systems.System`)."""

    network: HypergraphNetwork

    def __init__(
        self,
        labels: tuple[str, ...],
        network: HypergraphNetwork,
        tokenizer: Tokenizer,
        padding_id: int,
        settings: HypergraphSettings,
    ) -> None:
        inputs = word_inputs(network.encoder, tokenizer, padding_id, settings)
        super().__init__(labels, network, tokenizer, inputs)
        self.settings = settings
        self.graph = network.graph

    def inexpressible(self, sentences: Sequence[Sentence]) -> int:
        """How many mentions have too many segments, are too long, or are lost by the reading."""
        reading, lost = self.settings.reading_of_gold(), 0
        for each in sentences:
            back, _ = round_trip(self.labels, self.graph, reading, each.mentions, len(each.words))
            lost += len(set(each.mentions) - back)
        return lost

    def collate(self, examples: Sequence[Example]) -> dict[str, Any]:
        """The network's arrays, and as `gold_starts` and `gold_edges` the prefix trees of gold."""
        mentions = [example.mentions for example in examples]
        return {**self.tensors(examples), **gold_trees(self.graph, self.labels, mentions)}

    def loss(self, weights: Mapping[str, float], **batch: Any) -> Losses:
        """Minus the log-likelihood of the gold sets of mentions, a word.

        The likelihood is a product over words and types, each of the mentions that begin there.
        """
        gold_starts, gold_edges = batch.pop("gold_starts"), batch.pop("gold_edges")
        starts, edges = self.network(**batch)
        gold = gold_score(starts, edges, gold_starts, gold_edges)
        negative = log_partition(self.graph, starts, edges).sum() - gold
        total = weights.get("words", 1.0) * negative / batch["lengths"].sum()
        return Losses(total, {"loss_words": total.detach()})

    def predictor(self, device: str = "auto") -> HypergraphPredictor:
        """A predictor with the system's own weights, moved to the device."""
        network = self.network.to(choose_device(device))
        return HypergraphPredictor(
            torch_scorer(network), self.labels, self.settings, inputs=self.inputs
        )


def gold_trees(
    graph: Graph, labels: Sequence[str], mentions: Sequence[Iterable[Mention]]
) -> dict[str, Tensor]:
    """The prefix trees of sentences' mentions as indices into a network's scores.

    `gold_starts [N, 4]` and `gold_edges [M, 6]`, as `network.gold_score` takes them.
    """
    gold_starts, gold_edges = [], []
    for index, own in enumerate(mentions):
        starts, edges = prefix_tree(encode(graph, labels, own).paths)
        gold_starts += [(index, word, label, family) for label, word, family in starts]
        for path, number in edges:
            step = path.steps[number]
            place = graph.place(path.start, step.word)
            gold_edges.append((index, *place, path.label, step.row, int(step.edge)))
    return {
        "gold_starts": torch.tensor(gold_starts, dtype=torch.long).view(-1, 4),
        "gold_edges": torch.tensor(gold_edges, dtype=torch.long).view(-1, 6),
    }
