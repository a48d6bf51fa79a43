"""What training minimises: the tags' loss plus the triplet loss (paper, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from torch import Tensor, nn

from trigner.networks import PairTagger, Tagger, TagScores
from trigner.systems import Losses
from trigner.tagging.r_drop import RDrop
from trigner.tagging.task_losses import TaskLoss
from trigner.triplets import CandidateBatch, TripletLoss, TripletSettings


class Objective(nn.Module):
    """A tagger and its loss.

    Of the logits, triplets see the classes `decoded` alone (None: all). With `r_drop` a batch goes
    through the tagger twice: triplets see the first pass, the tags' loss is the mean of both.
    """

    def __init__(
        self,
        tagger: Tagger,
        task_loss: TaskLoss,
        triplets: TripletSettings,
        decoded: Sequence[int] | None = None,
        r_drop: RDrop | None = None,
    ) -> None:
        super().__init__()
        self.tagger = tagger
        self.task_loss = task_loss
        self.triplets = triplets
        self.decoded = None if decoded is None else list(decoded)
        self.r_drop = r_drop
        self.triplet_loss = TripletLoss(
            selection=triplets.selection,
            margin=triplets.margin,
            metric=triplets.metric,
            reduction=triplets.reduction,
        )

    def forward(
        self,
        tags: Tensor,
        candidates: CandidateBatch | None = None,
        weights: Mapping[str, float] | None = None,
        **inputs: Any,
    ) -> Losses:
        """The losses of a batch. `tags` hold `IGNORED` in padding.

        `weights` say what its `cells` and `anchors` count compared to those of other batches
        (`training.weighting`).
        """
        weights = weights or {}
        count = weights.get("cells", 1.0)
        scores = self.tagger(**inputs)
        task = count * self.task_loss(scores.logits.float(), tags)
        parts: dict[str, Tensor] = {}
        total = task
        if self.r_drop is not None:
            other = self.tagger(**inputs)
            task = (task + count * self.task_loss(other.logits.float(), tags)) / 2
            one, two = (self.tagger.emissions(own).float() for own in (scores, other))
            divergence = count * self.r_drop.divergence(one, two, tags)
            parts["loss_r_drop"] = divergence.detach()
            total = task + self.r_drop.weight * divergence
        parts["loss_tags"] = task.detach()
        if candidates is None:
            return Losses(total, parts)
        candidates = candidates.to(scores.logits.device)
        result = self.triplet_loss(self._states(scores, candidates), candidates)
        # A sum counts each triplet alike already.
        summed = self.triplets.reduction == "sum"
        triplets = (1.0 if summed else weights.get("anchors", 1.0)) * result.loss
        total = total + self.triplets.weight * triplets
        return Losses(total, {**parts, "loss_triplets": triplets.detach()})

    def _states(self, scores: TagScores, candidates: CandidateBatch) -> Tensor:
        cells = (candidates.sentences, candidates.rows, candidates.columns)
        if self.triplets.source == "logits":
            vectors = scores.logits[cells]
            return vectors if self.decoded is None else vectors[:, self.decoded]
        return cast(PairTagger, self.tagger).pair_states(scores, *cells)
