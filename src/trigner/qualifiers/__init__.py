"""Whether what was found is denied, only feared, long ago, or somebody else's."""

from __future__ import annotations

from trigner.qualifiers.rules import QUALIFIERS, QualifierRules, english, read_rules

__all__ = ["QUALIFIERS", "QualifierRules", "english", "read_rules"]
