"""Raw text to sentences and words with character offsets, and entities to mentions on them."""

from trigner.text.segmentation import (
    Segmentation,
    Unreachable,
    entity_of,
    located,
    segment,
    sentence_at,
    sentence_starts,
    sentences_in,
)
from trigner.text.sentences import sentence_words, split
from trigner.text.words import marks

__all__ = [
    "Segmentation",
    "Unreachable",
    "entity_of",
    "located",
    "marks",
    "segment",
    "sentence_at",
    "sentence_starts",
    "sentence_words",
    "sentences_in",
    "split",
]
