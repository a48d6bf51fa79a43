"""Segments, then which combinations of them are mentions (Wang and Lu, EMNLP 2019).

Modules that need PyTorch are imported by those who need them: the format runs without.
"""

from trigner.segments.format import Combinations, SegmentFormat
from trigner.segments.settings import SegmentSettings

__all__ = ["Combinations", "SegmentFormat", "SegmentSettings"]
