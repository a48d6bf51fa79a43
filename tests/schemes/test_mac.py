from __future__ import annotations

import time
import tracemalloc
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import mac_naive
from trigner.mentions import Mention
from trigner.schemes.mac import Mac

LABELS = ("ADR", "Drug")
FULL, MINIMAL = Mac(LABELS), Mac(LABELS, full=False)
BOTH = pytest.mark.parametrize("mac", [FULL, MINIMAL], ids=["full", "minimal"])


def named(mac, tags):
    """Tag name and cell of each tag that is there."""
    return {(mac.tags[tag], int(i), int(j)) for i, j, tag in np.argwhere(tags)}


def words_of(decoding):
    return {scored.mention.words for scored in decoding.mentions}


def round_trip(mac, *mentions, length):
    encoding = mac.encode([Mention(words, "ADR") for words in mentions], length)
    return words_of(mac.decode_tags(encoding.tags))


def tagged(mac, length, *cells):
    """Tags `[L, L, C]` with these names and cells."""
    tags = np.zeros((length, length, len(mac.tags)), dtype=np.int8)
    for name, row, column in cells:
        tags[row, column, mac.tags.index(name)] = 1
    return tags


def test_tags_of_one_mention():
    mention = Mention((0, 3, 4, 7, 8), "ADR")
    segments = [("B-ADR", 0, 0), ("I-ADR", 3, 4), ("I-ADR", 7, 8)]
    both = {
        *[("H2H-ADR", a, b) for a, b in ((0, 3), (3, 0), (0, 7), (7, 0), (3, 7), (7, 3))],
        *[("T2T-ADR", a, b) for a, b in ((0, 4), (4, 0), (0, 8), (8, 0), (4, 8), (8, 4))],
    }
    more = {
        ("BOUND-ADR", 0, 8),
        *[("H2T-ADR", a, b) for a, b in ((0, 4), (3, 0), (0, 8), (7, 0), (3, 8), (7, 4))],
        *[("T2H-ADR", a, b) for a, b in ((0, 3), (4, 0), (0, 7), (8, 0), (4, 7), (8, 3))],
    }
    assert named(FULL, FULL.encode([mention], 10).tags) == {*segments, *both, *more}
    assert named(MINIMAL, MINIMAL.encode([mention], 10).tags) == {*segments, *both}


def test_tags_of_one_segment_and_their_order():
    tags = FULL.encode([Mention((1, 2), "Drug")], 4).tags
    assert named(FULL, tags) == {("S-Drug", 1, 2), ("BOUND-Drug", 1, 2)}
    assert FULL.tags[:5] == ("S-ADR", "B-ADR", "I-ADR", "BOUND-ADR", "S-Drug")
    assert FULL.tags[8:] == (
        *("H2H-ADR", "T2T-ADR", "H2T-ADR", "T2H-ADR"),
        *("H2H-Drug", "T2T-Drug", "H2T-Drug", "T2H-Drug"),
    )
    assert MINIMAL.tags == (
        *("S-ADR", "B-ADR", "I-ADR", "S-Drug", "B-Drug", "I-Drug"),
        *("H2H-ADR", "T2T-ADR", "H2H-Drug", "T2T-Drug"),
    )
    segments, links = FULL.groups
    assert (segments.triangle, links.triangle) == ("upper", "both")
    assert FULL.tags[segments.stop - 1] == "BOUND-Drug"


@BOTH
@pytest.mark.parametrize(
    "gold",
    [
        {(0, 3, 4, 5), (0, 3, 4, 7, 8), (2, 3, 4, 7, 8), (2, 3, 4, 5)},
        {(0, 2, 4), (1, 2, 5)},
        {(0,), (2, 3), (5, 8)},
    ],
)
def test_exact(mac, gold):
    assert round_trip(mac, *gold, length=10) == gold


def test_what_the_full_version_confuses():
    gold = {(0, 1, 2), (0, 2, 4)}
    assert round_trip(FULL, *gold, length=6) == {*gold, (0, 2), (0, 1, 2, 4)}


