from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answered_documents import answered, continuous, some_documents
from oracles import rescoring_naive as oracle
from tiny_models import extractor
from trigner.errors import InputError
from trigner.evaluation import score
from trigner.inference import fit_rescorer, load, rescoring, with_rescorer
from trigner.inference.rescoring import _best_f1, _regression
from trigner.mentions import Document, Entity
from trigner.rescorer import Rescorer


@pytest.fixture(scope="module")
def extract(tiny):
    return extractor(tiny())


def test_a_rescorer_that_is_fitted_finds_more(extract):
    gold = answered(extract, some_documents(), continuous)
    found = fit_rescorer(extract, gold)
    assert found.rescorer is not None
    assert not found.why
    assert found.f1 > found.f1_before
    new = answered(extract, some_documents(seed=1), continuous)
    before = score(new, list(extract.documents(new))).overall.f1
    after = score(new, list(with_rescorer(extract, found.rescorer).documents(new))).overall.f1
    assert after > before + 0.05
    assert found.rescorer.weights["discontinuous"] < 0
    assert found.figures == {
        "candidates": found.candidates,
        "f1_before": found.f1_before,
        "f1": found.f1,
        "p": found.p,
    }


def test_before_is_what_the_model_scores_without_it(extract):
    gold = answered(extract, some_documents(), continuous)
    found = list(extract.documents(gold))
    fitted = fit_rescorer(extract, gold)
    assert fitted.f1_before == pytest.approx(score(gold, found).overall.f1)
    assert fit_rescorer(extract, gold, found) == fitted
    nothing = [replace(document, entities=()) for document in gold]
    assert fit_rescorer(extract, gold, nothing).f1_before == 0


def test_without_enough_candidates_nothing_is_fitted(extract):
    gold = answered(extract, some_documents(3), continuous)
    found = fit_rescorer(extract, gold)
    assert found.rescorer is None
    assert found.why.endswith("30 right and 30 wrong ones are needed")
    assert found.f1 == found.f1_before
    assert found.figures["why"] == found.why


def test_without_documents_nothing_is_fitted(extract):
    found = fit_rescorer(extract, [])
    assert found.rescorer is None
    assert found.figures == {"candidates": 0, "f1_before": 0, "f1": 0, "why": found.why}


def test_as_many_right_and_wrong_candidates_as_are_needed_are_enough(extract, monkeypatch):
    gold = answered(extract, some_documents(), continuous)
    right = int(proposed_of(extract, gold).right.sum())
    monkeypatch.setattr(rescoring, "FEWEST", right)
    assert fit_rescorer(extract, gold).rescorer is not None
    monkeypatch.setattr(rescoring, "FEWEST", right + 1)
    assert fit_rescorer(extract, gold).why.endswith("are needed")
    # All that is proposed is right: wrong ones are needed too.
    proposed = rescoring._proposed

    def all_right(*given):
        found = proposed(*given)
        return replace(found, right=np.ones_like(found.right))

    monkeypatch.setattr(rescoring, "_proposed", all_right)
    assert fit_rescorer(extract, gold).why.endswith("are needed")


def test_probabilities_of_a_part_are_those_that_the_others_teach(extract, monkeypatch):
    learned = []

    def watched(values, right):
        learned.append(len(right))
        return _regression(values, right)

    monkeypatch.setattr(rescoring, "_regression", watched)
    gold = answered(extract, some_documents(), continuous)
    folds = proposed_of(extract, gold).folds
    fit_rescorer(extract, gold)
    assert learned == [*((folds != fold).sum() for fold in range(10)), len(folds)]


