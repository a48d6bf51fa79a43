"""Fragments of mentions and the relations between them (SODNER, Li et al., ACL 2021).

Modules that need PyTorch are imported by those who need them: the format runs without.
"""

from trigner.spans.fragments import FragmentFormat, Fragments, SpanScores
from trigner.spans.settings import SpanSettings

__all__ = ["FragmentFormat", "Fragments", "SpanScores", "SpanSettings"]
