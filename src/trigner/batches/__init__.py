"""Sentences -> padded arrays. Numpy only."""

from trigner.batches.batching import by_cost, shuffled, shuffled_by_cost
from trigner.batches.collation import IGNORED, Batch, collate, pad_tags
from trigner.batches.encoder_inputs import EncoderInputs
from trigner.batches.examples import Example, Prepared, windowing
from trigner.batches.subwords import SPECIAL_WORDS, SentenceSubwords, SubwordTokenizer, readable
from trigner.batches.windows import Window

__all__ = [
    "IGNORED",
    "SPECIAL_WORDS",
    "Batch",
    "EncoderInputs",
    "Example",
    "Prepared",
    "SentenceSubwords",
    "SubwordTokenizer",
    "Window",
    "by_cost",
    "collate",
    "pad_tags",
    "readable",
    "shuffled",
    "shuffled_by_cost",
    "windowing",
]
