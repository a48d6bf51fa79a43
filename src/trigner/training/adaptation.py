"""An encoder made familiar with a kind of text: masked language modelling on whole words.

The paper calls it next-word prediction; its code hides whole words, which is what is done here
(docs: `trigner adapt`).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import (
    PreTrainedModel,
    PrinterCallback,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    set_seed,
)

from trigner.errors import InputError, TrignerError
from trigner.networks import bfloat16_notice, choose_device
from trigner.networks.pretrained import quiet
from trigner.quantities import counted
from trigner.text import split
from trigner.training.adaptation_folder import Adaptation, prepare, write
from trigner.training.checkpoints import (
    CHECKPOINTS,
    HashCheckpoints,
    ResumingTrainer,
    disk_errors,
    last_checkpoint,
)
from trigner.training.devices import OneDevice, deterministic
from trigner.training.masked_encoder import MaskedEncoder, hidden_loss, load_masked_encoder
from trigner.training.masking import Masked, Masking, Passage, masking_collator, passages
from trigner.training.records import RUN, read_record, write_record
from trigner.training.sections import LARGEST_SEED


class AdaptationSettings(BaseModel):
    """What decides how an encoder is adapted. Defaults are those of the paper's code for CADEC."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    mask_probability: float = Field(
        default=0.20, gt=0, lt=1, description="share of the words hidden"
    )
    replaced: float = Field(
        default=0.8, ge=0, le=1, description="share of those that become the mask"
    )
    randomised: float = Field(
        default=0.1, ge=0, le=1, description="share that become other subwords"
    )
    learning_rate: float = Field(default=2e-5, gt=0, description="falls linearly to 0")
    weight_decay: float = Field(default=0.01, ge=0)
    epochs: int = Field(default=20, ge=1)
    batch_size: int = Field(default=16, ge=1, description="passages in a batch")
    max_subwords: int | None = Field(
        default=None, ge=3, description="longest passage in subwords; none: what the encoder holds"
    )
    dev_share: float = Field(
        default=0.1,
        gt=0,
        lt=1,
        description="share of the sentences held out when no dev text is given",
    )
    precision: Literal["float32", "float16", "bfloat16"] = "float32"
    seed: int = Field(default=1898, ge=0, le=LARGEST_SEED)

    @model_validator(mode="after")
    def _shares_fit(self) -> AdaptationSettings:
        if self.replaced + self.randomised > 1:
            raise ValueError("replaced and randomised are shares of one whole: at most 1 together")
        return self


@dataclass(frozen=True, slots=True)
class Progress:
    """Where an adaptation stands: updates done, epochs done, and the newest loss on dev if any."""

    step: int
    steps: int
    epoch: float
    dev_loss: float | None


def adapt(
    texts: Sequence[str],
    *,
    encoder: str | Path,
    out: Path,
    dev_texts: Sequence[str] | None = None,
    settings: AdaptationSettings | None = None,
    resume: bool = False,
    device: str = "auto",
    progress: Callable[[Progress], None] | None = None,
    report: Callable[[str], None] | None = None,
) -> Adaptation:
    """Adapt `encoder` (folder, name on the Hub, or `minilm`) to `texts` and write it to `out`.

    Each sentence is one example. The epoch with the lowest loss on `dev_texts` is kept; without
    them a share of the sentences is held out. Which dev words are hidden is the same in every
    epoch. `out` becomes an ordinary Hugging Face folder: `AutoModel` finds the encoder in it,
    `AutoModelForMaskedLM` also the head. It holds no `config.json` before all of it is written.
    `resume` goes on from the last epoch in `out/checkpoints` and returns at once when `out` is
    finished. `report` gets what a user should know, a message each.

    Raises InputError for a device that is not there, text without enough sentences, an encoder that
    cannot be used, an `out` that is not empty (without `resume`) or of other settings, text or
    encoder (with it), and TrignerError when the loss is NaN or infinite.
    """
    settings = settings or AdaptationSettings()
    chosen = choose_device(device)
    if settings.precision == "float16" and chosen.type != "cuda":
        raise InputError("precision float16 needs a CUDA device")
    report = report or (lambda message: None)
    train, dev = _sentences(texts, dev_texts, settings)
    identity: dict[str, Any] = {
        "encoder": str(encoder),
        "settings": settings.model_dump(mode="json"),
        "data": _hash([train, dev]),
    }
    finished = prepare(out, identity, resume)
    if finished is not None:
        return finished
    if settings.precision == "bfloat16" and (told := bfloat16_notice(chosen)):
        report(f"{told}; precision float32 is faster")
    with deterministic(settings.seed, chosen):
        masked = load_masked_encoder(encoder)
        if masked.fresh_head:
            report(
                f"the encoder '{encoder}' has no masked-language-model head: its transform layer "
                "starts untrained, its decoder is tied to the encoder's embeddings"
            )
        train_passages, dev_passages = (_cut(part, masked, settings) for part in (train, dev))
        with disk_errors(out), quiet():
            trainer = _trainer(
                masked, train_passages, dev_passages, settings, out, chosen, progress
            )
            before = _dev_loss_before(trainer, out / CHECKPOINTS / RUN, identity)
            last = last_checkpoint(out / CHECKPOINTS)
            set_seed(settings.seed)  # whether or not the loss before was measured just now
            trainer.train(resume_from_checkpoint=None if last is None else str(last))
            history = trainer.state.log_history
            losses = tuple(float(e["eval_loss"]) for e in history if "eval_loss" in e)
            result = Adaptation(
                fresh_head=masked.fresh_head,
                train_passages=len(train_passages),
                dev_passages=len(dev_passages),
                dev_loss_before=before,
                dev_losses=losses,
                best_epoch=1 + int(np.argmin(losses)),
                **identity,
            )
            write(out, masked, result)
        return result


