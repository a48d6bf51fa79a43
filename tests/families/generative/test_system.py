"""Training, prediction and the model folder of the system as a whole."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch

from tiny_encoders import tiny_encoder
from tiny_language_models import KINDS, settings_of, tiny_language_model
from trigner.errors import TrignerError
from trigner.families.generative.loading import load
from trigner.families.generative.network import text_loss
from trigner.families.generative.system import build
from trigner.mentions import Mention, Sentence
from trigner.models.folder import Description, save_model
from trigner.systems.registry import system_spec

TEXTS = (
    "my left leg and right arm hurt",
    "numb left arm and leg",
    "no pain then my arm hurt",
    "left and right leg felt numb",
    "my leg hurt and my arm felt numb after the tablet",
    "no pain",
)
MENTIONS = (
    [((1, 2, 6), "ADR"), ((4, 5, 6), "ADR")],
    [((0, 1, 2), "ADR"), ((0, 1, 4), "ADR")],
    [((4, 5), "ADR")],
    [((0, 3, 4, 5), "ADR"), ((2, 3, 4, 5), "ADR")],
    [((1, 2), "ADR"), ((4, 5, 7), "ADR"), ((10,), "Drug"), ((10,), "ADR")],
    [],
)


def sentence(number, text, mentions=()):
    words = tuple(text.split())
    offsets = tuple((2 * i, 2 * i + 1) for i in range(len(words)))
    return Sentence("d", number, words, offsets, tuple(Mention(*m) for m in mentions))


SENTENCES = [sentence(n, *pair) for n, pair in enumerate(zip(TEXTS, MENTIONS, strict=True))]


def saved(system, folder):
    """Save a system as training does; gives the description."""
    state = system.saved_state()
    description = Description(
        system="generative",
        labels=system.labels,
        model=system.settings.model_dump(mode="json"),
        state=dict(state.state),
        files={},
    )
    return save_model(folder, description, state.files)


def read_back(system, text):
    return system.tokenizer.decode(list(text), skip_special_tokens=False)


def test_the_prompt_and_the_text_can_be_read(generative):
    system = generative("gpt2")
    (example,) = system.prepare([SENTENCES[4]]).inputs
    prompt = " ".join(read_back(system, system.texts.speller(example).prompt).split())
    assert prompt.startswith("Write down the mentions of ADR, Drug in the sentence.")
    assert prompt.endswith(
        "Sentence: my leg hurt and my #2 arm felt numb after the tablet Mentions:"
    )
    text = system.texts.encode(example)
    assert text.lost == ()
    assert read_back(system, text.ids) == (
        " leg hurt | ADR my #2 arm numb | ADR tablet | ADR tablet | Drug</s>"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_read_again(generative, kind):
    system = generative(kind)
    for example in system.prepare(SENTENCES).inputs:
        writing = system.texts.writing(example)
        text = system.texts.encode(example)
        assert text.lost == ()
        found = system.texts.decode(writing, text.ids)
        assert {mention for mention, _ in found} == set(example.mentions)
        # The places of each are its own words and type.
        assert [stop for _, (_, stop) in found[:-1]] == [start for _, (start, _) in found[1:]]


@pytest.mark.parametrize(
    ("kind", "tuning"),
    [("gpt2", "full"), ("llama", "lora"), ("bart", "full"), ("t5", "full")],
)
def test_sentences_are_learnt_by_heart(language_model, kind, tuning):
    torch.manual_seed(5)
    system = build(settings_of(language_model(kind), f"model.tuning={tuning}"), ("ADR", "Drug"))
    if tuning == "lora":
        # Random weights have nothing that small changes could make use of.
        system.network.requires_grad_(True)
    for module in system.network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    batch = system.collate(system.prepare(SENTENCES).inputs)
    optimiser = torch.optim.AdamW(
        [p for p in system.network.parameters() if p.requires_grad], lr=1e-2
    )
    for _ in range(400):
        optimiser.zero_grad()
        loss = system.loss({}, **batch).total
        loss.backward()
        torch.nn.utils.clip_grad_norm_(system.network.parameters(), 1.0)
        optimiser.step()
        if loss < 0.01:
            break
    predictor = system.predictor("cpu")
    inputs = predictor.prepare(SENTENCES).inputs
    found = [{s.mention for s in p.mentions} for p in predictor.predict(inputs)]
    assert found == [set(s.mentions) for s in SENTENCES]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        *[(kind, ()) for kind in KINDS],
        ("llama", ("model.beam_size=3",)),
        ("gpt2", ("model.tuning=prompt", "model.prompt_size=3")),
        ("t5", ("model.tuning=prompt", "model.prompt_size=3")),
    ],
)
def test_results_do_not_depend_on_batch_mates(generative, kind, options):
    predictor = generative(kind, *options).predictor("cpu")
    inputs = predictor.prepare(SENTENCES).inputs
    together = predictor.predict(inputs)
    alone = [predictor.predict([own])[0] for own in inputs]
    assert any(p.mentions for p in together)
    for one, other in zip(together, alone, strict=True):
        assert [s.mention for s in one.mentions] == [s.mention for s in other.mentions]
        scores = [[s.score for s in p.mentions] for p in (one, other)]
        np.testing.assert_allclose(*scores, rtol=1e-3)
        assert one.bounded == other.bounded


@pytest.mark.parametrize("kind", ["llama", "t5"])
@pytest.mark.parametrize("beam_size", [1, 3])
def test_a_score_is_the_product_of_its_subwords_probabilities(generative, kind, beam_size):
    """Those of a second pass over the whole text, with neither a search nor a cache."""
    system = generative(kind, f"model.beam_size={beam_size}")
    predictor = system.predictor("cpu")
    (example,) = predictor.prepare(SENTENCES[:1]).inputs
    (written,) = predictor.outputs([example])
    assert written.mentions
    (prediction,) = predictor.predict([example])
    writing = system.texts.writing(example)
    system.network.eval()
    with torch.no_grad():
        (scores,) = system.network.scores([writing.spelling.prompt], [written.ids])
    expected = {}
    for mention, (start, stop) in written.mentions:
        score = 1.0
        for place in range(start, stop):
            allowed = list(writing.allowed(written.ids[:place]))
            weights = scores[place][allowed].softmax(0)
            score *= float(weights[allowed.index(written.ids[place])])
        expected[mention] = score
    assert {s.mention: s.score for s in prediction.mentions} == pytest.approx(expected, rel=1e-4)


def test_the_loss_is_of_texts_alone(generative):
    system = generative("gpt2")
    system.network.eval()
    examples = system.prepare(SENTENCES[:2]).inputs
    batch = system.collate(examples)
    together = float(system.loss({}, **batch).total.detach())
    losses = []
    for prompt, text in zip(batch["prompts"], batch["texts"], strict=True):
        ids = torch.tensor([[*prompt, *text]])
        scores = system.network.language_model(ids).logits[0, len(prompt) - 1 : -1]
        losses += torch.nn.functional.cross_entropy(
            scores, torch.tensor(text), reduction="none"
        ).tolist()
    assert together == pytest.approx(np.mean(losses), rel=1e-4)
    assert text_loss(torch.zeros(1, 3, 8), [(1, 2)]) == pytest.approx(np.log(8))


@pytest.mark.parametrize("tuning", ["lora", "prompt", "full"])
def test_what_is_tuned(language_model, tuning):
    system = build(settings_of(language_model("llama"), f"model.tuning={tuning}"), ("ADR",))
    learnt = {n for n, p in system.network.named_parameters() if p.requires_grad}
    everything = {n for n, _ in system.network.named_parameters()}
    if tuning == "full":
        assert learnt == everything
    elif tuning == "lora":
        assert learnt == {n for n in everything if ".lora_" in n}
    else:
        assert learnt == {"before.embedding.weight"}
    groups = system.parameter_groups(settings_of(language_model("llama")).optimisation)
    grouped = [id(p) for group in groups for p in group["params"]]
    assert sorted(grouped) == sorted(id(p) for p in system.network.parameters() if p.requires_grad)
    system.loss({}, **system.collate(system.prepare(SENTENCES[:2]).inputs)).total.backward()
    assert any(p.grad is not None and p.grad.any() for group in groups for p in group["params"])


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("gpt2", ()),
        ("t5", ("model.tuning=full",)),
        ("llama", ("model.tuning=prompt", "model.prompt_size=3")),
    ],
)
def test_a_saved_model_predicts_the_same(generative, kind, options, tmp_path):
    system = generative(kind, *options)
    description = saved(system, tmp_path)
    again = load(tmp_path, description, device="cpu")
    inputs = again.prepare(SENTENCES).inputs
    assert again.predict(inputs) == system.predictor("cpu").predict(inputs)
    names = list(system.network.state_dict())
    assert any(name.endswith("lm_head.weight") for name in names) == (kind == "llama")


def test_a_text_that_does_not_end_is_cut_off_and_reported(generative):
    """A mention takes more subwords than there is room for."""
    system = generative("gpt2", "model.length_base=3", "model.length_ratio=0")
    predictor = system.predictor("cpu")
    inputs = predictor.prepare(SENTENCES).inputs
    written = predictor.outputs(inputs)
    cut = [not own.complete for own in written]
    assert any(cut)
    assert [p.bounded for p in predictor.predict(inputs)] == cut
    assert all(len(own.ids) == 3 for own in written if not own.complete)


def test_a_long_sentence_goes_through_windows(generative):
    system = generative("gpt2")
    long = sentence(0, " ".join(["my left leg hurt"] * 100))
    prepared = system.prepare([long])
    assert prepared.windowed == 1
    start = time.monotonic()
    predictions = system.predictor("cpu").predict(prepared.inputs[:4])
    assert time.monotonic() - start < 60
    assert len(predictions) == 4


def test_mentions_without_room_are_counted(generative):
    system = generative("gpt2", "model.length_base=8", "model.length_ratio=0")
    assert system.inexpressible(SENTENCES) > 0
    assert system.inexpressible(SENTENCES[-1:]) == 0


def test_positions_too_few(tmp_path, refused):
    model = tiny_language_model(tmp_path / "short", "gpt2", positions=24)
    with refused():
        build(settings_of(model), ("ADR",))


def test_an_encoder_is_refused(tmp_path, refused):
    encoder = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    with refused():
        build(settings_of(encoder), ("ADR",))


def test_a_context_that_soft_prompts_fill(tmp_path, refused):
    model = tiny_language_model(tmp_path / "short", "gpt2", positions=100)
    settings = settings_of(model, "model.tuning=prompt", "model.prompt_size=120")
    with refused():
        build(settings, ("ADR",))


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_a_language_model_without_a_tokenizer(tmp_path, kind, refused):
    model = tiny_language_model(tmp_path / "bare", kind)
    for file in model.glob("*token*"):
        file.unlink()
    with refused():
        build(settings_of(model), ("ADR",))


def test_a_tokenizer_that_ends_no_text(tmp_path, refused):
    model = tiny_language_model(tmp_path / "endless", "llama", end=None)
    with refused():
        build(settings_of(model), ("ADR",))


def test_without_peft(language_model, monkeypatch, refused):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with refused(error=TrignerError):
        build(settings_of(language_model("gpt2")), ("ADR",))


def test_export_says_why_not(refused):
    with refused():
        system_spec("generative").require("export")


def test_damaged_weights_are_told(language_model, refused):
    system = build(settings_of(language_model("gpt2")), ("ADR",))
    with torch.no_grad():
        next(system.network.parameters()).fill_(torch.nan)
    predictor = system.predictor("cpu")
    with refused():
        predictor.predict(predictor.prepare(SENTENCES[:1]).inputs)
