"""What training minimises: the tags' loss plus the triplet loss (paper, section 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from torch import Tensor, nn

from trigner.families.tagging.distillation import Distillation
from trigner.families.tagging.tagger import PairTagger, Tagger, TagScores
from trigner.families.tagging.task_losses import TaskLoss
from trigner.systems import Losses
from trigner.triplets import CandidateBatch, TripletLoss, TripletSettings


class Objective(nn.Module):
    """A tagger and its loss.

    Of the logits, triplets see the classes `decoded` alone (None: all). With `distillation` the
    tags' loss is a mean of what tags and teachers ask for, in a batch that has `soft` tags.
    """

    def __init__(
        self,
        tagger: Tagger,
        task_loss: TaskLoss,
        triplets: TripletSettings,
        decoded: Sequence[int] | None = None,
        distillation: Distillation | None = None,
    ) -> None:
        super().__init__()
        self.tagger = tagger
        self.task_loss = task_loss
        self.triplets = triplets
        self.decoded = None if decoded is None else list(decoded)
        self.distillation = distillation
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
        soft: Tensor | None = None,
        **inputs: Any,
    ) -> Losses:
        """The losses of a batch. `tags` hold `IGNORED` in padding.

        `weights` say what its `cells` and `triplets` count compared to those of other batches
        (`training.weighting`).
        """
        weights = weights or {}
        scores = self.tagger(**inputs)
        task = weights.get("cells", 1.0) * self._task(scores.logits.float(), tags, soft)
        parts = {"loss_tags": task.detach()}
        if candidates is None:
            return Losses(task, parts)
        candidates = candidates.to(scores.logits.device)
        triplets = self._of_triplets(self._states(scores, candidates), candidates, weights)
        parts["loss_triplets"] = triplets.detach()
        return Losses(task + self.triplets.weight * triplets, parts)

    def _task(self, logits: Tensor, tags: Tensor, soft: Tensor | None) -> Tensor:
        """The tags' loss; with teachers, of their probabilities too."""
        task = self.task_loss(logits, tags)
        if soft is None or self.distillation is None:
            return task
        return task + self.distillation.weight * (self.distillation.loss(logits, tags, soft) - task)

    def _of_triplets(
        self, states: Tensor, candidates: CandidateBatch, weights: Mapping[str, float]
    ) -> Tensor:
        loss: Tensor = self.triplet_loss(states, candidates).loss
        # A sum counts each triplet alike already.
        return loss if self.triplets.reduction == "sum" else weights.get("triplets", 1.0) * loss

    def _states(self, scores: TagScores, candidates: CandidateBatch) -> Tensor:
        cells = (candidates.sentences, candidates.rows, candidates.columns)
        if self.triplets.source == "logits":
            vectors = scores.logits[cells]
            return vectors if self.decoded is None else vectors[:, self.decoded]
        tagger = cast(PairTagger, self.tagger)
        states = tagger.pair_states(scores, *cells)
        return states if tagger.projection is None else cast(Tensor, tagger.projection(states))