def test_shared_ends_are_lost_and_reported():
    """Both have the same BOUND, and their segments are all joined."""
    short, long = Mention((0, 4), "ADR"), Mention((0, 2, 4), "ADR")
    for mac in (FULL, MINIMAL):
        encoding = mac.encode([short, long], 5)
        assert encoding.lost == (short,)
        assert words_of(mac.decode_tags(encoding.tags)) == {long.words}


def test_links_of_several_others_join_too():
    """No single mention holds the segments that come back together."""
    others = [Mention((0, 2), "ADR"), Mention((2, 4), "ADR")]
    encoding = FULL.encode([Mention((0, 4), "ADR"), *others], 5)
    assert encoding.lost == (Mention((0, 4), "ADR"),)
    whole = Mention((2, 3, 4), "ADR")
    assert MINIMAL.encode([Mention((0, 2, 4), "ADR"), whole], 5).lost == (whole,)


def test_nested_in_a_segment_is_exact_and_as_a_segment_only_without_bounds_lost():
    """Specification, section 3: what BOUND is there for."""
    inner, outer = Mention((0, 1), "ADR"), Mention((0, 1, 3), "ADR")
    assert FULL.encode([inner, outer], 4).lost == ()
    assert round_trip(FULL, inner.words, outer.words, length=4) == {inner.words, outer.words}
    assert MINIMAL.encode([inner, outer], 4).lost == (inner,)
    other = Mention((0, 1), "Drug")
    assert MINIMAL.encode([other, outer], 4).lost == ()


def test_two_links_join_what_four_do_not():
    """Specification, section 3: spurious edges. Heads of one mention meet tails of another."""
    gold = {(0, 5), (1, 6), (0, 1), (5, 6)}
    assert round_trip(FULL, *gold, length=7) == gold
    assert round_trip(MINIMAL, *gold, length=7) == {(0, 5), (1, 6), (0, 1, 5, 6)}


def test_a_bound_without_a_clique_at_both_ends_emits_nothing():
    tags = tagged(FULL, 6, ("BOUND-ADR", 0, 4), ("B-ADR", 0, 1), ("I-ADR", 3, 3), ("S-ADR", 4, 4))
    assert words_of(FULL.decode_tags(tags)) == set()
    # Joined, but one word short of the end.
    for kind in ("H2H", "T2T", "H2T", "T2H"):
        one, other = {"H": 0, "T": 1}, {"H": 3, "T": 3}
        tags[one[kind[0]], other[kind[2]], FULL.tags.index(f"{kind}-ADR")] = 1
    assert words_of(FULL.decode_tags(tags)) == set()
    tags[0, 3, FULL.tags.index("BOUND-ADR")] = 1
    assert words_of(FULL.decode_tags(tags)) == {(0, 1, 3)}


def test_an_isolated_node_that_is_a_bound_is_a_mention():
    tags = tagged(FULL, 6, ("BOUND-ADR", 1, 3), ("I-ADR", 1, 3), ("S-ADR", 5, 5))
    assert words_of(FULL.decode_tags(tags)) == {(1, 2, 3)}
    tags = tagged(MINIMAL, 6, ("I-ADR", 1, 3), ("S-ADR", 5, 5))
    assert words_of(MINIMAL.decode_tags(tags)) == {(1, 2, 3), (5,)}


@BOTH
def test_a_segment_is_not_joined_with_one_that_it_holds(mac):
    tags = tagged(mac, 6, ("S-ADR", 0, 3), ("B-ADR", 0, 1), ("I-ADR", 2, 3), ("I-ADR", 2, 2))
    tags[:, :, [mac.tags.index(f"{k}-ADR") for k in mac.link_kinds]] = 1
    if mac.full:
        tags[0, 3, mac.tags.index("BOUND-ADR")] = 1
        tags[0, 2, mac.tags.index("BOUND-ADR")] = 1
    assert words_of(mac.decode_tags(tags)) == {(0, 1, 2, 3), (0, 1, 2)}


@BOTH
def test_of_two_that_overlap_the_second_is_skipped(mac):
    tags = tagged(mac, 6, ("B-ADR", 0, 2), ("I-ADR", 2, 4))
    tags[:, :, [mac.tags.index(f"{k}-ADR") for k in mac.link_kinds]] = 1
    if mac.full:
        tags[0, 4, mac.tags.index("BOUND-ADR")] = 1
    assert words_of(mac.decode_tags(tags)) == {(0, 1, 2)}


