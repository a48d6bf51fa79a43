from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import load_file
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, AutoTokenizer

from tiny_encoders import KINDS, tiny_encoder
from trigner.errors import InputError, TrignerError
from trigner.training.adaptation import Adaptation, AdaptationSettings, Progress, adapt
from trigner.training.checkpoints import ResumingTrainer, last_checkpoint

TEXTS = [
    "My left leg hurts. My right arm felt numb after the second tablet. No pain then.",
    "The pain hurt, then my arms and legs felt numb. My legs hurt.",
]
DEV = ["After the tablet my leg felt numb. No numbness then."]
QUICK = AdaptationSettings(epochs=2, batch_size=2, learning_rate=0.01)


def run(folder: Path, encoder: Path, **changes: Any) -> Any:
    options: dict[str, Any] = {"dev_texts": DEV, "settings": QUICK, "device": "cpu"}
    return adapt(TEXTS, encoder=encoder, out=folder, **{**options, **changes})


def test_a_precision_that_is_slow_on_this_cpu_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("trigner.networks.devices.bfloat16_time", lambda: 2)
    told: list[str] = []
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    for precision, count in (("bfloat16", 1), ("float32", 0)):
        told.clear()
        settings = AdaptationSettings(epochs=1, batch_size=2, precision=precision)
        run(tmp_path / precision, source, settings=settings, report=told.append)
        ends = [message.rpartition("; ")[2] for message in told]
        assert ends == ["precision float32 is faster"] * count


class PowerCutError(Exception):
    """What a power cut looks like from inside."""


def stop_after(epoch: float) -> Any:
    def progress(now: Progress) -> None:
        if now.epoch > epoch:
            raise PowerCutError

    return progress


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("head", [True, False])
def test_the_folder_is_an_ordinary_encoder(tmp_path: Path, kind: str, head: bool) -> None:
    source, out = tiny_encoder(tmp_path / "encoder", kind, head=head), tmp_path / "deep" / "out"
    told: list[str] = []
    result = run(out, source, report=told.append)
    assert result.fresh_head is not head
    assert len(told) == (0 if head else 1)
    assert (result.train_passages, result.dev_passages) == (5, 2)
    assert len(result.dev_losses) == 2
    assert result.best_epoch == 1 + result.dev_losses.index(min(result.dev_losses))
    assert json.loads((out / "adaptation.json").read_text("utf-8")) == json.loads(
        json.dumps(asdict(result))
    )
    names = {path.name for path in out.iterdir()}
    assert {"config.json", "model.safetensors", "tokenizer_config.json"} <= names
    assert not names & {"checkpoints", "partial"}

    model, report = AutoModelForMaskedLM.from_pretrained(out, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    encoder = AutoModel.from_pretrained(out)
    before = AutoModel.from_pretrained(source)
    moved = [
        not value.equal(before.state_dict()[name])
        for name, value in encoder.state_dict().items()
        if "pooler" not in name
    ]
    assert sum(moved) > len(moved) / 2
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    ours, theirs = (AutoTokenizer.from_pretrained(folder) for folder in (out, source))
    assert ours("My legs, numbness").input_ids == theirs("My legs, numbness").input_ids


def test_the_loss_on_like_text_falls(tmp_path: Path) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=False)
    like = ["My left leg hurts. My right arm felt numb."] * 10
    settings = QUICK.model_copy(update={"batch_size": 8, "epochs": 3})
    result = adapt(
        like, encoder=source, out=tmp_path / "out", dev_texts=like, settings=settings, device="cpu"
    )
    assert result.dev_losses[-1] < 0.9 * result.dev_loss_before


def test_the_best_epoch_is_what_is_saved(tmp_path: Path) -> None:
    source, out = tiny_encoder(tmp_path / "encoder", "bert", head=True), tmp_path / "out"

    def of(epochs: int, encoder: Path, folder: Path) -> Adaptation:
        return adapt(
            ["My leg hurts."] * 6,
            encoder=encoder,
            out=folder,
            dev_texts=["Then the second tablet felt numb."],  # nothing of what is learned
            settings=QUICK.model_copy(update={"learning_rate": 0.05, "epochs": epochs}),
            device="cpu",
        )

    result = of(3, source, out)
    assert result.best_epoch < 3
    again = of(1, out, tmp_path / "again")
    assert again.dev_loss_before == pytest.approx(min(result.dev_losses), rel=1e-4)
    assert result.dev_losses[-1] > 1.05 * min(result.dev_losses)


