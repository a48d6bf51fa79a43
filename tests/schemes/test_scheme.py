from __future__ import annotations

import numpy as np
import pytest

from trigner.errors import InputError
from trigner.mentions import Mention
from trigner.schemes import SCHEMES, TagSpace, scheme

LABELS = ("ADR", "Drug")


@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_every_scheme_does_what_the_protocol_says(name):
    made = scheme(name, LABELS)
    assert made.name == name
    assert made.labels == LABELS
    assert isinstance(made.tag_space, TagSpace)
    mentions = (Mention((0, 2), "ADR"), Mention((1,), "Drug"))
    encoding = made.encode(mentions, 4)
    assert encoding.tags.shape == (4, 4)
    assert encoding.lost == ()
    sure = made.decode_tags(encoding.tags)
    assert sure.complete
    assert {s.mention for s in sure.mentions} == set(mentions)
    assert {s.score for s in sure.mentions} == {1.0}
    scored = made.decode(np.eye(len(made.tags))[encoding.tags] * 20)
    assert {s.mention for s in scored.mentions} == set(mentions)
    assert all(0.99 < s.score <= 1 for s in scored.mentions)


def test_an_unknown_scheme_lists_the_known():
    with pytest.raises(InputError, match=r"unknown scheme 'bio'; known are: .*w2ner"):
        scheme("bio", LABELS)
