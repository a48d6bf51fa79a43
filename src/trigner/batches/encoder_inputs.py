"""How sentences become what one encoder reads: its tokenizer, its limits, its padding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trigner.batches.collation import Batch, collate
from trigner.batches.examples import Example, Prepared, windowing
from trigner.batches.subwords import SubwordTokenizer
from trigner.mentions import Sentence


@dataclass(frozen=True)
class EncoderInputs:
    """Sentences to examples, examples to a batch, for an encoder of `max_subwords` subwords.

    It reads `context_words` of the document along on each side of a sentence.
    """

    tokenizer: SubwordTokenizer
    padding_id: int
    max_subwords: int
    context_words: int = 0

    @property
    def offset(self) -> int:
        """Special words before each sentence: positions that are not words of it."""
        return len(self.tokenizer.special_words)

    def prepare(self, sentences: Sequence[Sentence]) -> Prepared:
        """The sentences as examples that the encoder can hold."""
        return windowing(sentences, self.tokenizer, self.max_subwords, self.context_words)

    def collate(self, examples: Sequence[Example]) -> Batch:
        """One padded batch."""
        return collate([example.subwords for example in examples], padding_id=self.padding_id)
