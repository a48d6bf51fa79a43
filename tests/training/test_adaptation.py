from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch
from pydantic import ValidationError
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoModelForMaskedLM, AutoTokenizer

from tiny_encoders import KINDS, tiny_encoder
from trigner.encoders.pretrained import tokenizer_for_words
from trigner.errors import TrignerError
from trigner.training.adaptation import AdaptationSettings, _collator, _passages, adapt

TEXTS = [
    "My left leg hurts. My right arm felt numb after the second tablet. No pain then.",
    "The pain hurt, then my arms and legs felt numb. My legs hurt.",
]
DEV = ["After the tablet my leg felt numb. No numbness then."]
QUICK = AdaptationSettings(epochs=2, batch_size=2, learning_rate=0.01)
FORGETTING: dict[str, Any] = {
    # Nothing of what is learned is in the dev text: the last epoch is not the best.
    "dev_texts": ["Then the second tablet felt numb."],
    "settings": QUICK.model_copy(update={"learning_rate": 0.05, "epochs": 3}),
}


def run(folder: Path, encoder: Path, **changes: Any) -> list[float]:
    options: dict[str, Any] = {"dev_texts": DEV, "settings": QUICK, "device": "cpu"}
    return adapt(TEXTS, encoder=encoder, out=folder, **{**options, **changes})


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load_file(folder / "model.safetensors"))


def same(one: Path, two: Path) -> bool:
    ours, theirs = weights(one), weights(two)
    return ours.keys() == theirs.keys() and all(ours[name].equal(theirs[name]) for name in ours)


class PowerCutError(Exception):
    """What a power cut looks like from inside."""


def stop_at(update: int) -> Any:
    def show(done: int, total: int, detail: str) -> None:
        if done == update:
            raise PowerCutError

    return show


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("head", [True, False])
def test_the_folder_is_an_ordinary_encoder(tmp_path: Path, kind: str, head: bool) -> None:
    source, out = tiny_encoder(tmp_path / "encoder", kind, head=head), tmp_path / "deep" / "out"
    told: list[str] = []
    losses = run(out, source, report=told.append)
    assert len(losses) == 2
    assert len(told) == (0 if head else 1)
    assert not (out / "checkpoints").exists()
    model, report = AutoModelForMaskedLM.from_pretrained(out, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    before = AutoModel.from_pretrained(source).state_dict()
    moved = [
        not value.equal(before[name])
        for name, value in AutoModel.from_pretrained(out).state_dict().items()
        if "pooler" not in name
    ]
    assert sum(moved) > len(moved) / 2
    ours, theirs = (AutoTokenizer.from_pretrained(folder) for folder in (out, source))
    assert ours("My legs, numbness").input_ids == theirs("My legs, numbness").input_ids


@pytest.mark.parametrize("kind", KINDS)
def test_equal_seeds_give_equal_encoders(tmp_path: Path, kind: str) -> None:
    source = tiny_encoder(tmp_path / "encoder", kind, head=False)
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    assert run(one, source) == run(two, source)
    assert same(one, two)
    run(other, source, settings=QUICK.model_copy(update={"seed": 2}))
    assert not same(one, other)


def test_the_loss_on_like_text_falls(tmp_path: Path) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=False)
    like = ["My left leg hurts. My right arm felt numb."] * 10
    settings = QUICK.model_copy(update={"batch_size": 8, "epochs": 4})
    losses = adapt(
        like, encoder=source, out=tmp_path / "out", dev_texts=like, settings=settings, device="cpu"
    )
    assert losses[-1] < 0.9 * losses[0]


def test_the_best_epoch_is_what_is_saved(tmp_path: Path) -> None:
    source, out = tiny_encoder(tmp_path / "encoder", "bert", head=True), tmp_path / "out"
    losses = run(out, source, **FORGETTING)
    assert losses[-1] > 1.05 * min(losses)
    still = FORGETTING["settings"].model_copy(update={"learning_rate": 1e-12, "epochs": 1})
    again = run(tmp_path / "again", out, **{**FORGETTING, "settings": still})
    assert again == pytest.approx([min(losses)], rel=1e-4)


@pytest.mark.parametrize("update", [1, 4])
def test_a_resumed_adaptation_ends_where_an_unbroken_one_does(tmp_path: Path, update: int) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=False)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    losses = run(whole, source)
    with pytest.raises(PowerCutError):
        run(broken, source, show=stop_at(update))
    assert not (broken / "config.json").exists()
    (broken / "checkpoints" / "checkpoint-999").mkdir()  # one that was being written
    assert run(broken, source, resume=True) == losses
    assert same(broken, whole)
    assert not (broken / "checkpoints").exists()


def test_a_disk_that_fills_at_the_end_leaves_no_model_and_all_to_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused
) -> None:
    source, out = tiny_encoder(tmp_path / "encoder", "bert", head=True), tmp_path / "a"
    real = os.replace

    def replace(source: Any, target: Any) -> None:
        if Path(target).name == "config.json":
            raise OSError("no space left")
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.adaptation.os.replace", replace)
        with refused(error=TrignerError):
            run(out, source, **FORGETTING)
    assert not (out / "config.json").exists()
    moved = out.rename(tmp_path / "larger disk")
    (best,) = sorted((moved / "checkpoints").glob("checkpoint-*"), key=lambda own: own.name)[:1]
    away = best.rename(tmp_path / "away")
    with refused() as raised:
        run(moved, source, resume=True, **FORGETTING)
    assert raised.value.path == best
    away.rename(best)
    losses = run(moved, source, resume=True, **FORGETTING)
    assert losses == run(tmp_path / "whole", source, **FORGETTING)
    assert same(moved, tmp_path / "whole")


