"""Text -> entities."""

from trigner.pipeline.calibration import calibrate, with_temperature
from trigner.pipeline.chunks import ordered
from trigner.pipeline.extraction import CELL_BUDGET, Extractor, best_first
from trigner.pipeline.found import Extracted, PartialResult, Run, assembled
from trigner.pipeline.loading import load, spec_of
from trigner.pipeline.options import checked_thresholds, positive
from trigner.pipeline.statistics import RunStatistics
from trigner.pipeline.texts import refuse_tables

__all__ = [
    "CELL_BUDGET",
    "Extracted",
    "Extractor",
    "PartialResult",
    "Run",
    "RunStatistics",
    "assembled",
    "best_first",
    "calibrate",
    "checked_thresholds",
    "load",
    "ordered",
    "positive",
    "refuse_tables",
    "spec_of",
    "with_temperature",
]
