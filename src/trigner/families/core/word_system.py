"""What the systems have in common whose network reads the words of a sentence with an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tokenizers import Tokenizer
from torch import Tensor, nn

from trigner.batches import EncoderInputs, Example, Prepared, SubwordTokenizer
from trigner.encoders import Encoder
from trigner.families.core.folder import saved_network
from trigner.families.core.settings import WordSettings
from trigner.families.core.word_network import batch_tensors, parameter_groups
from trigner.mentions import Sentence
from trigner.systems import SavedState


def word_inputs(
    encoder: Encoder,
    tokenizer: Tokenizer,
    padding_id: int,
    settings: WordSettings,
    special_words: tuple[str, ...] = (),
) -> EncoderInputs:
    """How sentences become what an encoder reads, with as much context as the settings say."""
    subwords = SubwordTokenizer(tokenizer, special_words)
    return EncoderInputs(subwords, padding_id, encoder.max_subwords, settings.context_words)


class WordSystem:
    """Examples, learning rates and the model folder; a loss and a predictor join in a `System`.

    The network's `encoder` is an `Encoder`.
    """

    def __init__(
        self,
        labels: tuple[str, ...],
        network: nn.Module,
        tokenizer: Tokenizer,
        inputs: EncoderInputs,
    ) -> None:
        self.labels = labels
        self.network = network
        self.tokenizer = tokenizer
        self.inputs = inputs

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """Examples that the encoder can hold."""
        return self.inputs.prepare(sentences)

    def initialise(self, examples: Sequence[Example]) -> None:
        """Nothing is to be known before the first update."""

    def sizes(self, example: Example) -> Mapping[str, int]:
        """Words: each counts alike in the corpus."""
        return {"words": example.length}

    def tensors(self, examples: Sequence[Example]) -> dict[str, Tensor]:
        """What the network reads, as arguments of `WordNetwork.word_states`."""
        return batch_tensors(self.inputs.collate(examples))

    def parameter_groups(self, optimisation: Any) -> list[dict[str, Any]]:
        """The encoder, its biases and layer norms without decay, everything else."""
        return parameter_groups(
            self.network,
            encoder_lr=optimisation.encoder_lr,
            learning_rate=optimisation.learning_rate,
            weight_decay=optimisation.weight_decay,
        )

    def saved_state(self) -> SavedState:
        """The weights, the encoder's configuration and the tokenizer."""
        return saved_network(self.network, self.tokenizer, self.inputs.padding_id)
