from __future__ import annotations

from itertools import combinations, pairwise, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.evaluation.relaxed import partners, relaxed_scores
from trigner.evaluation.scores import score
from trigner.mentions import Document, Entity

TEXT = "ab cd ef gh"
WORDS = ((0, 2), (3, 5), (6, 8), (9, 11))
entities = st.builds(
    lambda label, words: (label, tuple(WORDS[n] for n in sorted(words))),
    st.sampled_from("XY"),
    st.sets(st.integers(0, 3), min_size=1),
)
sides = st.lists(entities, max_size=3, unique=True)


def document(keys, id="a"):
    found = [
        Entity(label, fragments, " ".join(TEXT[a:b] for a, b in fragments))
        for label, fragments in keys
    ]
    return Document(id, TEXT, tuple(found))


def credits(gold, found):
    """The credit of a pair in each of the four kinds, from the definition."""
    (one, left), (other, right) = gold, found
    same, meet = left == right, bool({*left} & {*right})
    return {
        "strict": float(same and one == other),
        "exact": float(same),
        "partial": 1.0 if same else 0.5 * meet,
        "type": float(meet and one == other),
    }


def best(gold, found, kind):
    """The most credit over all ways to give entities one partner each, by trying all."""
    few, many = sorted((gold, found), key=len)
    ways = (
        sum(credits(a, b)[kind] for a, b in zip(chosen, order, strict=True))
        for size in range(len(few) + 1)
        for chosen in combinations(few, size)
        for order in permutations(many, size)
    )
    return max(ways)


@given(sides, sides)
def test_each_kind_is_the_best_of_all_matchings(gold, found):
    one, other = document(gold), document(found)
    # Words that follow each other are one fragment: keys decide, as in the exact score.
    left, right = ([side.key(e) for e in side.entities] for side in (one, other))
    words = [
        [
            (label, tuple(w for w in WORDS if any(a <= w[0] and w[1] <= b for a, b in fragments)))
            for label, fragments in side
        ]
        for side in (left, right)
    ]
    rates = relaxed_scores([one], [other])
    for kind in ("strict", "exact", "partial", "type"):
        most = best(*words, kind)
        assert rates[kind].precision == pytest.approx(most / len(found) if found else 0)
        assert rates[kind].recall == pytest.approx(most / len(gold) if gold else 0)
    overall = score([one], [other]).overall
    assert rates["strict"].f1 == pytest.approx(overall.f1)
    assert rates["type"].recall <= rates["overlap"].recall
    pairs = [{(label, n) for label, f in side for n in f} for side in words]
    assert rates["characters"].precision == pytest.approx(
        len(pairs[0] & pairs[1]) / len(pairs[1]) if pairs[1] else 0
    )


def test_overlap_and_macro_by_hand():
    gold = document([("X", (WORDS[0],)), ("X", (WORDS[1],)), ("Y", (WORDS[3],))])
    found = document([("X", (WORDS[0], WORDS[1])), ("Y", (WORDS[3],))])
    rates = relaxed_scores([gold], [found])
    assert (rates["overlap"].precision, rates["overlap"].recall) == (1, 1)
    assert rates["type"].recall == pytest.approx(2 / 3)  # one entity has one partner
    assert rates["partial"].precision == 0.75
    assert (rates["macro"].precision, rates["macro"].f1) == (0.5, 0.5)
    assert rates["strict"].precision == 0.5
    # A type that gold lacks is a type too.
    more = document([("X", (WORDS[0],)), ("Y", (WORDS[3],)), ("Z", (WORDS[1],))])
    assert relaxed_scores([document([("X", (WORDS[0],))])], [more])["macro"].recall == 1 / 3


def test_documents_without_predictions_count_as_missed():
    gold = [document([("X", (WORDS[0],))]), document([("X", (WORDS[0],))], "b")]
    rates = relaxed_scores(gold, gold[:1])
    assert all(each.recall == 0.5 for kind, each in rates.items())


def test_paths_of_any_length_need_no_recursion():
    # Each gold entity takes the first it meets, and the last meets only what the first has taken.
    length = 5_000
    places = [(10 * n, 10 * n + 1) for n in range(length + 1)]
    gold = [("X", (one, other)) for one, other in pairwise(places)] + [("X", (places[0],))]
    found = partners(gold, [("X", (place,)) for place in places], lambda one, other: True)
    assert found == {0: length, **{n + 1: n for n in range(length)}}


def test_white_space_alone_meets_the_same_and_nothing_else():
    blank, other = (Document("a", TEXT, (Entity(label, ((2, 3),), " "),)) for label in "XY")
    first = document([("X", ((0, 1),))])
    for found, right in ((blank, 1), (other, 0), (first, 0)):
        rates = relaxed_scores([blank], [found])
        assert rates["strict"].precision == rates["type"].recall == rates["overlap"].recall == right
        assert rates["partial"].recall == (found is not first)
