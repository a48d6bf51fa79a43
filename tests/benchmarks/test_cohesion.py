"""`benchmarks/cohesion.py` on made-up mentions, and on a small model."""

from __future__ import annotations

import math

import cohesion
import pytest
import torch

from trigner.corpora import write
from trigner.evaluation.thresholds import curve
from trigner.mentions import Document, Entity

TEXT = "my left leg hurt, no pain in arm"
RIGHT = cohesion.Proposed(0.5, 0.9, is_right=True)
WRONG = cohesion.Proposed(0.6, 0.2, is_right=False)


def test_cells_that_point_one_way_are_near_each_other():
    one = torch.tensor([1.0, 0.0])
    assert cohesion.cohesion(torch.stack([one, 3 * one])) == pytest.approx(1)
    across = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    assert cohesion.cohesion(across) == pytest.approx(math.sqrt(0.5))
    assert cohesion.cohesion(one[None]) == pytest.approx(1)


def test_cohesion_puts_a_right_mention_ahead():
    assert cohesion.auc(cohesion.scored([RIGHT, WRONG], 0)) == 0
    assert cohesion.auc(cohesion.scored([RIGHT, WRONG], 1)) == 1
    assert cohesion.auc([(0.5, True), (0.5, False)]) == 0.5
    assert math.isnan(cohesion.auc([(0.5, True)]))
    found = curve(cohesion.scored([RIGHT, WRONG], 1), 1)
    threshold, best = found.best
    assert (best.f1, cohesion.at(found, threshold)) == (1, 1)
    assert cohesion.at(found, 0) == pytest.approx(2 / 3)
    between = (RIGHT.score * RIGHT.cohesion + WRONG.score * WRONG.cohesion) / 2
    assert cohesion.at(found, between) == 1
    assert cohesion.at(found, 0.99) == 0


def test_a_model_is_looked_at(saved_model, tmp_path, capsys):
    document = Document("d", TEXT, (Entity("ADR", ((3, 16),), TEXT[3:16]),))
    for part in ("dev", "test"):
        (tmp_path / part).mkdir()
        write([document], tmp_path / part / "a.jsonl", format="jsonl")
    cohesion.main(["--model", str(saved_model), "--data", str(tmp_path)])
    out = capsys.readouterr().out
    assert out.count("\n| ") == len(cohesion.POWERS)
    assert "cohesion alone: AUC" in out
    found, gold = cohesion.proposed(saved_model, [document])
    assert gold == 1
    assert len(found) > 3
    assert all(-1 <= own.cohesion <= 1.0001 for own in found)


def test_a_model_without_word_pairs_is_refused(tiny, tmp_path):
    from tiny_models import save

    with pytest.raises(SystemExit, match="bio has no states of word pairs"):
        cohesion.proposed(save(tiny("bio"), tmp_path / "m"), [])
