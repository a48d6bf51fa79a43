from __future__ import annotations

from types import SimpleNamespace

from transformers import TrainerControl

from trigner.training.trainer import KeepBest


def epochs_until_stop(scores, patience, metric="eval_f1", select_by="overall"):
    """(epochs run, epochs saved) when dev scores come like this."""
    saved = []
    keeper = KeepBest(
        select_by=select_by, patience=patience, save=lambda epoch, metrics: saved.append(epoch)
    )
    history = []
    for epoch, score in enumerate(scores, 1):
        history.append({metric: score})
        state = SimpleNamespace(log_history=[{"loss": 1.0}, *history])
        control = keeper.on_evaluate(None, state, TrainerControl(), metrics=history[-1])
        if control.should_training_stop:
            return epoch, saved
    return len(scores), saved


def test_saved_when_strictly_better_and_the_first_even_at_zero():
    assert epochs_until_stop([0.0, 0.0, 0.5, 0.5, 0.4, 0.6], None) == (6, [1, 3, 6])


def test_stops_after_the_eleventh_epoch_without_improvement():
    assert epochs_until_stop([0.5, *[0.4] * 40], 10) == (12, [1])
    assert epochs_until_stop([0.5, *[0.4] * 10, 0.6, *[0.4] * 40], 10) == (23, [1, 12])


def test_another_score_can_choose():
    run = epochs_until_stop([0.1, 0.3, 0.2], None, "eval_discontinuous_f1", "discontinuous")
    assert run == (3, [1, 2])
