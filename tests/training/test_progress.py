from __future__ import annotations

import io
from types import SimpleNamespace

from rich.console import Console

from trigner.training.progress import ShowProgress

ARGUMENTS = SimpleNamespace(num_train_epochs=2)


def shown(terminal):
    out = io.StringIO()
    callback = ShowProgress(Console(file=out, force_terminal=terminal, width=100))
    state = SimpleNamespace(max_steps=8, global_step=4, epoch=1.0)
    callback.on_train_begin(ARGUMENTS, state, None)
    callback.on_step_end(ARGUMENTS, state, None)
    metrics = {"eval_train_loss": 0.25, "eval_f1": 0.5, "eval_discontinuous_f1": 0.25}
    callback.on_evaluate(ARGUMENTS, state, None, metrics)
    callback.on_train_end(ARGUMENTS, state, None)
    callback.close()
    return out.getvalue()


def test_one_line_an_epoch_in_a_file():
    expected = "epoch 1 of 2  loss 0.2500  dev F1 50.00 (discontinuous 25.00)  0:00\n"
    assert shown(terminal=False) == expected


def test_a_bar_on_a_terminal():
    text = shown(terminal=True)
    assert "━" in text
    assert "dev F1 50.00" in text


def test_a_log_gets_lines_within_an_epoch_and_no_epoch_behind_the_last(monkeypatch):
    out = io.StringIO()
    callback = ShowProgress(Console(file=out, force_terminal=False, width=100))
    callback.on_train_begin(ARGUMENTS, SimpleNamespace(), None)

    def step(number, epoch):
        state = SimpleNamespace(max_steps=8, global_step=number, epoch=epoch)
        callback.on_step_end(ARGUMENTS, state, None)

    step(1, 0.25)  # no minute has passed
    monkeypatch.setattr("trigner.training.progress.SECONDS_BETWEEN_LINES", 0.0)
    step(2, 0.5)
    step(8, 2.0)
    assert out.getvalue().splitlines() == [
        "epoch 1 of 2: 2 of 8 updates",
        "epoch 2 of 2: 8 of 8 updates",
    ]
