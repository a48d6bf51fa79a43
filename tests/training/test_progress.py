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
