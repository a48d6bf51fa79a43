"""Triplets of mentions with what the network itself proposes wrongly among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from trigner.arrays import Logits
from trigner.mentions import Mention
from trigner.schemes import Scheme
from trigner.triplets import MentionBatch, collate_mentions

MOST = 8
"""Proposals of a sentence that take part: an untrained network proposes hundreds."""


@dataclass(frozen=True)
class ProposingBatch:
    """Sentences whose triplets wait for the network's logits.

    `sentences` are mentions and number of words of each, `offset` counts the special words in front
    of each one's logits.
    """

    sentences: Sequence[tuple[Sequence[Mention], int]]
    scheme: Scheme
    offset: int

    def decoded(self, logits: Tensor) -> MentionBatch:
        """The triplets with the best mentions of each sentence in logits `[B, L, L, C]`."""
        scores = logits.detach().float().cpu().numpy()
        proposed = [
            self._best(own[: self.offset + length, : self.offset + length])
            for own, (_, length) in zip(scores, self.sentences, strict=True)
        ]
        return collate_mentions(self.sentences, self.scheme.labels, proposed)

    def _best(self, logits: Logits) -> list[Mention]:
        """Mentions of the sentence's own words; special ones are nobody's.

        None when training has diverged, which its loss will tell.
        """
        if not np.isfinite(logits).all():
            return []
        found = (scored.mention for scored in self.scheme.decode(logits).mentions)
        own = [mention for mention in found if mention.words[0] >= self.offset]
        return [mention.shifted(-self.offset) for mention in own[:MOST]]
