"""How a training shows itself: a bar and a line an epoch on a terminal, lines elsewhere."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trigner.rendering import say

SECONDS_BETWEEN_LINES = 60.0
"""Of a log: what is not a terminal."""


class ShowProgress(TrainerCallback):
    """Updates as a bar with the time left, in a log a line a minute; loss and scores of each epoch
    that is scored."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._started = self._last_line = 0.0

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self._started = self._last_line = time.monotonic()
        if self._console.is_terminal:
            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("updates, left"),
                TimeRemainingColumn(),
                console=self._console,
            )
            self._task = self._bar.add_task(
                "training", total=state.max_steps, completed=state.global_step
            )
            self._bar.start()

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        # After the last update of an epoch, `epoch` is a whole number already.
        whole = int(args.num_train_epochs)
        epoch = f"epoch {min(int(state.epoch or 0) + 1, whole)} of {whole}"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=state.global_step, description=epoch)
        elif time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES:
            self._print(f"{epoch}: {state.global_step:,} of {state.max_steps:,} updates")

    def _print(self, line: str) -> None:
        say(self._console, line)
        self._last_line = time.monotonic()

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float] | None = None,
        **_: Any,
    ) -> None:
        scores = metrics or {}
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        self._print(
            f"epoch {round(state.epoch or 0)} of {int(args.num_train_epochs)}"
            f"  loss {scores.get('eval_train_loss', 0):.4f}"
            f"  dev F1 {100 * scores.get('eval_f1', 0):.2f}"
            f" (discontinuous {100 * scores.get('eval_discontinuous_f1', 0):.2f})"
            f"  {minutes}:{seconds:02d}"
        )

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self.close()

    def close(self) -> None:
        """Take the bar off the terminal, also after an interruption."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
