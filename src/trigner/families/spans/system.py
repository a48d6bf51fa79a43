"""The span system as training sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from trigner.arrays import Floats
from trigner.batches import EncoderInputs, Example
from trigner.encoders import Encoder, choose_device, load_encoder
from trigner.families.core import WordSystem, word_inputs
from trigner.families.spans.fragments import FragmentFormat, Relation
from trigner.families.spans.network import SpanNetwork, SpanOutput, build_network
from trigner.families.spans.predictor import SpanPredictor
from trigner.families.spans.settings import SpanSettings, kept_of
from trigner.families.spans.targets import relations_of_kept, targets
from trigner.families.spans.torch_runtime import torch_scorer
from trigner.mentions import Sentence
from trigner.systems import Losses


def build(settings: Any, labels: tuple[str, ...], init_from: Path | None = None) -> SpanSystem:
    """The system of `training.Settings` around a pretrained encoder.

    Raises InputError when the encoder cannot be had.
    """
    own: SpanSettings = settings.model
    model, tokenizer, padding_id = load_encoder(settings.encoder, ())
    encoder = Encoder(model, layers=own.encoder_layers)
    format = own.format(labels)
    network = build_network(encoder, format.classes, own)
    inputs = word_inputs(encoder, tokenizer, padding_id, own)
    return SpanSystem(
        format,
        network,
        tokenizer,
        inputs,
        bias_init=settings.optimisation.bias_init,
    )


class SpanSystem(WordSystem):
    """The losses of fragments, of relations and of which spans to keep (`systems.System`)."""

    def __init__(
        self,
        format: FragmentFormat,
        network: SpanNetwork,
        tokenizer: Tokenizer,
        inputs: EncoderInputs,
        *,
        bias_init: bool,
    ) -> None:
        super().__init__(format.labels, network, tokenizer, inputs)
        self.format = format
        self.spans = network
        self._bias_init = bias_init

    def inexpressible(self, sentences: Sequence[Sentence]) -> int:
        """How many mentions have too wide a fragment, or are read as others."""
        lost = 0
        for sentence in sentences:
            back, _ = self.format.round_trip(sentence.mentions, len(sentence.words))
            lost += len(set(sentence.mentions) - set(back))
        return lost

    def initialise(self, examples: Sequence[Example]) -> None:
        """Let scores begin at the shares of spans and pairs, if settings say so."""
        if not self._bias_init:
            return
        # One is added to each, so that none has a share of 0 or 1.
        spans, pairs, fragments = 2, 4, 1
        classes, relations = np.ones(self.format.classes), np.ones(len(Relation) - 1)
        for example in examples:
            own = self.format.encode(example.mentions, example.length)
            width = min(self.format.max_width, example.length)
            spans += width * example.length - width * (width - 1) // 2
            pairs += kept_of(example.length, self.spans.kept) ** 2
            fragments += len(own.spans)
            classes += own.classes.sum(axis=0)
            relations += np.bincount(own.relations.ravel(), minlength=len(Relation))[1:]
        with torch.no_grad():
            _copy(self.spans.fragments.output.bias, classes / (spans - classes))
            _copy(self.spans.relations.output.bias, relations / max(1, pairs - relations.sum()))
            if not self.spans.pruned_by_relations:
                _copy(self.spans.pruner.output.bias, np.array([fragments / (spans - fragments)]))

    def collate(self, examples: Sequence[Example]) -> dict[str, Any]:
        """The network's arrays, and `classes`, `numbers` and `relations` as in `targets`."""
        arrays = self.tensors(examples)
        own = [self.format.encode(each.mentions, each.length) for each in examples]
        length = arrays["word_subwords"].shape[1]
        classes, numbers, relations = targets(own, length, self.format.max_width)
        return {**arrays, "classes": classes, "numbers": numbers, "relations": relations}

    def loss(self, weights: Mapping[str, float], **batch: Any) -> Losses:
        """Cross-entropies summed over spans and over ordered pairs, as the article's, a word."""
        classes, numbers, relations = (batch.pop(n) for n in ("classes", "numbers", "relations"))
        gold = classes.any(dim=3)
        supervised = not self.spans.pruned_by_relations
        output = self.spans(**batch, always=gold if supervised else None)
        lengths = batch["lengths"]
        first = torch.arange(classes.shape[1], device=classes.device)[:, None]
        behind = torch.arange(classes.shape[2], device=classes.device)
        there = first + behind < lengths[:, None, None]
        parts = {
            "loss_fragments": _binary(output.fragments[there], classes[there]),
            "loss_relations": _of_pairs(output, relations_of_kept(numbers, relations, output.kept)),
        }
        if supervised:
            parts["loss_pruning"] = _binary(output.pruning[there], gold[there])
        factor = weights.get("words", 1.0) / lengths.sum()
        parts = {name: factor * part for name, part in parts.items()}
        total = torch.stack(list(parts.values())).sum()
        return Losses(total, {name: part.detach() for name, part in parts.items()})

    def predictor(self, device: str = "auto") -> SpanPredictor:
        """A predictor with the system's own weights, moved to the device."""
        network = self.spans.to(choose_device(device))
        return SpanPredictor(torch_scorer(network), self.format, inputs=self.inputs)


def _binary(scores: Tensor, wanted: Tensor) -> Tensor:
    return functional.binary_cross_entropy_with_logits(
        scores.float(), wanted.float(), reduction="sum"
    )


def _of_pairs(output: SpanOutput, wanted: Tensor) -> Tensor:
    """Cross-entropy, summed over the ordered pairs of different spans kept."""
    inside = output.kept >= 0
    pairs = inside[:, :, None] & inside[:, None]
    pairs &= ~torch.eye(pairs.shape[1], dtype=torch.bool, device=pairs.device)
    scores = functional.pad(output.relations.float(), (1, 0))[pairs]
    return functional.cross_entropy(scores, wanted[pairs], reduction="sum")


def _copy(bias: Tensor, odds: Floats) -> None:
    bias.copy_(torch.from_numpy(np.log(odds)))
