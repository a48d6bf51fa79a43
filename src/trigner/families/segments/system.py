"""The segment system as training sees it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from trigner.arrays import Integers
from trigner.batches import EncoderInputs, Example
from trigner.encoders import Encoder, choose_device, load_encoder
from trigner.families.core import WordSystem, word_inputs
from trigner.families.hypergraph import (
    Chart,
    best,
    gold_score,
    gold_trees,
    log_partition,
    mention_of,
)
from trigner.families.segments.decoding import combination_scores
from trigner.families.segments.format import gaps_of
from trigner.families.segments.network import SegmentNetwork, SegmentOutput, build_network
from trigner.families.segments.predictor import SegmentPredictor
from trigner.families.segments.settings import SegmentSettings
from trigner.families.segments.torch_runtime import torch_scorer
from trigner.mentions import Mention, Sentence
from trigner.systems import Losses


def build(settings: Any, labels: tuple[str, ...], init_from: Path | None = None) -> SegmentSystem:
    """The system of `training.Settings` around a pretrained encoder.

    Raises InputError when the encoder cannot be had.
    """
    own: SegmentSettings = settings.model
    model, tokenizer, padding_id = load_encoder(settings.encoder, ())
    encoder = Encoder(model, layers=own.encoder_layers)
    network = build_network(encoder, len(labels), own)
    inputs = word_inputs(encoder, tokenizer, padding_id, own)
    return SegmentSystem(labels, network, tokenizer, inputs, own)


class SegmentSystem(WordSystem):
    """The likelihood of the segments and of each decision on a combination (`systems.System`)."""

    network: SegmentNetwork

    def __init__(
        self,
        labels: tuple[str, ...],
        network: SegmentNetwork,
        tokenizer: Tokenizer,
        inputs: EncoderInputs,
        settings: SegmentSettings,
    ) -> None:
        super().__init__(labels, network, tokenizer, inputs)
        self.format = settings.format(labels)
        self.graph = network.graph
        self._predicted_negatives = settings.predicted_negatives

    def inexpressible(self, sentences: Sequence[Sentence]) -> int:
        """How many mentions have too wide a segment, too many of them, or too wide a gap."""
        lost = 0
        for sentence in sentences:
            back, _ = self.format.round_trip(sentence.mentions, len(sentence.words))
            lost += len(set(sentence.mentions) - set(back))
        return lost

    def collate(self, examples: Sequence[Example]) -> dict[str, Any]:
        """The network's arrays, the segments as `gold_starts` and `gold_edges`, the `mentions`."""
        segments = [self.format.segments(each.mentions) for each in examples]
        return {
            **self.tensors(examples),
            **gold_trees(self.graph, self.labels, segments),
            "mentions": tuple(each.mentions for each in examples),
        }

    def loss(self, weights: Mapping[str, float], **batch: Any) -> Losses:
        """Minus the log-likelihood of the sets of segments and of all decisions, a word.

        The article adds means over the candidates of each number of segments instead. Sums are
        parts of one likelihood, and words of all batches count alike.
        """
        mentions = batch.pop("mentions")
        gold_starts, gold_edges = batch.pop("gold_starts"), batch.pop("gold_edges")
        output = self.network(**batch)
        gold = gold_score(output.starts, output.edges, gold_starts, gold_edges)
        parts = {
            "loss_segments": log_partition(self.graph, output.starts, output.edges).sum() - gold,
            "loss_combinations": self._of_combinations(output, mentions, batch["lengths"]),
        }
        factor = weights.get("words", 1.0) / batch["lengths"].sum()
        parts = {name: factor * part for name, part in parts.items()}
        total = torch.stack(list(parts.values())).sum()
        return Losses(total, {name: part.detach() for name, part in parts.items()})

    def predictor(self, device: str = "auto") -> SegmentPredictor:
        """A predictor with the system's own weights, moved to the device."""
        network = self.network.to(choose_device(device))
        return SegmentPredictor(torch_scorer(network), self.format, self.graph, inputs=self.inputs)

    def _of_combinations(
        self, output: SegmentOutput, mentions: Sequence[Sequence[Mention]], lengths: Tensor
    ) -> Tensor:
        """Cross-entropy, summed over all candidates of all sentences."""
        also = self._predicted(output, lengths) if self._predicted_negatives else None
        places: list[Integers] = []
        groups: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
        before = 0
        for row, own in enumerate(mentions):
            for found in self.format.encode(own, also[row] if also else ()):
                for chosen, wanted in zip(found.groups, found.wanted, strict=True):
                    between = gaps_of(found.spans, chosen)
                    label = np.full(len(chosen), found.label)
                    groups[chosen.shape[1]].append((chosen + before, between, label, wanted))
                first, last = found.spans.T
                places.append(np.stack([np.full(len(first), row), first, last - first]))
                before += len(first)
        # All weights have gradients, if only of 0.
        total = 0 * (output.parts.sum() + output.gaps.sum() + output.readout.sum())
        if not places:
            return total
        device = total.device
        shared = output.gaps[0], output.readout[0]
        parts = output.parts[tuple(torch.from_numpy(np.concatenate(places, 1)).to(device))]
        for own_groups in groups.values():
            arrays = [np.concatenate(each) for each in zip(*own_groups, strict=True)]
            rows, gaps, types, targets = (torch.from_numpy(own).to(device) for own in arrays)
            with torch.autocast(device.type, enabled=False):
                scores = combination_scores(parts, *shared, rows, gaps)
            total = total + functional.binary_cross_entropy_with_logits(
                scores.gather(1, types[:, None])[:, 0], targets.float(), reduction="sum"
            )
        return total

    def _predicted(self, output: SegmentOutput, lengths: Tensor) -> list[list[Mention]]:
        """The best set of segments of each sentence, as mentions."""
        starts, edges = (each.detach().cpu().numpy() for each in (output.starts, output.edges))
        found = []
        for row, length in enumerate(lengths.tolist()):
            paths = best(Chart.of(self.graph, starts[row], edges[row], length), "all").paths
            found.append([mention_of(path, self.labels) for path, _ in paths])
        return found
