from __future__ import annotations

from trigner.lab.studies.layout import with_best
from trigner.lab.studies.summary import Spread


def test_the_best_of_each_column_is_marked():
    cells = [[Spread((1.0,)), Spread((5.0,))], [Spread((3.0,)), None], [Spread((9.0,)), None]]
    assert with_best(cells, [True, True, False], ["a", "b"]).to_numpy().tolist() == [
        ["1.00", "5.00"],  # with nothing to compare, it is not the best
        ["**3.00**", "–"],
        ["9.00", "–"],  # not comparable
    ]
    alike = [[Spread((2.0,))], [Spread((2.0,))]]
    assert with_best(alike, [True, True], ["a"])["a"].tolist() == ["2.00", "2.00"]
