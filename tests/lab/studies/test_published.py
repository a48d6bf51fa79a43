from __future__ import annotations

import pytest

from trigner.lab.studies.published import CORPORA, PublishedRates, published


def test_the_two_models_of_trigner_are_two_rows():
    overall, split = (row for row in published("overall").rows if "trigner" in row.ours)
    assert (overall.ours, overall.chosen_by) == (("trigner",), "overall")
    # In the paper another set-up; a study without it has the model that the other score chose.
    assert (split.ours, split.chosen_by) == (("trigner-disc", "trigner"), "discontinuous")
    assert overall.scores["cadec"]["overall"] == PublishedRates(73.43, 75.35, 71.62)
    assert overall.scores["cadec"]["discontinuous"].f1 == 48.55
    assert split.scores["cadec"]["discontinuous"].f1 == 49.71


@pytest.mark.parametrize(
    "name", ["overall", "selection", "pairing", "source", "window", "margin", "encoders"]
)
def test_rates_agree_with_one_another(name):
    for row in published(name).rows:
        assert set(row.scores) == set(CORPORA)
        for slices in row.scores.values():
            for rates in slices.values():
                assert 30 < rates.f1 < 90
                if rates.precision is not None and rates.recall is not None:
                    mean = 2 * rates.precision * rates.recall / (rates.precision + rates.recall)
                    assert rates.f1 == pytest.approx(mean, abs=0.15), row.system


def test_an_unknown_table(refused):
    with refused():
        published("windw")
