"""The thin adapter to Hugging Face's Trainer: batches, rates, losses, dev scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader
from torch.utils.tensorboard import SummaryWriter
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.integrations.integration_utils import (
    INTEGRATION_TO_CALLBACK,
    TensorBoardCallback,
)

from trigner.errors import InputError, TrignerError
from trigner.evaluation import Scores
from trigner.systems import OptimisationSettings, System
from trigner.training.checkpoints import CHECKPOINTS, HashCheckpoints, ResumingTrainer
from trigner.training.data import EpochBatches, TrainingData
from trigner.training.devices import OneDevice
from trigner.training.processes import ALONE, Processes

LOGS = "logs"
TRAIN_LOSS = "eval_train_loss"
"""Mean loss of the epoch's updates among the metrics that callbacks get."""


def check_trackers(names: Sequence[str]) -> None:
    """Find out before long work whether the Trainer has these trackers.

    Raises InputError for one that it does not know, TrignerError for one that is not installed.
    """
    if unknown := set(names) - set(INTEGRATION_TO_CALLBACK):
        known = ", ".join(sorted(INTEGRATION_TO_CALLBACK))
        raise InputError(f"unknown tracker {sorted(unknown)[0]!r}; known are: {known}")
    for name in names:
        try:
            INTEGRATION_TO_CALLBACK[name]()
        except (ImportError, RuntimeError) as error:
            raise TrignerError(f"the tracker {name} cannot be used: {error}") from error


def training_arguments(
    out: Path,
    settings: OptimisationSettings,
    *,
    seed: int,
    epochs: int,
    updates: int,
    device: torch.device,
    report_to: Sequence[str] = (),
) -> TrainingArguments:
    """Our settings in the Trainer's words; a checkpoint an epoch, and an evaluation, which
    `ScoreEvery` may leave out.

    `report_to` names trackers of the Trainer, such as wandb and mlflow (`check_trackers`).
    """
    return OneDevice(
        output_dir=str(out / CHECKPOINTS),
        num_train_epochs=epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        lr_scheduler_type="linear",
        warmup_steps=round(settings.warmup * updates),
        max_grad_norm=settings.max_grad_norm,
        bf16=settings.precision == "bfloat16",
        seed=seed,
        device_name=str(device),
        eval_strategy="epoch",
        save_strategy="epoch",
        save_total_limit=1,
        logging_steps=20,
        # TensorBoard is always there, see `SystemTrainer`.
        report_to=[name for name in report_to if name != "tensorboard"],
        run_name=out.name,
        disable_tqdm=True,
        # It would hide NaN losses, and look at each: the trainer does so in bulk.
        logging_nan_inf_filter=False,
        remove_unused_columns=False,
        dataloader_pin_memory=device.type == "cuda",
    )


FIGURES = ("f1", "precision", "recall", "discontinuous_f1")
"""What is reported of an epoch's scores on dev."""


def figures(scores: Scores) -> dict[str, float]:
    """These of all scores."""
    overall = scores.overall
    values = (overall.f1, overall.precision, overall.recall, scores.discontinuous.f1)
    return dict(zip(FIGURES, values, strict=True))


class SystemModule(nn.Module):
    """A system as the Trainer's model. `parts` holds the last batch's losses, for the log."""

    def __init__(self, system: System) -> None:
        super().__init__()
        self.network = system.network
        self.parts: Mapping[str, torch.Tensor] = {}
        self._loss = system.loss

    def forward(self, batch: Mapping[str, Any], factor: float = 1.0) -> torch.Tensor:
        """The loss of a batch, a scalar, times a factor."""
        losses = self._loss(**batch)
        self.parts = losses.parts
        return factor * losses.total


