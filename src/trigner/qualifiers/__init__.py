"""Whether what was found is denied, only feared, long ago, or somebody else's."""

from trigner.qualifiers.rules import QUALIFIERS, QualifierRules, english, read_rules

__all__ = [
    "QUALIFIERS",
    "QualifierRules",
    "english",
    "read_rules",
]
