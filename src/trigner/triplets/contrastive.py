"""The supervised contrastive loss over a batch's candidates, beside the triplet loss.

Khosla et al., Supervised contrastive learning, 2020, equation 2 (`L_out`): of each anchor's
positives the mean of `-log(exp(s_p / T) / sum(exp(s_c / T)))`, `c` being its positives and
negatives, `s` cosine similarities and `T` the temperature.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from trigner.triplets.batch import CandidateBatch


class ContrastiveLoss(nn.Module):
    """The mean over anchors, each with all of its positives and negatives."""

    def __init__(self, temperature: float = 0.1) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, states: Tensor, batch: CandidateBatch) -> Tensor:
        """A scalar; `states [N, D]` are the vectors of the batch's cells, on its device.

        Without anchors it is 0 and part of the states' graph. In float32 at least.
        """
        with torch.autocast(states.device.type, enabled=False):
            states = states.to(torch.promote_types(states.dtype, torch.float32))
            states = functional.normalize(states, dim=1)
            anchors = [states.new_zeros(()) * states.sum()]
            for block, negatives in batch.masks():
                pairs = batch.pair_anchors[block.pairs] - block.anchors.start
                cells = batch.pair_cells[block.pairs] - block.cells.start
                scores = states[batch.anchors[block.anchors]] @ states[block.cells].T
                scores = scores / self.temperature
                compared = negatives.index_put(
                    (pairs, cells), torch.ones_like(pairs, dtype=torch.bool)
                )
                total = scores.masked_fill(~compared, -torch.inf).logsumexp(dim=1)
                counts = batch.positive_counts[block.anchors].to(scores.dtype)
                losses = (total[pairs] - scores[pairs, cells]) / counts[pairs]
                anchors.append(losses.sum())
            return torch.stack(anchors).sum() / max(1, len(batch.anchors))

    def extra_repr(self) -> str:
        return f"temperature={self.temperature}"
