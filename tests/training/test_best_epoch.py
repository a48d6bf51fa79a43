from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from transformers import TrainerControl

from trigner.training.best_epoch import KeepBest, ScoreEvery


def epochs_until_stop(scores, patience, metric="eval_f1", select_by="overall", every=1):
    """(epochs run, epochs saved) when dev scores come like this, after every so many epochs."""
    saved = []
    keeper = KeepBest(
        select_by=select_by, patience=patience, save=lambda epoch, metrics: saved.append(epoch)
    )
    history = []
    for epoch, score in zip(range(every, every * len(scores) + 1, every), scores, strict=True):
        history.append({"epoch": float(epoch), "eval_f1": 0.0, metric: score})
        state = SimpleNamespace(log_history=[{"loss": 1.0}, *history])
        control = keeper.on_evaluate(None, state, TrainerControl(), metrics=history[-1])
        if control.should_training_stop:
            return epoch, saved
    return every * len(scores), saved


def test_saved_when_strictly_better_and_the_first_even_at_zero():
    assert epochs_until_stop([0.0, 0.0, 0.5, 0.5, 0.4, 0.6], None) == (6, [1, 3, 6])


def test_stops_after_the_eleventh_epoch_without_improvement():
    assert epochs_until_stop([0.5, *[0.4] * 40], 10) == (12, [1])
    assert epochs_until_stop([0.5, *[0.4] * 10, 0.6, *[0.4] * 40], 10) == (23, [1, 12])


def test_never_stops_while_nothing_is_found():
    assert epochs_until_stop([0.0] * 40, 10) == (40, [1])
    assert epochs_until_stop([*[0.0] * 20, 0.1, *[0.0] * 40], 10) == (32, [1, 21])


def test_what_else_stops_a_training_is_not_undone():
    keeper = KeepBest(select_by="overall", patience=None, save=lambda epoch, metrics: None)
    entry = {"epoch": 1.0, "eval_f1": 0.5}
    stopping = TrainerControl(should_training_stop=True)
    assert keeper.on_evaluate(None, SimpleNamespace(log_history=[entry]), stopping, entry)
    assert stopping.should_training_stop


def test_another_score_can_choose():
    run = epochs_until_stop([0.1, 0.3, 0.2], None, "eval_discontinuous_f1", "discontinuous")
    assert run == (3, [1, 2])


def test_equal_discontinuous_scores_are_decided_by_the_overall_one():
    saved = []
    keeper = KeepBest(
        select_by="discontinuous", patience=None, save=lambda epoch, metrics: saved.append(epoch)
    )
    history = []
    scores = [(0.2, 0.0), (0.4, 0.0), (0.3, 0.0), (0.1, 0.1), (0.9, 0.0)]
    for epoch, (overall, discontinuous) in enumerate(scores, 1):
        both = {"eval_f1": overall, "eval_discontinuous_f1": discontinuous}
        history.append({"epoch": float(epoch), **both})
        keeper.on_evaluate(None, SimpleNamespace(log_history=history), TrainerControl())
    assert saved == [1, 2, 4]


def test_patience_counts_epochs_whether_they_are_scored_or_not():
    assert epochs_until_stop([0.5, *[0.4] * 40], 3, every=2) == (6, [2])
    assert epochs_until_stop([0.5, 0.4, 0.6, *[0.4] * 40], 4, every=3) == (15, [3, 9])


@given(st.integers(1, 9), st.integers(1, 20))
def test_every_nth_epoch_and_the_last_are_scored(every, epochs):
    callback, arguments = ScoreEvery(every), SimpleNamespace(num_train_epochs=float(epochs))
    scored = []
    for epoch in range(1, epochs + 1):
        control = TrainerControl(should_evaluate=True, should_save=True)
        callback.on_epoch_end(arguments, SimpleNamespace(epoch=float(epoch)), control)
        assert control.should_save
        if control.should_evaluate:
            scored.append(epoch)
    assert scored == sorted({*range(every, epochs + 1, every), epochs})