def test_sentences_of_a_document_are_in_one_part(extract):
    texts = [document.text for document in some_documents(24)]
    pairs = zip(texts[::2], texts[1::2], strict=True)
    documents = [Document(str(n), "\n\n".join(own)) for n, own in enumerate(pairs)]
    proposed = proposed_of(extract, documents)
    assert (proposed.folds == proposed.sentences // 2 % rescoring.FOLDS).all()


def test_one_that_does_not_raise_f1_is_not_kept(extract):
    chosen = np.random.default_rng(3)
    gold = answered(extract, some_documents(), lambda *_: chosen.random() < 0.93)
    found = fit_rescorer(extract, gold)
    assert found.rescorer is None
    assert found.why == "it does not raise F1 on dev"
    assert found.f1 <= found.f1_before


def test_a_gain_that_may_be_chance_is_not_taken(extract, monkeypatch):
    gold = answered(extract, some_documents(), continuous)
    assert fit_rescorer(extract, gold).p < rescoring.CHANCE
    monkeypatch.setattr(rescoring, "CHANCE", 0.0)
    found = fit_rescorer(extract, gold)
    assert found.rescorer is None
    assert found.f1 > found.f1_before
    rates = f"from {100 * found.f1_before:.2f} to {100 * found.f1:.2f}"
    assert found.why == f"F1 on dev rises {rates} with it, which may be chance (p {found.p:.2g})"
    assert found.figures["p"] == found.p > 0


def proposed_of(extract, gold):
    return rescoring._proposed(extract, gold, list(extract.documents(gold)))


def test_candidates_are_counted_in_their_sentences(extract):
    """What is found without a rescorer is among the candidates, sentence by sentence."""
    texts = "\n\n".join(document.text for document in some_documents())
    gold = answered(extract, [*some_documents(seed=1), Document("long", texts)], continuous)
    proposed = proposed_of(extract, gold)
    of_all = proposed.counts_of(np.ones(len(proposed.right), dtype=bool))
    assert (of_all >= proposed.counts).all()
    assert (of_all[:, 0] <= of_all[:, 2]).all()
    assert of_all[:, 1].sum() == len(proposed.right) > proposed.counts[:, 1].sum()
    assert not proposed.counts_of(np.zeros(len(proposed.right), dtype=bool))[:, :2].any()


def test_documents_without_words_move_no_candidate(extract):
    own = extract(Document("a", "no pain in my left leg. my arm hurt."))
    alone, behind = (
        rescoring._proposed(extract, gold, gold)
        for gold in ([own], [Document("e", ""), Document("f", " "), own])
    )
    assert len(alone.sentences)
    assert behind.sentences.tolist() == [2 + place for place in alone.sentences]
    assert behind.counts[2:].tolist() == alone.counts.tolist()


def test_mentions_that_no_model_can_find_count_as_missed(extract):
    """As they do in the scores that are told beside it: here they cross a sentence's end."""
    gold = answered(extract, some_documents(), continuous)
    text = "my left leg hurt. The pain is gone."
    across = Document("across", text, (Entity("ADR", ((8, 26),), text[8:26]),))
    proposed = proposed_of(extract, [*gold, across])
    assert sum(proposed.gold) == sum(len(document.entities) for document in gold) + 1
    told = fit_rescorer(extract, [*gold, across])
    assert told.f1_before < fit_rescorer(extract, gold).f1_before


def test_what_is_fitted_does_not_depend_on_a_rescorer_that_is_there(extract):
    gold = answered(extract, some_documents(), continuous)
    found = fit_rescorer(extract, gold)
    assert fit_rescorer(with_rescorer(extract, found.rescorer), gold) == found


def test_candidates_of_one_part_alone_cannot_be_divided(extract, monkeypatch):
    monkeypatch.setattr(rescoring, "FEWEST", 1)
    gold = answered(extract, some_documents()[:1], continuous)
    found = fit_rescorer(extract, gold)
    assert found.rescorer is None
    assert found.why == "dev cannot be divided for cross-validation"


def test_one_document_is_divided_by_sentences(extract):
    text = "\n\n".join(document.text for document in some_documents())
    (gold,) = answered(extract, [Document("one", text)], continuous)
    assert fit_rescorer(extract, [gold]).rescorer is not None


def test_few_documents_of_one_sentence_are_in_different_parts(extract):
    documents = answered(extract, some_documents(9), continuous)
    assert {*proposed_of(extract, documents).folds} == {*range(9)}


def test_each_kind_has_half_of_the_best_f1_as_its_threshold():
    probabilities = np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    proposed = rescoring._Proposed(
        values=np.zeros((5, 1)),
        right=np.array([True, True, False, True, False]),
        discontinuous=np.array([False, False, False, True, True]),
        sentences=np.zeros(5, dtype=np.int64),
        folds=np.zeros(5, dtype=np.int64),
        gold=(2, rescoring.FEWEST_DISCONTINUOUS),
        counts=np.zeros((1, 3), dtype=np.int64),
    )
    among = np.ones(5, dtype=bool)
    assert rescoring._thresholds(probabilities, proposed, among) == pytest.approx((0.5, 1 / 11))
    kept = rescoring._reached(probabilities, proposed, (0.8, 0.55))
    assert kept.tolist() == [True, True, False, True, False]
    few = replace(proposed, gold=(2, rescoring.FEWEST_DISCONTINUOUS - 1))
    # Of what there is to find two fifths of the candidates have two fifths.
    share = 2 * 2 / (2 + 0.4 * 11) / 2
    some = np.array([True, True, False, False, False])
    assert rescoring._thresholds(probabilities, few, some) == pytest.approx((share, share))
    of_all = 0.5 * max(2 * 1 / 12, 2 * 2 / 13, 2 * 3 / 15)
    assert rescoring._thresholds(probabilities, few, among) == pytest.approx((of_all, of_all))


def test_systems_without_word_pairs_have_none(tiny):
    with pytest.raises(InputError, match="the system bio cannot fit a rescorer on dev"):
        fit_rescorer(extractor(tiny("bio")), some_documents())


def test_a_rescored_extractor_is_another_model_than_the_saved_one(saved_model):
    extract = load(saved_model, device="cpu")
    assert extract.source is not None
    assert with_rescorer(extract, None).source is None


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.integers(20, 60), st.integers(1, 4), st.sampled_from([1.0, 10.0]))
def test_the_regression_is_the_slow_one(seed, count, width, ridge):
    chosen = np.random.default_rng(seed)
    values = chosen.normal(2, 3, (count, width))
    values[:, -1] = 1.0  # the same everywhere
    right = chosen.random(count) < 1 / (1 + np.exp(-values[:, 0]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rescoring, "RIDGE", ridge)
        bias, weights = _regression(values, right)
    expected_bias, expected = oracle.fitted(values, right, ridge)
    if 0 < right.sum() < count:
        np.testing.assert_allclose(weights, expected, atol=1e-4)
        assert bias == pytest.approx(expected_bias, abs=1e-3)
    assert np.isfinite([bias, *weights]).all()


@given(st.lists(st.tuples(st.integers(0, 8), st.booleans()), max_size=30), st.integers(0, 20))
def test_the_best_f1_is_the_slow_one(pairs, more):
    probabilities = np.array([p / 8 for p, _ in pairs])
    right = np.array([ok for _, ok in pairs], dtype=bool)
    gold = int(right.sum()) + more
    found = _best_f1(probabilities, right, gold)
    if gold:
        assert found == pytest.approx(oracle.best_f1(probabilities.tolist(), right.tolist(), gold))
    else:
        assert found == 0


def test_a_rescorer_of_other_features_is_refused(extract):
    other = Rescorer(bias=0.0, weights={"a": 1.0}, thresholds=(0.5, 0.5))
    with pytest.raises(InputError, match=r"a rescorer of w2ner has weights of .*; this one of a$"):
        with_rescorer(extract, other)
