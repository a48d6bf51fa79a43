"""An encoder made familiar with a kind of text: masked language modelling on whole words.

The paper calls it next-word prediction; its code masks whole words. Heads, masking, checkpoints and
the loop are those of `transformers`.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    DataCollatorForLanguageModeling,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)

from trigner.batches import readable
from trigner.encoders import (
    Encoder,
    choose_device,
    encoder_source,
    load_checkpoint,
    quiet,
    refuse_unknown_subwords,
    refuse_weights,
    tokenizer_for_words,
)
from trigner.errors import InputError, TrignerError
from trigner.systems import LARGEST_SEED
from trigner.text import split
from trigner.training import checkpoints, records
from trigner.training.devices import OneDevice, deterministic

DEV_SHARE = 0.1
"""Of the sentences, held out where there is no dev text: as many as `train` holds out."""

LONGEST = 512
"""Subwords of a passage: more memory than that is spent on text whose sentences do not end."""

Show = Callable[[int, int, str], None]
"""Takes the updates done, their total, and details."""


class AdaptationSettings(BaseModel):
    """What decides how an encoder is adapted. Defaults are those of the paper's code for CADEC."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    mask_probability: float = Field(default=0.20, gt=0, lt=1, description="share of words masked")
    learning_rate: float = Field(default=2e-5, gt=0, description="falls linearly to 0")
    epochs: int = Field(default=20, ge=1)
    batch_size: int = Field(default=16, ge=1, description="sentences in a batch")
    precision: Literal["float32", "bfloat16"] = "float32"
    seed: int = Field(default=1898, ge=0, le=LARGEST_SEED)


def adapt(
    texts: Sequence[str],
    *,
    encoder: str | Path,
    out: Path,
    dev_texts: Sequence[str] | None = None,
    settings: AdaptationSettings | None = None,
    resume: bool = False,
    device: str = "auto",
    show: Show = lambda done, total, detail: None,
    report: Callable[[str], None] = lambda message: None,
) -> list[float]:
    """Adapt `encoder` (folder, name on the Hub, or `minilm`) to `texts` and write it to `out`.

    The epoch with the lowest loss on `dev_texts`, or on a tenth of the sentences, is kept. `out`
    becomes an ordinary Hugging Face folder, with `config.json` once all of it is written. `resume`
    goes on from the last epoch, and returns at once when `out` is finished. `report` gets what a
    user should know, a message each. Gives the dev loss of each epoch: the cross-entropy of masked
    subwords in nats.

    Raises InputError for a device that is not there, text without enough sentences, an encoder that
    cannot be used, and (with `resume`) an `out` of other settings, text or encoder; TrignerError
    when the loss is NaN or infinite, or the disk cannot be written.
    """
    settings = settings or AdaptationSettings()
    chosen = choose_device(device)
    train, dev = _sentences(texts, dev_texts, settings.seed)
    run = {
        "encoder": str(encoder),
        "settings": settings.model_dump(),
        "text": hashlib.sha256(json.dumps([train, dev]).encode("ascii")).hexdigest(),
    }
    record = records.record_to_resume(out, run) if resume else {}
    if "finished" not in record:
        with deterministic(settings.seed, chosen), checkpoints.disk_errors(out), quiet():
            model, tokenizer, fresh = _load(str(encoder))
            if fresh:
                report(f"{encoder} has no head for masked words: a new one starts untrained")
            trainer = _trainer(model, tokenizer, (train, dev), settings, out, chosen, show)
            last = checkpoints.last_checkpoint(out / checkpoints.CHECKPOINTS)
            records.write_record(out / records.RUN, run)
            trainer.train(resume_from_checkpoint=None if last is None else str(last))
            history = [own for own in trainer.state.log_history if "eval_loss" in own]
            _write(out, model, encoder)
            records.finish_record(out, settings.epochs, history)
            record["history"] = history
    shutil.rmtree(out / checkpoints.CHECKPOINTS, ignore_errors=True)
    return [epoch["eval_loss"] for epoch in record["history"]]


def _sentences(
    texts: Sequence[str], dev_texts: Sequence[str] | None, seed: int
) -> tuple[list[list[str]], list[list[str]]]:
    """Train and dev sentences as words."""
    train, dev = (
        [readable([text[a:b] for a, b in words]) for text in part for words in split(text)]
        for part in (texts, dev_texts or ())
    )
    if dev_texts is None:
        order = np.random.default_rng(seed).permutation(len(train)).tolist()
        held = set(order[: max(1, round(DEV_SHARE * len(train)))])
        dev = [words for n, words in enumerate(train) if n in held]
        train = [words for n, words in enumerate(train) if n not in held]
    if not train or not dev:
        counts = f"{len(train)} to train on, {len(dev)} to choose the epoch on"
        raise InputError(f"the text has too few sentences: {counts}")
    return train, dev


def _load(name: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase, bool]:
    """The encoder with its head, a tokenizer for ready words, and whether the head is new."""
    tokenizer = tokenizer_for_words(name)
    if tokenizer.mask_token is None:
        raise InputError(f"the tokenizer of the encoder {name!r} has no mask token")
    model, missing = load_checkpoint(name, AutoModelForMaskedLM)
    missing &= {key for key, _ in model.named_parameters() if "pooler" not in key}
    head = {key for key in missing if not key.startswith(f"{model.base_model_prefix}.")}
    refuse_weights(name, "lacks", missing - head)
    refuse_unknown_subwords(name, tokenizer.backend_tokenizer, model)
    return model, tokenizer, bool(head)


