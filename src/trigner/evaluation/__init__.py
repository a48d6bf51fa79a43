"""Mention sets -> scores. Numpy only."""

from trigner.evaluation.ceiling import Ceiling, ceiling
from trigner.evaluation.counts import Score
from trigner.evaluation.scores import Scores, Slices, score, unknown_labels
from trigner.evaluation.signature import Signature, data_hash, sign
from trigner.evaluation.table import table

__all__ = [
    "Ceiling",
    "Score",
    "Scores",
    "Signature",
    "Slices",
    "ceiling",
    "data_hash",
    "score",
    "sign",
    "table",
    "unknown_labels",
]
