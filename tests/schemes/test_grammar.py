from __future__ import annotations

import pytest

from trigner.mentions import Mention
from trigner.schemes.grammar import check

MENTIONS = [Mention((n,), "A") for n in range(3)]


def test_check():
    check(MENTIONS, ("A",), 3)
    with pytest.raises(ValueError, match="word 2 is outside a sentence of 2 words"):
        check(MENTIONS, ("A",), 2)
    with pytest.raises(ValueError, match="unknown label 'A'"):
        check(MENTIONS, ("B",), 3)
