from __future__ import annotations

import numpy as np
import pytest

from trigner.mentions import Mention
from trigner.schemes import Biohd, Biohd1234
from trigner.schemes.ambiguity import consistent_sets

ONE = Biohd(("A",))


def tags(*names, scheme=ONE):
    return np.array([scheme.tags.index(name if name == "O" else f"{name}-A") for name in names])


def words(sets):
    return {frozenset(mention.words for mention in own) for own in sets}


def test_one_mention_in_two_pieces_has_one_meaning():
    assert words(consistent_sets(ONE, tags("DB", "O", "DB"))) == {frozenset({(0, 2)})}
    assert words(consistent_sets(ONE, tags("O", "B", "I"))) == {frozenset({(1, 2)})}
    assert words(consistent_sets(ONE, tags("O", "O"))) == {frozenset()}


def test_four_pieces_are_one_mention_or_two():
    found = words(consistent_sets(ONE, tags("DB", "O", "DB", "O", "DB", "O", "DB")))
    assert found == {
        frozenset({(0, 2, 4, 6)}),
        frozenset({(0, 2), (4, 6)}),
        frozenset({(0, 4), (2, 6)}),
        frozenset({(0, 6), (2, 4)}),
    }


def test_a_shared_piece_has_several_owners():
    found = words(consistent_sets(ONE, tags("HB", "O", "DB", "O", "DB")))
    assert frozenset({(0, 2), (0, 4)}) in found
    assert frozenset({(0,), (0, 2, 4)}) in found
    assert all(sum(0 in own for own in mentions) > 1 for mentions in found)


def test_what_was_encoded_is_among_them_and_digits_leave_less():
    gold = [Mention((0, 2), "A"), Mention((4, 6), "A")]
    kept = {}
    for scheme in (ONE, Biohd1234(("A",))):
        found = consistent_sets(scheme, scheme.encode(gold, 7).tags)
        assert frozenset(gold) in found
        kept[scheme.name] = len(found)
    assert kept["biohd1234"] < kept["biohd"]


def test_tags_that_nothing_has_and_too_many_pieces():
    assert consistent_sets(ONE, tags("HB", "O", "O")) == []
    assert consistent_sets(ONE, tags("DB", "DB")) == []
    with pytest.raises(ValueError, match="5 heads and parts of A: at most 4"):
        consistent_sets(ONE, tags(*["DB", "O"] * 5))


def test_labels_are_combined():
    scheme = Biohd(("A", "B"))
    gold = {Mention((0, 2), "A"), Mention((1, 3), "B"), Mention((4,), "B")}
    assert consistent_sets(scheme, scheme.encode(sorted(gold), 5).tags) == [frozenset(gold)]