class SystemTrainer(ResumingTrainer):
    """Trains a system; evaluation extracts from the dev documents and scores entities."""

    def __init__(
        self,
        system: System,
        args: TrainingArguments,
        *,
        data: TrainingData,
        batches: EpochBatches,
        collator: Callable[[Sequence[Any]], dict[str, Any]],
        settings: OptimisationSettings,
        score_dev: Callable[[], Scores],
        callbacks: list[TrainerCallback],
        logs: Path,
        processes: Processes = ALONE,
    ) -> None:
        self._processes = processes
        self._settings = settings
        self._system = system
        self._unchecked: list[torch.Tensor] = []
        self._losses: list[float] = []
        self._batches = batches
        self._score_dev = score_dev
        if processes.is_main:
            # Not by `report_to`: the log folder's argument differs between versions.
            callbacks = [*callbacks, TensorBoardCallback(SummaryWriter(log_dir=str(logs)))]
        super().__init__(
            model=SystemModule(system),
            args=args,
            train_dataset=data,
            # Never read: `evaluate` draws on the dev documents. The Trainer asks for one.
            eval_dataset=data,
            data_collator=collator,
            callbacks=[_EpochSetter(self._begin), HashCheckpoints(processes), *callbacks],
        )
        for printing in list(self.callback_handler.callbacks):
            if type(printing).__name__ in {"PrinterCallback", "ProgressCallback"}:
                self.remove_callback(type(printing))

    @property
    def updates(self) -> int:
        """Updates of the whole training."""
        return len(self._batches) * self._batches.epochs

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Batches by cost, the same in every run with the same seed."""
        return DataLoader(
            self.train_dataset,  # type: ignore[arg-type]
            batch_sampler=self._batches,
            collate_fn=self.data_collator,
            pin_memory=self.args.dataloader_pin_memory,
        )

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:
        """AdamW with the two learning rates."""
        if self.optimizer is None:
            groups = self._system.parameter_groups(self._settings)
            self.optimizer = torch.optim.AdamW(
                groups,
                betas=(0.9, self._settings.beta2),
                eps=self._settings.epsilon,
                fused=True,
            )
            if self._settings.epsilon_to == "uncorrected":
                self.optimizer.register_step_pre_hook(self._correct_epsilon)
        return self.optimizer

    def _correct_epsilon(self, optimiser: torch.optim.Optimizer, *_: Any) -> None:
        """Make AdamW add epsilon to the average of squares before its bias correction.

        That divides by sqrt(v) + e where it would by sqrt(v / c) + e': the same where e' is
        e / sqrt(c), up to the factor sqrt(c) that both have in the step's size.
        """
        update = self.state.global_step + 1
        correction = 1 - self._settings.beta2**update
        for group in optimiser.param_groups:
            group["eps"] = self._settings.epsilon / math.sqrt(correction)

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """The weights of a checkpoint.

        Raises TrignerError when training has diverged, which shows here where dev is not scored.
        """
        self._check()
        super().save_model(output_dir, _internal_call)

    def compute_loss(
        self, model: Any, inputs: dict[str, Any], *args: Any, **kwargs: Any
    ) -> torch.Tensor:
        """The objective's value on a batch."""
        loss: torch.Tensor = model(**inputs)
        self._unchecked.append(loss.detach())
        return loss

    def _begin(self, epoch: int) -> None:
        """Begin an epoch, also after a resumption."""
        self._batches.epoch = epoch
        self._losses.clear()

    def _check(self) -> None:
        self._check_losses()
        self._check_weights()

    def _check_losses(self) -> None:
        """Raises TrignerError for a loss that is NaN or infinite since the last check.

        Not at every update: reading a loss makes the device wait.
        """
        losses: list[float] = torch.stack(self._unchecked).tolist() if self._unchecked else []
        self._unchecked.clear()
        for before, loss in enumerate(reversed(losses)):
            if not math.isfinite(loss):
                update = self.state.global_step - before
                raise self._diverged(f"the loss is NaN or infinite at update {update}")
        self._losses += losses

    def _check_weights(self) -> None:
        if not all(torch.isfinite(p).all() for p in self.model.parameters()):  # type: ignore[union-attr]
            raise self._diverged(
                f"weights are NaN or infinite after update {self.state.global_step}"
            )

    def _diverged(self, what: str) -> TrignerError:
        advice = "set lower optimisation.learning_rate and optimisation.encoder_lr"
        if self._settings.precision != "float32":
            advice += ", or optimisation.precision=float32"
        return TrignerError(f"{what}: {advice}")

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Add the parts of the loss to what is logged."""
        if "loss" in logs:
            self._check_losses()
            parts = getattr(self.model, "parts", {})  # of the main process's share
            logs = {**logs, **{name: round(float(value), 4) for name, value in parts.items()}}
        super().log(logs, *args, **kwargs)

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Entity scores on the dev documents, given to the callbacks as `metrics`.

        Raises TrignerError, before any model or checkpoint is saved, when training has diverged.
        """
        self._check()
        found = self._processes.from_main(lambda: figures(self._score_dev()))
        loss = sum(self._losses) / max(1, len(self._losses))
        metrics = {
            TRAIN_LOSS: self._processes.mean(loss),
            **{f"eval_{name}": value for name, value in found.items()},
        }
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(
            self.args, self.state, self.control, metrics
        )
        return metrics


class _EpochSetter(TrainerCallback):
    """Tells which epoch begins, counted from 0, also after a resumption."""

    def __init__(self, begin: Callable[[int], None]) -> None:
        self._begin = begin

    def on_epoch_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        self._begin(round(state.epoch or 0))
