"""What training minimises: the tags' loss plus the triplet loss (paper, section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch import Tensor, nn

from trigner.networks import Tagger, TagScores
from trigner.training.task_losses import TaskLoss
from trigner.triplets import CandidateBatch, TripletLoss, TripletSettings


class Objective(nn.Module):
    """A tagger and its loss. `parts` holds the last batch's losses as numbers, for the log.

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
        self.triplet_loss = TripletLoss(
            selection=triplets.selection,
            margin=triplets.margin,
            metric=triplets.metric,
            reduction=triplets.reduction,
        )
        self.parts: dict[str, Tensor] = {}

    def forward(
        self,
        tags: Tensor,
        candidates: CandidateBatch | None = None,
        weight: float = 1.0,
        triplet_weight: float = 1.0,
        **inputs: Any,
    ) -> Tensor:
        """The loss of a batch, a scalar. `tags` hold `IGNORED` in padding.

        `weight` and `triplet_weight` are what the batch's tags and triplets count beside those of
        other batches (`training.weighting`).
        """
        scores = self.tagger(**inputs)
        task = weight * self.task_loss(scores.logits.float(), tags)
        self.parts = {"loss_tags": task.detach()}
        if candidates is None:
            return task
        candidates = candidates.to(scores.logits.device)
        result = self.triplet_loss(self._states(scores, candidates), candidates)
        # A sum counts each triplet alike already.
        factor = 1.0 if self.triplets.reduction == "sum" else triplet_weight
        triplets = factor * result.loss
        self.parts["loss_triplets"] = triplets.detach()
        return task + self.triplets.weight * triplets

    def _states(self, scores: TagScores, candidates: CandidateBatch) -> Tensor:
        cells = (candidates.sentences, candidates.rows, candidates.columns)
        if self.triplets.source == "logits":
            vectors = scores.logits[cells]
            return vectors if self.decoded is None else vectors[:, self.decoded]
        return self.tagger.pair_states(scores, *cells)


def parameter_groups(
    objective: Objective, *, encoder_lr: float, learning_rate: float, weight_decay: float
) -> list[dict[str, Any]]:
    """Three groups: the encoder, its biases and layer norms (no decay), everything else."""
    decayed: list[nn.Parameter] = []
    plain: list[nn.Parameter] = []
    for name, parameter in objective.tagger.encoder.named_parameters():
        kept = name.endswith("bias") or "layernorm" in name.lower().replace("_", "")
        (plain if kept else decayed).append(parameter)
    encoder = {id(p) for p in (*decayed, *plain)}
    others = [p for p in objective.parameters() if id(p) not in encoder]
    return [
        {"params": decayed, "lr": encoder_lr, "weight_decay": weight_decay},
        {"params": plain, "lr": encoder_lr, "weight_decay": 0.0},
        {"params": others, "lr": learning_rate, "weight_decay": weight_decay},
    ]
