from __future__ import annotations

import pytest

from trigner.systems.sections import AUTO_UPDATES, FEWEST_EPOCHS, MOST_EPOCHS, OptimisationSettings


@pytest.mark.parametrize(
    ("sentences", "epochs"),
    [
        (0, MOST_EPOCHS),
        (500, MOST_EPOCHS),
        (12 * AUTO_UPDATES / 20, 20),
        (12 * AUTO_UPDATES / 20 - 1, 21),
        (12 * AUTO_UPDATES, FEWEST_EPOCHS),
    ],
)
def test_auto_epochs_make_about_as_many_updates(sentences, epochs):
    settings = OptimisationSettings(epochs="auto", batch_size=12)
    assert settings.epochs_of(sentences) == epochs
    assert OptimisationSettings(epochs=3).epochs_of(sentences) == 3
