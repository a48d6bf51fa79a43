"""Which epochs are scored on dev, and which of them is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from trigner.systems import SelectBy

METRICS: Mapping[SelectBy, tuple[str, str]] = {
    "overall": ("eval_f1", "eval_f1"),
    "discontinuous": ("eval_discontinuous_f1", "eval_f1"),
}
"""What chooses an epoch, and what decides between epochs where that is equal.

The discontinuous F1 is 0 for the whole of many a short training.
"""


class ScoreEvery(TrainerCallback):
    """Leaves the dev scores out except of every n-th epoch and the last; checkpoints stay."""

    def __init__(self, epochs: int) -> None:
        self._epochs = epochs

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> TrainerControl:
        epoch = round(state.epoch or 0)
        if epoch % self._epochs and epoch < args.num_train_epochs:
            control.should_evaluate = False
        return control


class KeepBest(TrainerCallback):
    """Saves the model when the dev score is strictly better than ever, and stops in time.

    Training stops once more than `patience` epochs have passed without improvement, whether or not
    all of them were scored, but not before the score has left 0 (the released code's rules). What
    came before is read from the Trainer's own log, which a checkpoint keeps.
    """

    def __init__(
        self,
        *,
        select_by: SelectBy,
        patience: int | None,
        save: Callable[[int, Mapping[str, float]], None],
    ) -> None:
        self._metrics = METRICS[select_by]
        self._patience = math.inf if patience is None else patience
        self._save = save

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float] | None = None,
        **_: Any,
    ) -> TrainerControl:
        scored = self._scored(state.log_history)
        if max(scored) == _first_best(scored):
            self._save(max(scored), metrics or {})
        control.should_training_stop |= self.has_stopped(state.log_history)
        return control

    def has_stopped(self, log: Iterable[Mapping[str, float]]) -> bool:
        """Whether a training with this log is at its end before its last epoch."""
        scored = self._scored(log)
        if not scored:
            return False
        epoch, best = max(scored), _first_best(scored)
        return epoch - best > self._patience and scored[best][0] > 0

    def _scored(self, log: Iterable[Mapping[str, float]]) -> dict[int, tuple[float, ...]]:
        """What chooses an epoch, by the number of each that has been scored."""
        return {
            round(entry["epoch"]): tuple(entry[name] for name in self._metrics)
            for entry in log
            if self._metrics[0] in entry
        }


def _first_best(scored: Mapping[int, tuple[float, ...]]) -> int:
    return max(scored, key=lambda epoch: scored[epoch])  # the first of equal ones