def test_a_finished_folder_is_left_as_it_is(tmp_path: Path, refused) -> None:
    source, out = tiny_encoder(tmp_path / "encoder", "bert", head=True), tmp_path / "out"
    losses = run(out, source)
    before = {path: path.stat().st_mtime_ns for path in out.iterdir()}
    assert run(out, source, resume=True) == losses
    assert {path: path.stat().st_mtime_ns for path in out.iterdir()} == before
    for changes in ({"settings": AdaptationSettings()}, {"dev_texts": ["Other text."]}):
        with refused():
            run(out, source, resume=True, **changes)
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine", "utf-8")
    with refused():
        run(other, source, resume=True)


def test_without_dev_text_sentences_are_held_out(tmp_path: Path) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    done = []
    settings = QUICK.model_copy(update={"epochs": 1, "batch_size": 1})
    run(
        tmp_path / "out",
        source,
        dev_texts=None,
        settings=settings,
        show=lambda *told: done.append(told),
    )
    assert [update for update, _, _ in done] == [1, 2, 3, 4, 4]  # of five sentences one is dev's
    assert {total for _, total, _ in done} == {4}
    assert "dev loss" in done[-1][2]


def test_bad_input_is_refused_before_anything_is_written(tmp_path: Path, refused) -> None:
    out = tmp_path / "out"
    with refused():
        run(out, tmp_path / "none")
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    for texts in (["One sentence."], [], [" \n"]):
        with refused():
            adapt(texts, encoder=source, out=out)
    with refused():
        run(out, source, dev_texts=[""])
    assert not out.exists()


@pytest.mark.parametrize("damage", ["weights", "vocabulary", "mask"])
def test_encoders_that_cannot_be_adapted_are_named(tmp_path: Path, damage: str, refused) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    if damage == "weights":
        kept = weights(source)
        del kept["bert.encoder.layer.1.attention.self.query.weight"]
        save_file(kept, source / "model.safetensors", metadata={"format": "pt"})
    elif damage == "vocabulary":
        with (source / "vocab.txt").open("a", encoding="utf-8") as vocabulary:
            vocabulary.write("more\n")
    else:
        described = json.dumps({"tokenizer_class": "BertTokenizer", "mask_token": None})
        (source / "tokenizer_config.json").write_text(described, "utf-8")
    with refused():
        run(tmp_path / "out", source)


def test_text_of_which_the_tokenizer_knows_nothing(tmp_path: Path, refused) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    with refused():
        run(tmp_path / "out", source, dev_texts=["\u200b"])


def test_a_loss_that_is_no_number_ends_the_adaptation(tmp_path: Path, refused) -> None:
    source = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    settings = QUICK.model_copy(update={"learning_rate": 1e30})
    with refused(error=TrignerError):
        run(tmp_path / "out", source, settings=settings)
    assert not (tmp_path / "out" / "config.json").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_whole_words_are_masked_and_no_others(tmp_path: Path, kind: str) -> None:
    tokenizer = tokenizer_for_words(str(tiny_encoder(tmp_path, kind, head=True)))
    sentences = [["legs", "arms", "hurts", "."], ["numbness", ",", "pain"], ["leg"]]
    passages = _passages(sentences, tokenizer, 40)
    words = [
        encoding.word_ids for encoding in tokenizer(sentences, is_split_into_words=True).encodings
    ]
    collate = _collator(tokenizer, 0.3)
    torch.manual_seed(3)
    seen = set()
    for _ in range(50):
        batch = collate(passages)
        assert batch.keys() == {"input_ids", "attention_mask", "labels"}
        for n, owners in enumerate(words):
            masked = batch["labels"][n, : len(owners)] != -100
            chosen = {owner for owner, own in zip(owners, masked.tolist(), strict=True) if own}
            assert None not in chosen
            assert masked.tolist() == [owner in chosen for owner in owners]
            assert (batch["input_ids"][n, : len(owners)][masked] == tokenizer.mask_token_id).all()
            seen |= {(n, owner) for owner in chosen}
        assert (batch["labels"] >= 0).any()
        assert (batch["labels"][batch["attention_mask"] == 0] == -100).all()
    assert seen == {(n, m) for n, sentence in enumerate(sentences) for m in range(len(sentence))}


@pytest.mark.parametrize("kind", KINDS)
def test_long_sentences_are_read_in_passages(tmp_path: Path, kind: str) -> None:
    tokenizer = tokenizer_for_words(str(tiny_encoder(tmp_path, kind, head=True)))
    sentence = ["my", "legs", "felt", "numb"] * 10
    (whole,) = _passages([sentence], tokenizer, 500)
    passages = _passages([sentence, ["leg"]], tokenizer, 12)
    assert all(len(own["input_ids"]) <= 12 for own in passages)
    read = [i for own in passages[:-1] for i in own["input_ids"][1:-1]]
    assert read == whole["input_ids"][1:-1]


def test_defaults_are_those_of_the_papers_code() -> None:
    assert AdaptationSettings().model_dump() == {
        "mask_probability": 0.20,
        "learning_rate": 2e-5,
        "epochs": 20,
        "batch_size": 16,
        "precision": "float32",
        "seed": 1898,
    }


@pytest.mark.parametrize(
    "bad",
    [
        {"mask_probability": 0},
        {"mask_probability": 1.5},
        {"epochs": 0},
        {"batch_size": 0},
        {"learning_rate": -1},
        {"precision": "half"},
        {"unknown": 1},
    ],
)
def test_settings_that_make_no_sense(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        AdaptationSettings(**bad)
