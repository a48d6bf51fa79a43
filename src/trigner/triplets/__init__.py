"""Mentions -> candidate cells -> triplets -> loss (paper, section 3.3).

`candidates` works on one sentence, `collate` joins a batch, and `TripletLoss` takes the vectors of
the batch's cells.
"""

from trigner.triplets.batch import CandidateBatch, collate
from trigner.triplets.candidates import Candidates, candidates
from trigner.triplets.loss import TripletLoss, TripletResult
from trigner.triplets.metrics import METRICS
from trigner.triplets.selection import SELECTION_ALIASES, SELECTIONS
from trigner.triplets.settings import CLEAN, PAPER, CandidateSettings

__all__ = [
    "CLEAN",
    "METRICS",
    "PAPER",
    "SELECTIONS",
    "SELECTION_ALIASES",
    "CandidateBatch",
    "CandidateSettings",
    "Candidates",
    "TripletLoss",
    "TripletResult",
    "candidates",
    "collate",
]