def _sentences(
    texts: Sequence[str], dev_texts: Sequence[str] | None, settings: AdaptationSettings
) -> tuple[list[list[str]], list[list[str]]]:
    """Train and dev sentences as words."""
    train = [words for text in texts for words in _words(text)]
    if dev_texts is not None:
        dev = [words for text in dev_texts for words in _words(text)]
    else:
        order = np.random.default_rng(settings.seed).permutation(len(train))
        held = set(order[: max(1, round(settings.dev_share * len(train)))].tolist())
        if 0 < len(train) == len(held):
            why = f"the text has {counted(len(train), 'sentence')}, and none is left beside dev's"
            raise InputError(f"{why}: give more, or a dev text of its own")
        dev = [words for i, words in enumerate(train) if i in held]
        train = [words for i, words in enumerate(train) if i not in held]
    for own, what in ((train, "text to train on"), (dev, "dev text")):
        if not own:
            raise InputError(f"the {what} has no sentence")
    return train, dev


def _words(text: str) -> list[list[str]]:
    return [[text[start:end] for start, end in sentence] for sentence in split(text)]


def _cut(
    sentences: list[list[str]], masked: MaskedEncoder, settings: AdaptationSettings
) -> list[Passage]:
    limit = min(masked.max_subwords, settings.max_subwords or masked.max_subwords)
    found = passages(sentences, masked.subwords, limit)
    if not found:
        raise InputError("the encoder's tokenizer knows no word of the text")
    return found


def _trainer(
    masked: MaskedEncoder,
    train: list[Passage],
    dev: list[Passage],
    settings: AdaptationSettings,
    out: Path,
    device: torch.device,
    progress: Callable[[Progress], None] | None,
) -> ResumingTrainer:
    tokenizer = masked.tokenizer
    special = set(tokenizer.all_special_ids)
    masking = Masking(
        probability=settings.mask_probability,
        replaced=settings.replaced,
        randomised=settings.randomised,
        mask_id=int(tokenizer.mask_token_id),
        vocabulary=np.array([i for i in range(len(tokenizer)) if i not in special]),
    )
    # Hidden once, so that the losses of all epochs are about the same words.
    hidden = [masking(p, np.random.default_rng([settings.seed, i])) for i, p in enumerate(dev)]
    trainer = _MaskedTrainer(
        model=masked.model,
        args=_arguments(settings, out / CHECKPOINTS, device),
        data_collator=masking_collator(masking, tokenizer.pad_token_id or 0),
        train_dataset=cast("Dataset[Passage]", train),
        eval_dataset=cast("Dataset[Masked]", hidden),
        callbacks=[
            _Divergence(),
            HashCheckpoints(),
            *([] if progress is None else [_Reporter(progress)]),
        ],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


def _arguments(
    settings: AdaptationSettings, folder: Path, device: torch.device
) -> TrainingArguments:
    return OneDevice(
        output_dir=str(folder),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        weight_decay=settings.weight_decay,
        lr_scheduler_type="linear",
        seed=settings.seed,
        data_seed=settings.seed,
        fp16=settings.precision == "float16",
        bf16=settings.precision == "bfloat16",
        device_name=str(device),
        eval_strategy="epoch",
        save_strategy="epoch",
        logging_strategy="epoch",
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        save_total_limit=2,  # the best and the last
        prediction_loss_only=True,
        logging_nan_inf_filter=False,
        remove_unused_columns=False,
        dataloader_pin_memory=device.type == "cuda",
        report_to="none",
        disable_tqdm=True,
    )


class _MaskedTrainer(ResumingTrainer):
    """Computes the loss of hidden subwords without the scores of all others."""

    def compute_loss(
        self,
        model: nn.Module,
        inputs: dict[str, Any],
        return_outputs: bool = False,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Tensor | tuple[Tensor, dict[str, Tensor]]:
        loss = hidden_loss(cast(PreTrainedModel, model), inputs)
        return (loss, {}) if return_outputs else loss  # `prediction_loss_only`: no outputs


class _Divergence(TrainerCallback):
    """Ends the training after the first epoch whose dev loss is NaN or infinite."""

    def on_evaluate(
        self,
        args: TrainingArguments,
        state: TrainerState,
        control: TrainerControl,
        metrics: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        if not math.isfinite((metrics or {}).get("eval_loss", 0.0)):
            raise TrignerError(
                f"the dev loss is NaN or infinite after update {state.global_step}:"
                " choose a lower learning rate, or precision float32"
            )


class _Reporter(TrainerCallback):
    """Reports progress after every update and every epoch."""

    def __init__(self, progress: Callable[[Progress], None]) -> None:
        self._progress = progress

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **kwargs: Any
    ) -> None:
        losses = [entry["eval_loss"] for entry in state.log_history if "eval_loss" in entry]
        if state.max_steps:  # none before training: the first evaluation is of the given encoder
            self._progress(
                Progress(
                    step=state.global_step,
                    steps=state.max_steps,
                    epoch=float(state.epoch or 0),
                    dev_loss=float(losses[-1]) if losses else None,
                )
            )

    on_evaluate = on_step_end


def _dev_loss_before(trainer: ResumingTrainer, path: Path, identity: dict[str, Any]) -> float:
    """The dev loss before any update: measured once, then kept with what tells this run."""
    if not path.is_file():
        before = float(trainer.evaluate()["eval_loss"])
        write_record(path, {**identity, "dev_loss_before": before})
    return float(read_record(path)["dev_loss_before"])


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode("ascii")).hexdigest()
