from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.errors import TrignerError
from trigner.evaluation import thresholds
from trigner.evaluation.scores import score
from trigner.evaluation.thresholds import ALL, curve, curves, plot_curves
from trigner.mentions import Document, Entity

TEXT = "a b c d e f g h"


def document(*entities):
    made = (
        Entity(label, ((2 * place, 2 * place + 1),), TEXT[2 * place], score)
        for label, place, score in entities
    )
    return Document("d", TEXT, tuple(made))


GOLD = document(("X", 0, None), ("X", 1, None), ("Y", 2, None))
FOUND = document(("X", 0, 0.9), ("X", 3, 0.6), ("X", 1, 0.5), ("Y", 4, 0.3))


def test_a_hand_made_curve():
    found = curves([GOLD], [FOUND])
    turned = replace(GOLD, entities=GOLD.entities[::-1])
    assert list(found) == list(curves([turned], [FOUND])) == [ALL, "X", "Y"]
    points = [(t, s.correct, s.predicted, s.gold) for t, s in found[ALL].points]
    assert points == [(0, 2, 4, 3), (0.3, 2, 4, 3), (0.5, 2, 3, 3), (0.6, 1, 2, 3), (0.9, 1, 1, 3)]
    assert found[ALL].best[0] == 0.5
    assert found["X"].best[1].f1 == pytest.approx(0.8)
    assert found[ALL].at_precision(0.9)[0] == 0.9
    assert found["Y"].at_precision(0.1) is None
    assert found["X"].at_precision(1.0)[0] == 0.9  # at least
    assert curve([], 1).at_precision(0) is None


scored = st.lists(
    st.tuples(st.sampled_from("XY"), st.integers(0, 7), st.sampled_from([0.1, 0.2, 0.5, 0.9])),
    max_size=10,
)


@given(gold=scored, predicted=scored)
def test_each_point_is_the_score_of_what_reaches_its_threshold(gold, predicted):
    expected = document(*((label, place, None) for label, place, _ in gold))
    # Of two equal predictions the better one counts.
    best = {(label, place): 0.0 for label, place, _ in predicted}
    for label, place, value in predicted:
        best[label, place] = max(value, best[label, place])
    for threshold, point in curves([expected], [document(*predicted)])[ALL].points:
        kept = document(*((a, b, v) for (a, b), v in best.items() if v >= threshold))
        assert point == score([expected], [kept]).overall


def test_what_has_no_score_and_what_is_not_gold(refused):
    with refused():
        curves([GOLD], [GOLD])
    with refused():
        curves([GOLD], [replace(FOUND, id="other")])


@pytest.mark.parametrize("in_gold", [True, False])
def test_a_type_with_the_name_of_all_is_refused(in_gold, refused):
    own = document((ALL, 0, 0.5))
    with refused():
        curves(*([own], [FOUND]) if in_gold else ([GOLD], [own]))


def test_types_of_any_name_stand_in_the_legend(tmp_path):
    pytest.importorskip("matplotlib")
    labels = ("$\\frac$", "$a_1$", "_x", "a$b", "\\$")
    gold = document(*((label, place, None) for place, label in enumerate(labels)))
    found = document(*((label, place, 0.5) for place, label in enumerate(labels)))
    plot_curves(curves([gold], [found]), tmp_path / "curve.svg")
    drawn = (tmp_path / "curve.svg").read_text()
    assert all(f">{label}: F1 100.0 at 0.00</text>" in drawn for label in (ALL, *labels))
    assert ">-</text>" not in drawn


def test_the_figure(tmp_path, refused):
    pytest.importorskip("matplotlib")
    plot_curves(curves([GOLD], [FOUND]), tmp_path / "curve.svg")
    drawn = (tmp_path / "curve.svg").read_text()
    assert "<svg" in drawn
    with refused(error=TrignerError):
        plot_curves({}, tmp_path / "curve.svg", overwrite=False)
    with refused():
        plot_curves(curves([GOLD], [FOUND]), tmp_path / "curve.word")


def test_recall_grows_to_the_right_and_precision_upwards(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    drawn = []
    monkeypatch.setattr(thresholds, "save_figure", lambda figure, *_, **__: drawn.append(figure))
    found = curves([GOLD], [FOUND])
    plot_curves(found, tmp_path / "curve.svg")
    (axes,) = drawn[0].axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("recall", "precision")
    lines = [own.get_xydata().tolist() for own in axes.lines]
    for own, line, (best,) in zip(found.values(), lines[::2], lines[1::2], strict=True):
        assert line == [[s.recall, s.precision] for _, s in own.points if s.predicted]
        assert best == [own.best[1].recall, own.best[1].precision]
