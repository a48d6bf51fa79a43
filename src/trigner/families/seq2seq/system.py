"""The system as training sees it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import DynamicCache, EncoderDecoderCache

from trigner.batches import IGNORED, Example
from trigner.encoders import choose_device, load_encoder, trial_sentence, trying
from trigner.families.core import WordSystem, check_init_from, evaluating
from trigner.families.seq2seq.automaton import START
from trigner.families.seq2seq.building import build_network, initialise_types, inputs_of
from trigner.families.seq2seq.decoders import EncoderHalf, refuse_other_reading
from trigner.families.seq2seq.format import Encoded, Format
from trigner.families.seq2seq.loading import load_parts
from trigner.families.seq2seq.network import Seq2SeqNetwork
from trigner.families.seq2seq.predictor import Seq2SeqPredictor
from trigner.families.seq2seq.settings import Seq2SeqSettings
from trigner.families.seq2seq.targets import pad_allowed, pad_targets, pad_tokens, pointers_of
from trigner.mentions import Sentence
from trigner.systems import Losses


def build(settings: Any, labels: tuple[str, ...], init_from: Path | None = None) -> Seq2SeqSystem:
    """The system of `training.Settings`, fresh or with the weights of the folder `init_from`.

    Raises InputError when the encoder cannot be had, or the model is not of these settings.
    """
    own: Seq2SeqSettings = settings.model
    if init_from is None:
        model, tokenizer, padding_id = load_encoder(settings.encoder, (), encoder_decoder=True)
        network = build_network(model, len(labels), own)
        initialise_types(network, tokenizer, labels)
        system = Seq2SeqSystem(labels, network, tokenizer, padding_id, own)
        _try_out(system, settings.encoder)
        return system
    description = check_init_from(init_from, settings, labels)
    network, tokenizer, padding_id, _ = load_parts(init_from, description)
    return Seq2SeqSystem(description.labels, network, tokenizer, padding_id, own)


def _try_out(system: Seq2SeqSystem, name: str) -> None:
    """Raises InputError for an encoder or encoder-decoder that cannot learn or write an output,
    or whose decoder reads embeddings otherwise than their ids.
    """
    with trying(name):
        batch = system.collate(system.prepare([trial_sentence(system.labels[0])]).inputs)
        network = system.network.train()
        system.loss({}, **batch)
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        with evaluating(network):
            source = network.read(batch["input_ids"], batch["attention_mask"], batch["targets"])
            for tokens in batch["before"].split(1, dim=1):
                network.next_scores(source, tokens, cache)
        if isinstance(network.encoder, EncoderHalf):
            refuse_other_reading(network.encoder, batch["input_ids"], name)


class Seq2SeqSystem(WordSystem):
    """A network that learns to write its sentences' mentions (`systems.System`)."""

    network: Seq2SeqNetwork

    def __init__(
        self,
        labels: tuple[str, ...],
        network: Seq2SeqNetwork,
        tokenizer: Tokenizer,
        padding_id: int,
        settings: Seq2SeqSettings,
    ) -> None:
        inputs = inputs_of(network, tokenizer, padding_id, settings)
        super().__init__(labels, network, tokenizer, inputs)
        self.settings = settings
        self.format = Format.of(labels, settings)

    def inexpressible(self, sentences: Sequence[Sentence]) -> int:
        """How many mentions of the sentences have no room in an output."""
        examples = self.prepare(sentences).inputs
        return sum(e.in_sentence(m) is not None for e in examples for m in self._encode(e).lost)

    def _encode(self, example: Example, shuffle: random.Random | None = None) -> Encoded:
        pointers = pointers_of(self.format, example)
        limit = min(self.format.limit(pointers), self.network.decoder.positions or 1 << 30)
        return self.format.encode(example.mentions, pointers, limit, shuffle)

    def sizes(self, example: Example) -> Mapping[str, int]:
        """Tokens of the output, its end included."""
        return {"tokens": len(self._encode(example).tokens)}

    def collate(self, examples: Sequence[Example]) -> dict[str, Any]:
        """What `loss` takes: the encoder's arrays, pointers' targets, outputs, what is allowed."""
        shuffle = None
        if self.format.order == "shuffled":
            # PyTorch's generator, which a checkpoint keeps.
            shuffle = random.Random(int(torch.randint(1 << 62, ())))
        batch = self.inputs.collate(examples)
        pointers = [pointers_of(self.format, example) for example in examples]
        outputs = [self._encode(example, shuffle).tokens for example in examples]
        allowed = pad_allowed(self.format, pointers, outputs, self.settings.masked_loss)
        before = [(START, *output[:-1]) for output in outputs]
        return {
            "input_ids": torch.from_numpy(batch.input_ids),
            "attention_mask": torch.from_numpy(batch.attention_mask),
            "targets": torch.from_numpy(pad_targets(examples, pointers)),
            "before": torch.from_numpy(pad_tokens(before, START)),
            "tokens": torch.from_numpy(pad_tokens(outputs, IGNORED)),
            "allowed": torch.from_numpy(allowed),
        }

    def loss(self, weights: Mapping[str, float], **batch: Any) -> Losses:
        """Cross-entropy of the next token, given those of the output before it (teacher forcing).

        `before`, `tokens` `[B, T]`, `allowed [B, T, V]`.
        """
        network = self.network
        source = network.read(batch["input_ids"], batch["attention_mask"], batch["targets"])
        scores = network.scores(source, batch["before"]).float()
        scores = scores.masked_fill(~batch["allowed"], -torch.inf)
        mean = torch.nn.functional.cross_entropy(
            scores.flatten(0, 1), batch["tokens"].flatten(), ignore_index=IGNORED
        )
        total = weights.get("tokens", 1.0) * mean
        return Losses(total, {"loss_tokens": total.detach()})

    def predictor(self, device: str = "auto") -> Seq2SeqPredictor:
        """A predictor with the system's own weights, moved to the device."""
        return Seq2SeqPredictor(
            network=self.network.to(choose_device(device)),
            format=self.format,
            inputs=self.inputs,
            beam_size=self.settings.beam_size,
            length_penalty=self.settings.length_penalty,
        )
