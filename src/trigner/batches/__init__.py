"""Sentences -> padded arrays. Numpy only."""

from trigner.batches.batching import by_cost, shuffled, shuffled_by_cost
from trigner.batches.collation import IGNORED, Batch, collate, pad_tags
from trigner.batches.examples import Cut, Example, cut
from trigner.batches.pieces import SPECIAL_WORDS, SentencePieces, WordPieces
from trigner.batches.windows import Window, windows

__all__ = [
    "IGNORED",
    "SPECIAL_WORDS",
    "Batch",
    "Cut",
    "Example",
    "SentencePieces",
    "Window",
    "WordPieces",
    "by_cost",
    "collate",
    "cut",
    "pad_tags",
    "shuffled",
    "shuffled_by_cost",
    "windows",
]
