from __future__ import annotations

import numpy as np
import pytest

from tiny_models import TAG_SCHEMES, make_scheme
from trigner.schemes.grammar import NO_TAG
from trigner.schemes.scheme import TagSpace

SEQUENCES = [name for name in TAG_SCHEMES if make_scheme(name, ()).tag_space is TagSpace.SEQUENCE]


@pytest.mark.parametrize("name", SEQUENCES)
def test_what_grammars_say_of_tags_agrees(name):
    grammar = make_scheme(name, ("A", "B")).grammar
    every = np.arange(len(grammar.tags))
    assert grammar.exchange.tolist() == list(grammar.exchanged)
    np.testing.assert_array_equal(grammar.exchange[grammar.exchange], every)
    reopened = np.array(grammar.reopened)
    np.testing.assert_array_equal(reopened[reopened], every)
    assert grammar.continued[0] == NO_TAG
    for tag in set(grammar.continued) - {NO_TAG}:
        assert grammar.continued[tag] == tag  # a segment continues as it did before
    # A type's tags are exchanged and continued by its own.
    for tag, name_of in enumerate(grammar.tags[1:], 1):
        for other in (grammar.exchanged[tag], grammar.continued[tag]):
            assert other == NO_TAG or grammar.tags[other][-1] == name_of[-1]
