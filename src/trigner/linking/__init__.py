"""Codes of a user's own vocabulary for what was found."""

from __future__ import annotations

from trigner.linking.evaluation import Linked, evaluate
from trigner.linking.linker import Candidate, Linker
from trigner.linking.vocabulary import Concept, Vocabulary, normalised, read_vocabulary

__all__ = [
    "Candidate",
    "Concept",
    "Linked",
    "Linker",
    "Vocabulary",
    "evaluate",
    "normalised",
    "read_vocabulary",
]
