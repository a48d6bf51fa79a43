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
from trigner.text.sentences import split

__all__ = [
    "Segmentation",
    "Unreachable",
    "entity_of",
    "located",
    "segment",
    "sentence_at",
    "sentence_starts",
    "sentences_in",
    "split",
]
