"""Language models of many families: read as their library reads them, kept whole, or refused."""

from __future__ import annotations

import json
import shutil

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM

from tiny_language_models import END, settings_of
from trigner.families.core.word_network import evaluating
from trigner.families.generative.loading import load
from trigner.families.generative.system import build
from trigner.mentions import Mention, Sentence
from trigner.models.folder import Description, save_model

LABELS = ("ADR", "Drug")
WORDS = ("my", "left", "leg", "and", "right", "arm", "hurt")
SENTENCES = [
    Sentence("d", n, words, tuple((i, i + 1) for i in range(len(words))), mentions)
    for n, (words, mentions) in enumerate(
        [(WORDS, (Mention((1, 2, 6), "ADR"), Mention((4, 5, 6), "ADR"))), (("no", "pain"), ())]
    )
]


def built(folder, tuning="full"):
    """An untrained system whose weights are the folder's."""
    torch.manual_seed(3)
    return build(settings_of(folder, f"model.tuning={tuning}"), LABELS)


@pytest.mark.parametrize(
    ("kind", "tuning"),
    [
        *[(kind, "full") for kind in ("bart", "mbart", "pegasus", "marian", "blenderbot-small")],
        *[(kind, "full") for kind in ("marian-apart", "mvp", "led", "t5", "t5-untied", "mt5")],
        # Before it has learnt anything LoRA changes nothing.
        *[(kind, "lora") for kind in ("gpt2", "llama", "pegasus", "t5-untied")],
    ],
)
def test_scores_are_the_librarys_own(language_model, kind, tuning):
    folder = language_model(kind)
    system = built(folder, tuning)
    batch = system.collate(system.prepare(SENTENCES).inputs)
    if system.network.encoder_decoder:
        whole = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    else:
        whole = AutoModelForCausalLM.from_pretrained(folder).eval()
    with evaluating(system.network):
        found = system.network.scores(batch["prompts"], batch["texts"])
        for prompt, text, own in zip(batch["prompts"], batch["texts"], found, strict=True):
            if system.network.encoder_decoder:
                start = whole.config.decoder_start_token_id
                given = [0 if start is None else start, *text[:-1]]
                output = whole(torch.tensor([prompt]), decoder_input_ids=torch.tensor([given]))
            else:
                output = whole(torch.tensor([[*prompt, *text[:-1]]]))
            expected = output.logits[0, -len(text) :]
            torch.testing.assert_close(own[: len(text)], expected, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("kind", "tuning"),
    [("mbart", "full"), ("led", "full"), ("t5-untied", "full"), ("mt5", "lora")],
)
def test_a_saved_model_has_its_start_its_positions_and_an_output_of_its_own(
    language_model, tmp_path, kind, tuning
):
    system = built(language_model(kind), tuning)
    state = system.saved_state()
    description = Description(
        system="generative",
        labels=LABELS,
        model=system.settings.model_dump(mode="json"),
        state=dict(state.state),
        files={},
    )
    again = load(tmp_path, save_model(tmp_path, description, state.files), device="cpu")
    for name, own in again.network.state_dict().items():
        assert own.equal(system.network.state_dict()[name]), name
    inputs = again.prepare(SENTENCES).inputs
    assert again.outputs(inputs)[0].ids == system.predictor("cpu").outputs(inputs)[0].ids
    assert again.predict(inputs) == system.predictor("cpu").predict(inputs)


def test_texts_of_a_model_that_names_no_start_begin_with_that_of_sentences(language_model):
    assert built(language_model("mbart")).network.language_model.config.decoder_start_token_id == 0


def test_a_model_that_says_nothing_of_its_start_is_refused(language_model, tmp_path, refused):
    folder = shutil.copytree(language_model("mbart"), tmp_path / "mbart")
    nothing = {"bos_token_id": None, "eos_token_id": None, "decoder_start_token_id": None}
    for name in ("config.json", "generation_config.json"):
        content = json.loads((folder / name).read_text("utf-8"))
        (folder / name).write_text(json.dumps({**content, **nothing}), "utf-8")
    with refused():
        built(folder)


def test_both_halves_bound_prompts_and_texts(language_model):
    """LED's encoder has twice its decoder's positions."""
    network = built(language_model("led")).network
    assert network.positions == 400


def test_what_a_language_model_cannot_do_is_told_before_training(language_model, refused):
    with refused():
        built(language_model("fsmt"))


def test_embeddings_that_are_read_otherwise_are_told_before_training(
    language_model, monkeypatch, refused
):
    monkeypatch.setattr("trigner.families.generative.network.encoder_scale", lambda model: 1.0)
    with refused():
        built(language_model("pegasus"))


def test_a_tokenizer_that_knows_more_than_its_model_is_refused(language_model, tmp_path, refused):
    folder = shutil.copytree(language_model("gpt2"), tmp_path / "gpt2")
    content = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    token = {**content["added_tokens"][END], "id": 5000, "content": "<more>"}
    content["added_tokens"].append(token)
    (folder / "tokenizer.json").write_text(json.dumps(content), "utf-8")
    with refused():
        built(folder)


def test_without_the_hub_no_encoder_is_named(refused):
    with refused() as refused:
        built("nobody/model")
    assert "local folder of one works, too: --encoder FOLDER" in str(refused.value)
    assert "minilm" not in str(refused.value)
