"""Vectors of texts: the mean of an encoder's states, as sentence encoders are trained for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trigner.errors import require_extra
from trigner.linking.linker import Vectors

_AT_A_TIME = 256


def encoder_vectors(encoder: str) -> Vectors:
    """What gives vectors of length 1 for texts, from a pretrained encoder.

    `encoder` is a short name, a folder or a name on the Hub. Raises InputError when it cannot be
    had, TrignerError without PyTorch (extra `train`).
    """
    require_extra("train", "torch", "transformers")
    import torch

    from trigner.encoders import load_encoder

    model, subwords, padding = load_encoder(encoder, ())
    model.eval()
    subwords.enable_padding(pad_id=padding)
    subwords.enable_truncation(128)

    def vectors(texts: Sequence[str]) -> NDArray[np.float32]:
        rows = []
        for first in range(0, len(texts), _AT_A_TIME):
            batch = subwords.encode_batch(list(texts[first : first + _AT_A_TIME]))
            ids = torch.tensor([own.ids for own in batch])
            mask = torch.tensor([own.attention_mask for own in batch])
            with torch.inference_mode():
                states = model(input_ids=ids, attention_mask=mask).last_hidden_state
            weights = mask.unsqueeze(-1).to(states.dtype)
            means = (states * weights).sum(1) / weights.sum(1)
            rows.append(torch.nn.functional.normalize(means, dim=-1).cpu().numpy())
        return np.concatenate(rows)

    return vectors