@BOTH
def test_links_in_one_order_suffice(mac):
    tags = mac.encode([Mention((0, 1, 4), "ADR")], 5).tags
    for kind in mac.link_kinds:
        tags[:, :, mac.tags.index(f"{kind}-ADR")] = np.triu(
            tags[:, :, mac.tags.index(f"{kind}-ADR")]
        )
    assert words_of(mac.decode_tags(tags)) == {(0, 1, 4)}
    tags[0, 4, mac.tags.index("H2H-ADR")] = 0
    assert (0, 1, 4) not in words_of(mac.decode_tags(tags))


def test_segments_below_the_diagonal_are_ignored():
    tags = np.zeros((4, 4, len(FULL.tags)), dtype=np.int8)
    tags[3, 1] = 1
    assert words_of(FULL.decode_tags(tags)) == set()


@BOTH
def test_unknown_label_and_word_outside_are_errors(mac, refused):
    with refused(error=ValueError):
        mac.encode([Mention((0,), "Disease")], 2)
    with refused(error=ValueError):
        mac.encode([Mention((2,), "ADR")], 2)


@BOTH
def test_empty_sentence(mac):
    assert mac.encode([], 0).tags.shape == (0, 0, len(mac.tags))
    assert mac.decode(np.zeros((0, 0, len(mac.tags)))).mentions == ()


def random_scores(length, seed, mac):
    """Scores with some structure: tags of random mentions, blurred."""
    random = np.random.default_rng(seed)
    mentions = []
    for _ in range(random.integers(1, 4)):
        words = np.flatnonzero(random.random(length) < 0.6)
        if len(words):
            label = LABELS[random.integers(0, 2)]
            mentions.append(Mention(tuple(words.tolist()), label))
    tags = mac.encode(mentions, length).tags
    return 4.0 * tags - 2 + random.normal(scale=1.3, size=tags.shape)


@BOTH
@given(length=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=120)
def test_decoding_equals_the_definition(mac, length, seed):
    scores = random_scores(length, seed, mac)
    decoding = mac.decode(scores)
    found = {(s.mention.words, s.mention.label): s.score for s in decoding.mentions}
    assert len(found) == len(decoding.mentions)
    assert found == pytest.approx(mac_naive.decode(scores, LABELS, mac.full))
    ordered = [s.score for s in decoding.mentions]
    assert ordered == sorted(ordered, reverse=True)
    assert decoding.complete