def _passages(
    sentences: list[list[str]], tokenizer: PreTrainedTokenizerBase, limit: int
) -> list[dict[str, Any]]:
    """Sentences as subwords; one of more than `limit` subwords becomes several passages."""
    encoded = tokenizer(
        sentences,
        is_split_into_words=True,
        truncation=True,
        max_length=limit,
        return_overflowing_tokens=True,
    )
    passages = []
    for n, ids in enumerate(encoded["input_ids"]):
        words = encoded.word_ids(n)
        if any(word is not None for word in words):
            # The collator takes what touches for one word: here the subwords of a word alone.
            places = [(0, 0) if w is None else (i + w, i + w + 1) for i, w in enumerate(words)]
            special = [int(word is None) for word in words]
            passages.append(
                {"input_ids": ids, "special_tokens_mask": special, "offset_mapping": places}
            )
    if not passages:
        raise InputError("the encoder's tokenizer knows no word of the text")
    return passages


def _collator(
    tokenizer: PreTrainedTokenizerBase, probability: float
) -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    """Batches of passages, masked anew each time by torch's global random state."""
    tokenizer.padding_side = "right"
    masking = DataCollatorForLanguageModeling(
        tokenizer,
        whole_word_mask=True,
        mlm_probability=probability,
        mask_replace_prob=1.0,  # whole words become masks and nothing else, as in the paper's code
        random_replace_prob=0.0,
    )

    def collate(passages: list[dict[str, Any]]) -> dict[str, Any]:
        longest = max(len(own["input_ids"]) for own in passages)
        padded = []  # the collator pads all else
        for own in passages:
            places = own["offset_mapping"]
            places = places + [(0, 0)] * (longest - len(places))
            padded.append({**own, "offset_mapping": places})
        while True:
            batch = cast(dict[str, Any], masking(padded))
            if (batch["labels"] >= 0).any():  # the mean loss of nothing would be NaN
                return batch

    return collate


def _trainer(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    parts: tuple[list[list[str]], list[list[str]]],
    settings: AdaptationSettings,
    out: Path,
    device: torch.device,
    show: Show,
) -> Trainer:
    limit = min(LONGEST, Encoder(cast(PreTrainedModel, model.base_model)).max_subwords)
    train, dev = (_passages(sentences, tokenizer, limit) for sentences in parts)
    arguments = OneDevice(
        output_dir=str(out / checkpoints.CHECKPOINTS),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        weight_decay=0.01,  # the paper's code
        seed=settings.seed,
        bf16=settings.precision == "bfloat16",
        device_name=str(device),
        eval_strategy="epoch",
        save_strategy="epoch",
        load_best_model_at_end=True,  # that with the lowest loss on dev
        save_total_limit=2,
        prediction_loss_only=True,
        remove_unused_columns=False,
        dataloader_pin_memory=device.type == "cuda",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = _Trainer(
        model=model,
        args=arguments,
        data_collator=_collator(tokenizer, settings.mask_probability),
        train_dataset=cast(Any, train),
        eval_dataset=cast(Any, dev),
        callbacks=[checkpoints.HashCheckpoints(), _Watcher(show)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


class _Trainer(checkpoints.ResumingTrainer):
    """Masks the same dev words in every epoch, so that the losses can be compared."""

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.args.seed)
            return super().evaluate(*args, **kwargs)


class _Watcher(TrainerCallback):
    """Shows progress, and ends an adaptation that makes no sense."""

    def __init__(self, show: Show) -> None:
        self._show, self._loss = show, ""

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        if state.best_global_step:  # resumed, maybe in a folder that has moved since
            best = Path(str(args.output_dir)) / f"checkpoint-{state.best_global_step}"
            if not best.is_dir():
                raise InputError("is missing: start again in another folder", path=best)
            state.best_model_checkpoint = str(best)

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        epochs = f"epoch {state.epoch or 0:.1f} of {args.num_train_epochs:.0f}"
        self._show(state.global_step, state.max_steps, f" updates, {epochs}{self._loss}")

    def on_evaluate(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any
    ) -> None:
        loss = state.log_history[-1]["eval_loss"]
        if not math.isfinite(loss):
            update = state.global_step
            raise TrignerError(
                f"the dev loss is NaN or infinite after update {update}: lower the learning rate"
            )
        self._loss = f", dev loss {loss:.3f}"
        self.on_step_end(args, state, control)


def _write(out: Path, model: PreTrainedModel, encoder: str | Path) -> None:
    """All files are written next to their places first; the one that makes a model comes last."""
    written = out / checkpoints.CHECKPOINTS / "finished"
    model.save_pretrained(written)
    source = encoder_source(str(encoder))
    AutoTokenizer.from_pretrained(source, trust_remote_code=False).save_pretrained(written)
    for path in sorted(written.iterdir(), key=lambda own: own.name == "config.json"):
        os.replace(path, out / path.name)
