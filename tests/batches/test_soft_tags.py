from __future__ import annotations

import numpy as np
import pytest

from trigner.batches import SoftTags
from trigner.batches.soft_tags import LEAST


def test_cells_in_which_no_tag_is_probable_are_not_kept():
    grid = np.zeros((2, 2, 3))
    grid[0, 1, 2], grid[1, 0, 0], grid[1, 1] = LEAST, 0.99 * LEAST, (0.25, 0.5, 0)
    kept = SoftTags.of(grid)
    assert kept.cells.tolist() == [1, 3]
    again = kept.grid(2)
    assert again[1].tolist() == [[0, 0, 0], [0.25, 0.5, 0]]
    assert again[0, 0].tolist() == [0, 0, 0]
    assert again[0, 1].tolist() == pytest.approx([0, 0, LEAST], rel=1e-3)