@BOTH
@given(length=st.integers(1, 9), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_a_score_is_the_product_of_its_evidence(mac, length, seed):
    scores = random_scores(length, seed, mac)
    found = mac.decode(scores).mentions
    evidence = mac.evidence([scored.mention for scored in found], scores)
    for scored, cells in zip(found, evidence, strict=True):
        assert len(set(cells)) == len(cells)
        shares = [mac_naive.probability(scores[cell]) for cell in cells]
        assert min(shares) > 0.5
        assert prod(shares) == pytest.approx(scored.score)


mentions_of_a_sentence = st.lists(
    st.builds(
        lambda words, label: Mention(tuple(sorted(words)), label),
        st.sets(st.integers(0, 9), min_size=1, max_size=6),
        st.sampled_from(LABELS),
    ),
    max_size=4,
    unique=True,
)


@BOTH
@given(gold=mentions_of_a_sentence)
def test_what_is_not_lost_comes_back(mac, gold):
    encoding = mac.encode(gold, 10)
    back = {scored.mention for scored in mac.decode_tags(encoding.tags).mentions}
    assert set(gold) - back == set(encoding.lost)


@BOTH
def test_what_is_lost_of_a_long_sentence_is_that_of_its_mentions_alone(mac):
    gold = [Mention(words, "ADR") for words in ((0, 4), (0, 2, 4), (2,), (7, 9), (7, 8, 9))]
    moved = [Mention(tuple(1500 + 100 * (w > 5) + w for w in m.words), "ADR") for m in gold]
    lost = [gold.index(mention) for mention in mac.encode(gold, 10).lost]
    tracemalloc.start()
    encoding = mac.encode(moved, 2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert lost
    assert [moved.index(mention) for mention in encoding.lost] == lost
    assert peak < 1.1 * encoding.tags.nbytes


@given(gold=mentions_of_a_sentence)
def test_the_full_version_loses_no_mention_of_one_segment(gold):
    assert all(mention.is_discontinuous for mention in FULL.encode(gold, 10).lost)


@BOTH
@given(words=st.sets(st.integers(0, 30), min_size=1))
def test_a_single_mention_survives_the_round_trip(mac, words):
    own = tuple(sorted(words))
    assert round_trip(mac, own, length=31) == {own}
    assert mac.encode([Mention(own, "ADR")], 31).lost == ()


@BOTH
def test_bounds_are_reported_and_keep_the_best(mac):
    scores = np.full((30, 30, len(mac.tags)), -9.0)
    for word in range(30):
        scores[word, word, [mac.tags.index("S-ADR")]] = 1 + word
        if mac.full:
            scores[word, word, [mac.tags.index("BOUND-ADR")]] = 1 + word
    assert mac.decode(scores).complete
    exact = Mac(LABELS, full=mac.full, max_mentions=30).decode(scores)
    assert (len(exact.mentions), exact.complete) == (30, True)
    bounded = Mac(LABELS, full=mac.full, max_mentions=10).decode(scores)
    assert not bounded.complete
    assert words_of(bounded) == {(word,) for word in range(20, 30)}


@BOTH
def test_the_best_of_more_cliques_than_the_bound_are_kept(mac):
    """They are not found best first: the first segment's links are equally sure."""
    scores = np.full((12, 12, len(mac.tags)), -9.0)
    for other, sure in ((0, 5.0), (2, 0.1), (4, 1.0), (6, 4.0), (8, 6.0), (10, 3.0)):
        scores[other, other, mac.tags.index("S-ADR")] = sure
        for kind in mac.link_kinds if other else ():
            scores[0, other, mac.tags.index(f"{kind}-ADR")] = 6
        if mac.full:
            scores[0, other, mac.tags.index("BOUND-ADR")] = 3 if other else -9
    everything = mac.decode(scores)
    assert (len(everything.mentions), everything.complete) == (5, True)
    bounded = Mac(LABELS, full=mac.full, max_mentions=2).decode(scores)
    assert not bounded.complete
    assert bounded.mentions == everything.mentions[:2]


@BOTH
def test_evidence_is_searched_as_decoding_searches(mac):
    """Once, and each type with its own share of the effort."""
    tight = Mac(LABELS, full=mac.full, max_effort=60)
    scores = np.random.default_rng(3).normal(size=(8, 8, len(mac.tags))) + 1
    decoding = tight.decode(scores)
    assert not decoding.complete
    evidence = tight.evidence([scored.mention for scored in decoding.mentions], scores)
    for scored, cells in zip(decoding.mentions, evidence, strict=True):
        shares = [mac_naive.probability(scores[cell]) for cell in cells]
        assert prod(shares) == pytest.approx(scored.score)


@BOTH
def test_too_many_nodes_are_reported(mac):
    mention = Mention(tuple(range(0, 40, 2)), "ADR")
    assert mac.encode([mention], 40).lost == ()
    few = Mac(LABELS, full=mac.full, max_nodes=19)
    encoding = few.encode([mention], 40)
    assert encoding.lost == (mention,)
    assert not few.decode_tags(encoding.tags).complete


@BOTH
def test_a_search_that_stops_early_is_reported(mac):
    mention = Mention(tuple(range(0, 40, 2)), "ADR")
    little = Mac(LABELS, full=mac.full, max_effort=30)
    assert not little.decode_tags(mac.encode([mention], 40).tags).complete


@BOTH
@pytest.mark.parametrize("labels", [("ADR",), tuple("ABCDEFGH")])
def test_a_long_sentence_with_everything_there_stays_bounded(mac, labels):
    mac = Mac(labels, full=mac.full)
    rng = np.random.default_rng(0)
    scores = rng.random((400, 400, len(mac.tags)), dtype=np.float32) + 0.1
    started = time.process_time()
    decoding = mac.decode(scores)
    assert not decoding.complete
    assert 0 < len(decoding.mentions) <= mac.max_mentions
    assert time.process_time() - started < 5
