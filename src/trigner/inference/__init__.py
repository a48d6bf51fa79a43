"""Text -> entities."""

from trigner.inference.calibration import calibrate, with_temperature
from trigner.inference.extraction import Extractor
from trigner.inference.fetching import fetch
from trigner.inference.found import Extracted, PartialResult, Run, assembled
from trigner.inference.loading import load, spec_of
from trigner.inference.statistics import RunStatistics

__all__ = [
    "Extracted",
    "Extractor",
    "PartialResult",
    "Run",
    "RunStatistics",
    "assembled",
    "calibrate",
    "fetch",
    "load",
    "spec_of",
    "with_temperature",
]
