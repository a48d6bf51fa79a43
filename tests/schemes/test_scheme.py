from __future__ import annotations

import numpy as np
import pytest

from tiny_models import TAG_SCHEMES, make_scheme
from trigner.mentions import Mention
from trigner.schemes.scheme import Explaining, TagSpace, check, decoded_tags, log_probability

LABELS = ("ADR", "Drug")


@pytest.mark.parametrize("name", sorted(TAG_SCHEMES))
def test_every_scheme_does_what_the_protocol_says(name):
    made = make_scheme(name, LABELS)
    assert made.name == name
    assert made.labels == LABELS
    assert isinstance(made.tag_space, TagSpace)
    # What every scheme can express: nothing discontinuous.
    mentions = (Mention((0, 1), "ADR"), Mention((3,), "Drug"))
    encoding = made.encode(mentions, 4)
    words = (4,) * made.tag_space.word_axes
    several = made.tag_space is TagSpace.MULTI_LABEL_GRID
    assert encoding.tags.shape == (*words, len(made.tags)) if several else words
    groups = [tag for g in made.groups for tag in range(g.start, g.stop)]
    assert groups == (list(range(len(made.tags))) if several else [])
    assert encoding.lost == ()
    sure = made.decode_tags(encoding.tags)
    assert sure.complete
    assert {s.mention for s in sure.mentions} == set(mentions)
    assert {s.score for s in sure.mentions} == {1.0}
    scores = encoding.tags * 2 - 1 if several else np.eye(len(made.tags))[encoding.tags]
    scored = made.decode(scores * 20.0)
    assert {s.mention for s in scored.mentions} == set(mentions)
    assert all(0.99 < s.score <= 1 for s in scored.mentions)


def test_decoding_reads_all_tags_but_the_auxiliary():
    assert decoded_tags(make_scheme("w2ner", LABELS)) == (0, 1, 2, 3)
    assert decoded_tags(make_scheme("toe", LABELS)) == (0, 1, 2, 3, 4, 5)


def test_schemes_that_explain_their_scores():
    assert isinstance(make_scheme("toe", LABELS), Explaining)
    assert not isinstance(make_scheme("w2ner", LABELS), Explaining)


@pytest.mark.parametrize("name", sorted(TAG_SCHEMES))
def test_what_no_scheme_takes(name, refused):
    mentions = [Mention((n,), "ADR") for n in range(3)]
    check(mentions, LABELS, 3)
    with refused(error=ValueError):
        make_scheme(name, LABELS).encode(mentions, 2)
    with refused(error=ValueError):
        make_scheme(name, ("Drug",)).encode(mentions, 3)


def test_log_probability():
    scores = np.array([-np.inf, -800.0, -2.0, 0.0, 2.0, np.inf], dtype=np.float32)
    probabilities = [0, 0, 1 / (1 + np.exp(2)), 0.5, 1 / (1 + np.exp(-2)), 1]
    np.testing.assert_allclose(np.exp(log_probability(scores)), probabilities, rtol=1e-7)
    assert log_probability(scores)[1] == -800
