"""Mentions -> candidate cells -> triplets -> loss (paper, section 3.3).

`candidates` works on one sentence, `collate` joins those of a batch, and `TripletLoss` takes the
vectors of the batch's cells.
"""

from trigner.triplets.batch import CandidateBatch, collate
from trigner.triplets.candidates import Candidates, candidates
from trigner.triplets.loss import TripletLoss, TripletResult
from trigner.triplets.metrics import METRICS
from trigner.triplets.projection import ProjectionHead
from trigner.triplets.selection import SELECTIONS, triplet_count
from trigner.triplets.settings import SELECTION_ALIASES, TripletSettings

__all__ = [
    "METRICS",
    "SELECTIONS",
    "SELECTION_ALIASES",
    "CandidateBatch",
    "Candidates",
    "ProjectionHead",
    "TripletLoss",
    "TripletResult",
    "TripletSettings",
    "candidates",
    "collate",
    "triplet_count",
]
