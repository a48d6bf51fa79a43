"""Mentions -> candidate cells -> triplets -> loss (paper, section 3.3).

`candidates` works on one sentence, `collate` joins those of a batch, and `TripletLoss` takes the
vectors of the batch's cells; `ContrastiveLoss` can stand in its place.
"""

from trigner.triplets.batch import CandidateBatch, collate
from trigner.triplets.candidates import Candidates, candidates
from trigner.triplets.contrastive import ContrastiveLoss
from trigner.triplets.loss import TripletLoss, TripletResult
from trigner.triplets.metrics import METRICS
from trigner.triplets.projection import ProjectionHead
from trigner.triplets.schedule import share_of_weight
from trigner.triplets.selection import SELECTIONS, triplet_count
from trigner.triplets.settings import SELECTION_ALIASES, TripletSettings
from trigner.triplets.wrong_mentions import (
    MentionBatch,
    MentionTripletLoss,
    collate_mentions,
    wrong_mentions,
)

__all__ = [
    "METRICS",
    "SELECTIONS",
    "SELECTION_ALIASES",
    "CandidateBatch",
    "Candidates",
    "ContrastiveLoss",
    "MentionBatch",
    "MentionTripletLoss",
    "ProjectionHead",
    "TripletLoss",
    "TripletResult",
    "TripletSettings",
    "candidates",
    "collate",
    "collate_mentions",
    "share_of_weight",
    "triplet_count",
    "wrong_mentions",
]
