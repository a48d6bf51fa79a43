"""What training minimises: the tags' loss plus the triplet loss (paper, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from torch import Tensor, nn

from trigner.networks import PairTagger, Tagger, TagScores
from trigner.systems import Losses
from trigner.tagging.task_losses import TaskLoss
from trigner.triplets import (
    CandidateBatch,
    ContrastiveLoss,
    MentionBatch,
    MentionTripletLoss,
    ProjectionHead,
    TripletLoss,
    TripletSettings,
)


class Objective(nn.Module):
    """A tagger and its loss.

    Of the logits, triplets see the classes `decoded` alone (None: all).
    """

    def __init__(
        self,
        tagger: Tagger,
        task_loss: TaskLoss,
        triplets: TripletSettings,
        decoded: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        self.tagger = tagger
        self.task_loss = task_loss
        self.triplets = triplets
        self.decoded = None if decoded is None else list(decoded)
        self.mention_loss = MentionTripletLoss(triplets.margin)
        self.contrastive_loss = ContrastiveLoss(triplets.temperature)
        self.triplet_loss = TripletLoss(
            selection=triplets.selection,
            margin=triplets.margin,
            metric=triplets.metric,
            reduction=triplets.reduction,
        )

    def forward(
        self,
        tags: Tensor,
        candidates: CandidateBatch | MentionBatch | None = None,
        weights: Mapping[str, float] | None = None,
        **inputs: Any,
    ) -> Losses:
        """The losses of a batch. `tags` hold `IGNORED` in padding.

        `weights` say what its `cells` and `anchors` count compared to those of other batches
        (`training.weighting`), and what part of their weight `triplets` have at this update.
        """
        weights = weights or {}
        scores = self.tagger(**inputs)
        task = weights.get("cells", 1.0) * self.task_loss(scores.logits.float(), tags)
        if candidates is None:
            return Losses(task, {"loss_tags": task.detach()})
        candidates = candidates.to(scores.logits.device)
        weight = self.triplets.weight * weights.get("triplets", 1.0)
        triplets = self._of_triplets(self._states(scores, candidates), candidates, weights)
        parts = {"loss_tags": task.detach(), "loss_triplets": triplets.detach()}
        return Losses(task + weight * triplets, parts)

    def _of_triplets(
        self,
        states: Tensor,
        candidates: CandidateBatch | MentionBatch,
        weights: Mapping[str, float],
    ) -> Tensor:
        anchors = weights.get("anchors", 1.0)
        if isinstance(candidates, MentionBatch):
            centres = cast(ProjectionHead, cast(PairTagger, self.tagger).projection).centres
            return anchors * cast(Tensor, self.mention_loss(states, centres, candidates))
        if self.triplets.loss == "contrastive":
            return anchors * cast(Tensor, self.contrastive_loss(states, candidates))
        loss: Tensor = self.triplet_loss(states, candidates).loss
        # A sum counts each triplet alike already.
        return loss if self.triplets.reduction == "sum" else anchors * loss

    def _states(self, scores: TagScores, candidates: CandidateBatch | MentionBatch) -> Tensor:
        cells = (candidates.sentences, candidates.rows, candidates.columns)
        if self.triplets.source == "logits":
            vectors = scores.logits[cells]
            return vectors if self.decoded is None else vectors[:, self.decoded]
        tagger = cast(PairTagger, self.tagger)
        states = tagger.pair_states(scores, *cells)
        return states if tagger.projection is None else cast(Tensor, tagger.projection(states))
