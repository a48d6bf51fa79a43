"""Mention sets -> scores. Numpy only."""

from trigner.evaluation.calibration import (
    Calibration,
    Predictions,
    best_temperature,
    calibration_error,
    predictions,
    together,
)
from trigner.evaluation.ceiling import Ceiling, Lost, RoundTrip, ceiling, ceilings
from trigner.evaluation.comparison import (
    ComparedDocument,
    Comparison,
    Count,
    Finding,
    Kind,
    compare,
)
from trigner.evaluation.counts import Score
from trigner.evaluation.figures import check_figure
from trigner.evaluation.relaxed import Rates, relaxed_scores
from trigner.evaluation.scores import Scores, Slices, score, unknown_labels
from trigner.evaluation.sentence_counts import SLICES, SentenceCounts, sentence_counts
from trigner.evaluation.signature import data_hash, same_data, sign
from trigner.evaluation.significance import Significance, compare_slices
from trigner.evaluation.skipping import without_first
from trigner.evaluation.statistics import Statistics, describe, plot_gaps, statistics_table
from trigner.evaluation.table import errors_table, relaxed_table, table
from trigner.evaluation.thresholds import Curve, curve, curves, plot_curves

__all__ = [
    "SLICES",
    "Calibration",
    "Ceiling",
    "ComparedDocument",
    "Comparison",
    "Count",
    "Curve",
    "Finding",
    "Kind",
    "Lost",
    "Predictions",
    "Rates",
    "RoundTrip",
    "Score",
    "Scores",
    "SentenceCounts",
    "Significance",
    "Slices",
    "Statistics",
    "best_temperature",
    "calibration_error",
    "ceiling",
    "ceilings",
    "check_figure",
    "compare",
    "compare_slices",
    "curve",
    "curves",
    "data_hash",
    "describe",
    "errors_table",
    "plot_curves",
    "plot_gaps",
    "predictions",
    "relaxed_scores",
    "relaxed_table",
    "same_data",
    "score",
    "sentence_counts",
    "sign",
    "statistics_table",
    "table",
    "together",
    "unknown_labels",
    "without_first",
]
