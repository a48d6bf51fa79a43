from __future__ import annotations

from dataclasses import dataclass
from typing import get_type_hints

import numpy as np

from trigner import arrays


@dataclass
class Example:
    tags: arrays.Tags
    words: arrays.Integers


def test_aliases_can_be_resolved_as_types():
    hints = get_type_hints(Example)
    assert hints["tags"] == arrays.Tags
    assert np.dtype(hints["words"].__args__[1].__args__[0]) == np.int64
