"""Codes of a user's own vocabulary for what was found."""

from trigner.linking.evaluation import Linked, evaluate
from trigner.linking.linker import Candidate, Linker
from trigner.linking.vectors import encoder_vectors
from trigner.linking.vocabulary import Concept, Vocabulary, normalised, read_vocabulary

__all__ = [
    "Candidate",
    "Concept",
    "Linked",
    "Linker",
    "Vocabulary",
    "encoder_vectors",
    "evaluate",
    "normalised",
    "read_vocabulary",
]
