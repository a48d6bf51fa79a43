"""The system as training sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from trigner.batches import Example
from trigner.encoders import choose_device, trial_sentence, trying
from trigner.families.core import WordSystem, check_init_from, saved_network
from trigner.families.generative.building import (
    inputs_of,
    load_language_model,
    texts_of,
    try_writing,
)
from trigner.families.generative.loading import load_parts
from trigner.families.generative.network import GenerativeNetwork, text_loss
from trigner.families.generative.predictor import GenerativePredictor
from trigner.families.generative.settings import GenerativeSettings
from trigner.mentions import Sentence
from trigner.systems import Losses, SavedState


def build(
    settings: Any, labels: tuple[str, ...], init_from: Path | None = None
) -> GenerativeSystem:
    """The system of `training.Settings`, fresh or with the weights of the folder `init_from`.

    Raises InputError when the language model cannot be had, or the model is not of these settings.
    """
    own: GenerativeSettings = settings.model
    if init_from is None:
        model, tokenizer, end = load_language_model(settings.encoder)
        system = GenerativeSystem(labels, GenerativeNetwork(model, own), tokenizer, end, own)
        _try_out(system, settings.encoder)
        return system
    description = check_init_from(init_from, settings, labels)
    network, tokenizer, end, _ = load_parts(init_from, description)
    return GenerativeSystem(description.labels, network, tokenizer, end, own)


def _try_out(system: GenerativeSystem, name: str) -> None:
    """Raises InputError for a language model that cannot learn, write or score a sentence."""
    with trying(name):
        inputs = system.prepare([trial_sentence(system.labels[0])]).inputs
        system.network.train()
        system.loss({}, **system.collate(inputs))
        writing = system.texts.writing(inputs[0]).not_empty()
        try_writing(system.network, writing, system.settings.beam_size, name)


class GenerativeSystem(WordSystem):
    """A language model that learns to write its sentences' mentions (`systems.System`)."""

    network: GenerativeNetwork

    def __init__(
        self,
        labels: tuple[str, ...],
        network: GenerativeNetwork,
        tokenizer: Tokenizer,
        end: int,
        settings: GenerativeSettings,
    ) -> None:
        self.texts = texts_of(network, tokenizer, labels, end, settings)
        super().__init__(labels, network, tokenizer, inputs_of(self.texts))
        self.settings = settings

    def inexpressible(self, sentences: Sequence[Sentence]) -> int:
        """How many mentions of the sentences have no room in a text, or no reading."""
        examples = self.prepare(sentences).inputs
        return sum(
            e.in_sentence(m) is not None for e in examples for m in self.texts.encode(e).lost
        )

    def sizes(self, example: Example) -> Mapping[str, int]:
        """Subwords of the text, its end included."""
        return {"subwords": len(self.texts.encode(example).ids)}

    def collate(self, examples: Sequence[Example]) -> dict[str, Any]:
        """What `loss` takes: prompts and texts."""
        return {
            "prompts": [self.texts.speller(example).prompt for example in examples],
            "texts": [self.texts.encode(example).ids for example in examples],
        }

    def loss(self, weights: Mapping[str, float], **batch: Any) -> Losses:
        """Cross-entropy of each subword of the texts, given those before it (teacher forcing).

        Among all subwords: a language model has learnt to choose so.
        """
        mean = text_loss(self.network.scores(batch["prompts"], batch["texts"]), batch["texts"])
        total = weights.get("subwords", 1.0) * mean
        return Losses(total, {"loss_subwords": total.detach()})

    def parameter_groups(self, optimisation: Any) -> list[dict[str, Any]]:
        """What is tuned, at one rate; biases, norms and vectors before the prompt do not decay."""
        learnt = [own for own in self.network.named_parameters() if own[1].requires_grad]
        kept = [p for name, p in learnt if p.dim() < 2 or name.startswith("before.")]
        others = {id(p) for p in kept}
        decayed = [p for _, p in learnt if id(p) not in others]
        rate = {"lr": optimisation.learning_rate}
        return [
            {"params": decayed, "weight_decay": optimisation.weight_decay, **rate},
            {"params": kept, "weight_decay": 0.0, **rate},
        ]

    def saved_state(self) -> SavedState:
        """All weights, the language model's configuration and the tokenizer."""
        end = self.texts.speller.end
        return saved_network(self.network, self.tokenizer, end, pretrained="language_model")

    def predictor(self, device: str = "auto") -> GenerativePredictor:
        """A predictor with the system's own weights, moved to the device."""
        return GenerativePredictor(
            network=self.network.to(choose_device(device)), texts=self.texts, inputs=self.inputs
        )
