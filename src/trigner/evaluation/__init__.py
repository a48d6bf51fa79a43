"""Mention sets -> scores. Numpy only."""

from trigner.evaluation.ceiling import Ceiling, ceiling
from trigner.evaluation.counts import Score
from trigner.evaluation.scores import Scores, Slices, score, unknown_labels
from trigner.evaluation.signature import Signature, data_hash, sign
from trigner.evaluation.statistics import Statistics, describe, plot_gaps, statistics_table
from trigner.evaluation.table import table

__all__ = [
    "Ceiling",
    "Score",
    "Scores",
    "Signature",
    "Slices",
    "Statistics",
    "ceiling",
    "data_hash",
    "describe",
    "plot_gaps",
    "score",
    "sign",
    "statistics_table",
    "table",
    "unknown_labels",
]