@pytest.mark.parametrize("stopped_in", [0.3, 1.5])
def test_a_resumed_adaptation_ends_where_an_unbroken_one_does(
    tmp_path: Path, stopped_in: float
) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=False)
    whole = run(tmp_path / "whole", source)
    broken = tmp_path / "broken"
    with pytest.raises(PowerCutError):
        run(broken, source, progress=stop_after(stopped_in))
    assert not (broken / "config.json").exists()
    (broken / "checkpoints" / "checkpoint-999").mkdir()  # one that was being written
    resumed = run(broken, source, resume=True)
    assert resumed == whole
    ours, theirs = (load_file(f / "model.safetensors") for f in (broken, tmp_path / "whole"))
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name], value, rtol=0, atol=0)
    assert not (broken / "checkpoints").exists()


def test_what_was_begun_with_the_librarys_own_loss_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, broken = tiny_encoder(tmp_path / "encoder", "bert", head=False), tmp_path / "broken"
    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.adaptation._MaskedTrainer", ResumingTrainer)
        whole = run(tmp_path / "whole", source)
        with pytest.raises(PowerCutError):
            run(broken, source, progress=stop_after(1.5))
    losses = (whole.dev_loss_before, *whole.dev_losses)
    for result in (run(broken, source, resume=True), run(tmp_path / "ours", source)):
        assert (result.dev_loss_before, *result.dev_losses) == pytest.approx(losses, rel=1e-4)


