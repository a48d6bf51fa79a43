"""Mention sets -> scores. Numpy only."""

from trigner.evaluation.calibration import (
    Calibration,
    Predictions,
    best_temperature,
    calibration_error,
    predictions,
    together,
)
from trigner.evaluation.ceiling import FORMAT, Ceiling, Lost, RoundTrip, ceiling, ceilings
from trigner.evaluation.comparison import (
    ComparedDocument,
    Comparison,
    Count,
    Finding,
    Kind,
    compare,
)
from trigner.evaluation.counts import Score
from trigner.evaluation.figures import check_figure, figure_for, plain_legend, save_figure
from trigner.evaluation.matching import by_id
from trigner.evaluation.relaxed import Rates, relaxed_scores
from trigner.evaluation.scores import Scores, Slices, score, unknown_labels
from trigner.evaluation.sentence_counts import SLICES, SentenceCounts, sentence_counts
from trigner.evaluation.signature import data_hash, same_data, sign
from trigner.evaluation.significance import Significance, compare_slices
from trigner.evaluation.skipping import without_first
from trigner.evaluation.statistics import Statistics, describe, plot_gaps, statistics_table
from trigner.evaluation.table import (
    errors_table,
    percentages,
    relaxed_table,
    report_table,
    slices_table,
)
from trigner.evaluation.thresholds import ALL, Curve, curve, curves, plot_curves, refuse_all

__all__ = [
    "ALL",
    "FORMAT",
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
    "by_id",
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
    "figure_for",
    "percentages",
    "plain_legend",
    "plot_curves",
    "plot_gaps",
    "predictions",
    "refuse_all",
    "relaxed_scores",
    "relaxed_table",
    "report_table",
    "same_data",
    "save_figure",
    "score",
    "sentence_counts",
    "sign",
    "slices_table",
    "statistics_table",
    "together",
    "unknown_labels",
    "without_first",
]
