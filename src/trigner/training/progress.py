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


class ShowProgress(TrainerCallback):
    """Updates as a bar with the time left; one line with loss and dev scores an epoch."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._started = 0.0

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self._started = time.monotonic()
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
        if self._bar is not None and self._task is not None:
            epochs = f"epoch {int(state.epoch or 0) + 1} of {int(args.num_train_epochs)}"
            self._bar.update(self._task, completed=state.global_step, description=epochs)

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
        self._console.print(
            f"epoch {round(state.epoch or 0)} of {int(args.num_train_epochs)}"
            f"  loss {scores.get('eval_train_loss', 0):.4f}"
            f"  dev F1 {100 * scores.get('eval_f1', 0):.2f}"
            f" (discontinuous {100 * scores.get('eval_discontinuous_f1', 0):.2f})"
            f"  {minutes}:{seconds:02d}",
            highlight=False,
        )

    def on_train_end(self, *_: Any, **__: Any) -> None:
        self.close()

    def close(self) -> None:
        """Take the bar off the terminal, also after an interruption."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