def test_the_best_epoch_is_kept_when_its_folder_is_named_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All epochs are over and the disk is full: what was best is in a checkpoint, named then."""
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    settings = QUICK.model_copy(update={"learning_rate": 0.05, "epochs": 3})
    options: dict[str, Any] = {
        "dev_texts": ["Then the second tablet felt numb."],  # nothing of what is learned
        "settings": settings,
    }
    whole = run(tmp_path / "whole", source, **options)
    assert whole.best_epoch < 3
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.adaptation_folder.os.replace", _failing_for("config.json"))
        with pytest.raises(TrignerError, match="cannot write the encoder"):
            run(Path("a"), source, **options)
    moved = tmp_path / "larger disk"
    (tmp_path / "a").rename(moved)
    assert run(moved, source, resume=True, **options) == whole
    ours, theirs = (load_file(at / "model.safetensors") for at in (moved, tmp_path / "whole"))
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name], value, rtol=0, atol=0)


def test_a_best_epoch_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, out = tiny_encoder(tmp_path / "encoder", "bert", head=True), tmp_path / "out"
    options: dict[str, Any] = {
        "dev_texts": ["Then the second tablet felt numb."],
        "settings": QUICK.model_copy(update={"learning_rate": 0.05, "epochs": 3}),
    }
    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.adaptation_folder.os.replace", _failing_for("config.json"))
        with pytest.raises(TrignerError, match="cannot write the encoder"):
            run(out, source, **options)
    last = last_checkpoint(out / "checkpoints")
    assert last is not None
    state = json.loads((last / "trainer_state.json").read_text())
    best = Path(state["best_model_checkpoint"])
    assert best != last
    shutil.rmtree(best)
    with pytest.raises(InputError, match="is missing: ") as raised:
        run(out, source, resume=True, **options)
    assert raised.value.path == best


def test_the_decoder_never_reads_whole_passages(tmp_path: Path) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    vocabulary = AutoConfig.from_pretrained(source).vocab_size
    seen: list[Any] = []

    def see(module: nn.Module, read: Any, made: Any) -> None:
        if isinstance(module, nn.Linear) and module.out_features == vocabulary:
            seen.append(made.shape)

    with register_module_forward_hook(see):
        result = run(tmp_path / "out", source)
    updates, evaluations = 2 * 3, 3
    assert (result.train_passages, result.dev_passages) == (5, 2)
    assert len(seen) == updates + evaluations
    assert all(len(shape) == 2 for shape in seen), seen


def test_a_crash_while_writing_leaves_no_model_and_can_be_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, out = tiny_encoder(tmp_path / "encoder", "mpnet", head=True), tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.adaptation_folder.os.replace", _failing_for("config.json"))
        with pytest.raises(TrignerError, match=r"cannot write the encoder .*no space left"):
            run(out, source)
    assert not (out / "config.json").exists()
    resumed = run(out, source, resume=True)
    assert len(resumed.dev_losses) == 2
    AutoModelForMaskedLM.from_pretrained(out)


def _failing_for(name: str) -> Any:
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        if Path(target).name == name:
            raise OSError("no space left")
        real(source, target)

    return replace


def test_without_dev_text_sentences_are_held_out(tmp_path: Path) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    settings = QUICK.model_copy(update={"epochs": 1, "dev_share": 0.4})
    result = run(tmp_path / "out", source, dev_texts=None, settings=settings)
    assert (result.train_passages, result.dev_passages) == (3, 2)


def test_long_sentences_are_read_in_windows(tmp_path: Path) -> None:
    source = tiny_encoder(tmp_path / "encoder", "roberta", head=True, positions=12)
    settings = QUICK.model_copy(update={"epochs": 1})
    result = adapt(
        ["my leg felt numb and then " * 20],
        encoder=source,
        out=tmp_path / "out",
        dev_texts=DEV,
        settings=settings,
        device="cpu",
    )
    assert result.train_passages >= 12


def test_progress_is_told_after_updates_and_epochs(tmp_path: Path) -> None:
    seen: list[Progress] = []
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    result = run(tmp_path / "out", source, progress=seen.append)
    assert {now.steps for now in seen} == {6}
    assert [now.step for now in seen] == [1, 2, 3, 3, 4, 5, 6, 6]
    assert seen[0].dev_loss is None
    assert seen[-1].dev_loss == result.dev_losses[-1]


def test_finished_folders(tmp_path: Path) -> None:
    source, out = tiny_encoder(tmp_path / "encoder", "bert", head=True), tmp_path / "out"
    one = QUICK.model_copy(update={"epochs": 1})
    result = run(out, source, settings=one)
    with pytest.raises(InputError, match="is not empty"):
        run(out, source, settings=one)
    assert run(out, tmp_path / "encoder", settings=one, resume=True) == result
    with pytest.raises(InputError, match="different settings"):
        run(out, source, resume=True)
    with pytest.raises(InputError, match="different data"):
        run(out, source, settings=one, dev_texts=["Other text."], resume=True)
    (out / "adaptation.json").write_text("{", "utf-8")
    with pytest.raises(InputError, match=r"adaptation\.json: is damaged"):
        run(out, source, settings=one, resume=True)


def test_folders_of_something_else_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(InputError, match="contains no adaptation"):
        run(other, tmp_path, resume=True)
    with pytest.raises(InputError, match="is not empty"):
        run(other, tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        run(other / "notes.txt", tmp_path)


def test_bad_input_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match="no encoder folder at"):
        run(out, tmp_path / "none")
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    with pytest.raises(InputError, match="the text has 1 sentence, and none is left beside dev's"):
        adapt(["One sentence."], encoder=source, out=out)
    for empty in ([], [""], [" \n"]):
        with pytest.raises(InputError, match="the text to train on has no sentence"):
            adapt(empty, encoder=source, out=out)
        with pytest.raises(InputError, match="the dev text has no sentence"):
            run(out, source, dev_texts=empty)
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="float16 needs a CUDA device"):
            run(out, source, settings=QUICK.model_copy(update={"precision": "float16"}))
    assert not out.exists()


def test_a_loss_that_is_no_number_is_told(tmp_path: Path) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    settings = QUICK.model_copy(update={"learning_rate": 1e30})
    with pytest.raises(TrignerError, match="the dev loss is NaN or infinite after update 3"):
        run(tmp_path / "out", source, settings=settings)
    assert not (tmp_path / "out" / "config.json").exists()


def test_defaults_are_those_of_the_papers_code() -> None:
    defaults = AdaptationSettings().model_dump()
    assert defaults["mask_probability"] == 0.20
    assert defaults["learning_rate"] == 2e-5
    assert defaults["weight_decay"] == 0.01
    assert defaults["epochs"] == 20
    assert defaults["batch_size"] == 16
    assert defaults["seed"] == 1898


@pytest.mark.parametrize(
    "bad",
    [
        {"mask_probability": 0},
        {"mask_probability": 1.5},
        {"replaced": 0.8, "randomised": 0.3},
        {"epochs": 0},
        {"learning_rate": -1e-5},
        {"precision": "fp16"},
        {"mask_probabilty": 0.2},
    ],
)
def test_settings_are_checked(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AdaptationSettings(**bad)


def test_a_disk_that_fills_up_at_a_checkpoint_is_told_and_resumable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise RuntimeError("PytorchStreamWriter failed writing file data/0")

    source, out = tiny_encoder(tmp_path / "encoder", "bert", head=True), tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr("transformers.Trainer._save_checkpoint", full)
        usage = SimpleNamespace(free=1000)
        patch.setattr("trigner.training.checkpoints.shutil.disk_usage", lambda path: usage)
        with pytest.raises(TrignerError, match="the disk is full; continue with --resume"):
            run(out, source)
    assert len(run(out, source, resume=True).dev_losses) == 2


def test_an_encoder_with_damaged_weights_is_told(tmp_path: Path) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    (source / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(InputError, match="cannot load the encoder"):
        run(tmp_path / "out", source)
