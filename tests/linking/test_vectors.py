from __future__ import annotations

import numpy as np
import pytest

from trigner.linking.vectors import encoder_vectors

TEXTS = ["my leg", "my left leg and right arm hurt", "pain"]


@pytest.fixture(scope="module")
def vectors(encoder):
    return encoder_vectors(str(encoder))


def test_vectors_have_length_one_and_do_not_depend_on_their_batch(vectors):
    together = vectors(TEXTS)
    assert together.shape[0] == len(TEXTS)
    assert np.linalg.norm(together, axis=1) == pytest.approx(1.0)
    for text, vector in zip(TEXTS, together, strict=True):
        assert vectors([text])[0] == pytest.approx(vector, abs=1e-5)
