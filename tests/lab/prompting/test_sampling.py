from __future__ import annotations

from collections import Counter

from trigner.lab.prompting.sampling import sample, stratum
from trigner.mentions import Mention, Sentence


def sentences(discontinuous, continuous, none):
    kinds = [(Mention((0, 2), "A"),)] * discontinuous + [(Mention((0, 1), "A"),)] * continuous
    kinds += [()] * none
    return [Sentence(f"d{n % 7}", n, ("a", "b", "c"), (), m) for n, m in enumerate(kinds)]


def counts(drawn):
    found = Counter(map(stratum, drawn))
    return [found[n] for n in range(3)]


def test_all_with_discontinuous_gold_and_as_many_others():
    drawn = sample(sentences(5, 20, 30), stratified=True)
    assert counts(drawn) == [5, 5, 5]
    assert counts(sample(sentences(5, 2, 0), stratified=True)) == [5, 2, 0]


def test_a_size_takes_turns():
    everything = sentences(40, 50, 60)
    assert counts(sample(everything, 100)) == [34, 33, 33]
    assert counts(sample(sentences(2, 50, 60), 20)) == [2, 9, 9]
    assert sample(everything, 1000) == sample(everything) == everything


def test_a_size_of_the_stratified_sample_is_part_of_it():
    everything = sentences(5, 50, 60)
    whole = sample(everything, stratified=True)
    part = sample(everything, 7, stratified=True)
    assert counts(part) == [3, 2, 2]
    assert [s for s in whole if s in part] == part
    assert sample(everything, 100, stratified=True) == whole
    assert counts(sample(everything, 100)) == [5, 48, 47]


def test_a_smaller_sample_is_part_of_a_larger_one_in_the_order_of_the_corpus():
    everything = sentences(40, 50, 60)
    large, small = sample(everything, 100), sample(everything, 20)
    assert [s for s in large if s in small] == small
    assert [s for s in everything if s in large] == large
    assert [s for s in large if s in sample(everything[::-1], 100)] == large


def test_the_seed_matters():
    everything = sentences(40, 50, 60)
    assert sample(everything, 20, seed=1) != sample(everything, 20, seed=2)
