from __future__ import annotations

import pytest
import torch

from trigner.errors import InputError
from trigner.networks import Tagger, TagScores


class Sequence(Tagger):
    def forward(self, *arrays):
        return TagScores(torch.zeros(1, 2, 3), torch.zeros(1, 2, 4))


def test_a_tagger_without_word_pairs_has_no_pair_states():
    scores = Sequence()(*[torch.zeros(1)] * 4)
    with pytest.raises(InputError, match="no word pairs"):
        Sequence().pair_states(scores, *[torch.tensor([0])] * 3)
