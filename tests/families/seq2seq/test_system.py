"""Training, prediction and the model folder of the system as a whole."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch

from tiny_seq2seq import KINDS, settings_of, tiny_system
from trigner.batches.subwords import SubwordTokenizer
from trigner.families.seq2seq.loading import load
from trigner.families.seq2seq.system import build
from trigner.mentions import Mention, Sentence
from trigner.models.folder import Description, save_model
from trigner.systems.registry import system_spec
from trigner.training.settings import resolve

TEXTS = (
    "my left leg and right arm hurt",
    "numb left arm and leg",
    "no pain then my arm hurt",
    "after the second tablet my leg felt numb",
    "left and right leg felt numb",
    "the second tablet",
    "my leg hurt and my arm felt numb after the tablet",
    "no pain",
)
MENTIONS = (
    [((1, 2, 6), "ADR"), ((4, 5, 6), "ADR")],
    [((0, 1, 2), "ADR"), ((0, 1, 4), "ADR")],
    [((4, 5), "ADR")],
    [((1, 2), "Drug"), ((4, 5, 6), "ADR")],
    [((0, 3, 4, 5), "ADR"), ((2, 3, 4, 5), "ADR")],
    [((0, 1, 2), "Drug")],
    [((1, 2), "ADR"), ((5, 7), "ADR"), ((10,), "Drug"), ((10,), "ADR")],
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
        system="seq2seq",
        labels=system.labels,
        model=system.settings.model_dump(mode="json"),
        state=dict(state.state),
        files={},
    )
    return save_model(folder, description, state.files)


def found(predictor, sentences):
    """Mentions of each sentence, from all of its windows."""
    inputs = predictor.prepare(sentences).inputs
    mentions = [set() for _ in sentences]
    for own, prediction in zip(inputs, predictor.predict(inputs), strict=True):
        mentions[own.sentence] |= {s.mention for s in prediction.mentions}
    return mentions


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("bert", ()),
        ("bert", ("model.pointers=span",)),
        ("bert", ("model.pointers=bpe", "model.recurrent=false")),
        ("bart", ()),
        ("t5", ("model.pointers=span",)),
    ],
)
def test_eight_sentences_are_learnt_by_heart(encoder, kind, options):
    calm = ("model.output_dropout=0", "model.embedding_dropout=0", "model.decoder_dropout=0")
    size = ("model.lstm_size=32",) if kind == "bert" else ()
    torch.manual_seed(5)
    system = build(settings_of(encoder(kind), *calm, *size, *options), ("ADR", "Drug"))
    for module in system.network.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    batch = system.collate(system.prepare(SENTENCES).inputs)
    optimiser = torch.optim.AdamW(system.network.parameters(), lr=4e-3)
    system.network.train()
    for _ in range(400):
        optimiser.zero_grad()
        loss = system.loss({}, **batch).total
        loss.backward()
        torch.nn.utils.clip_grad_norm_(system.network.parameters(), 1.0)
        optimiser.step()
        if loss < 0.003:
            break
    assert found(system.predictor("cpu"), SENTENCES) == [set(s.mentions) for s in SENTENCES]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beam_size", [1, 3])
def test_results_do_not_depend_on_batch_mates(tiny_seq2seq, kind, beam_size):
    system = tiny_seq2seq(kind, f"model.beam_size={beam_size}")
    predictor = system.predictor("cpu")
    inputs = predictor.prepare(SENTENCES).inputs
    together = predictor.predict(inputs)
    reversed_ = predictor.predict(inputs[::-1])[::-1]
    alone = [predictor.predict([own])[0] for own in inputs]
    assert any(p.mentions for p in together)
    for prediction in zip(together, reversed_, alone, strict=True):
        first, *others = prediction
        for other in others:
            assert [s.mention for s in first.mentions] == [s.mention for s in other.mentions]
            scores = [[s.score for s in p.mentions] for p in (first, other)]
            np.testing.assert_allclose(*scores, rtol=1e-3)
            assert first.bounded == other.bounded


def test_a_score_is_the_product_of_its_tokens_probabilities(tiny_seq2seq):
    system = tiny_seq2seq("bert")
    predictor = system.predictor("cpu")
    inputs = predictor.prepare(SENTENCES).inputs
    for example, written, prediction in zip(
        inputs, predictor.outputs(inputs), predictor.predict(inputs), strict=True
    ):
        tokens = written.output.tokens
        weights = np.exp(written.scores)
        steps = weights[np.arange(len(tokens)), list(tokens)] / weights.sum(axis=1)
        automaton = system.format.automaton(system.format.point([1] * example.length))
        assert np.isfinite(written.scores).tolist() == [
            mask.tolist() for mask in automaton.along(tokens)
        ]
        expected = {m: steps[a:b].prod() for m, (a, b) in written.decoded.mentions}
        assert {s.mention: s.score for s in prediction.mentions} == pytest.approx(expected)
        scores = [s.score for s in prediction.mentions]
        assert scores == sorted(scores, reverse=True)
        assert all(0 < score <= 1 for score in scores)


def test_a_temperature_changes_scores_and_no_mention(tiny_seq2seq):
    predictor = tiny_seq2seq("bert").predictor("cpu")
    inputs = predictor.prepare(SENTENCES).inputs
    plain = predictor.predict(inputs)
    by_temperature = predictor.at_temperatures(inputs, [1.0, 4.0])
    assert by_temperature[1.0] == plain
    assert by_temperature[4.0] == predictor.with_temperature(4.0).predict(inputs)
    changed = 0
    for a, b in zip(plain, by_temperature[4.0], strict=True):
        assert {s.mention for s in a.mentions} == {s.mention for s in b.mentions}
        changed += a.mentions != b.mentions
    assert changed


@pytest.mark.parametrize("kind", [*KINDS, "mbart", "led", "pegasus", "t5-untied"])
def test_a_saved_model_predicts_the_same(tiny_seq2seq, kind, tmp_path):
    system = tiny_seq2seq(kind)
    description = saved(system, tmp_path / "model")
    loaded = load(tmp_path / "model", description, device="cpu")
    own = system.predictor("cpu")
    inputs = own.prepare(SENTENCES).inputs
    assert loaded.predict(loaded.prepare(SENTENCES).inputs) == own.predict(inputs)
    calmer = load(
        tmp_path / "model", description.model_copy(update={"temperature": 2.0}), device="cpu"
    )
    assert calmer.predict(inputs) == own.with_temperature(2.0).predict(inputs)


def test_training_goes_on_from_a_model_of_the_same_settings(
    tiny_seq2seq, encoder, tmp_path, refused
):
    system = tiny_seq2seq("bert")
    saved(system, tmp_path / "model")
    settings = settings_of(encoder("bert"))
    again = build(settings, ("ADR",), tmp_path / "model")
    assert again.labels == ("ADR", "Drug")
    for name, own in system.network.state_dict().items():
        assert again.network.state_dict()[name].equal(own)
    with refused():
        build(settings, ("Dose",), tmp_path / "model")
    with refused():
        build(settings_of(encoder("bert"), "model.pointers=span"), ("ADR",), tmp_path / "model")


def test_a_damaged_folder_is_refused(tiny_seq2seq, tmp_path, refused):
    description = saved(tiny_seq2seq("bert"), tmp_path / "model")
    wrong = description.model_copy(update={"model": {"pointers": "letters"}})
    with refused():
        load(tmp_path / "model", wrong, device="cpu")


def test_shuffled_outputs_are_drawn_anew_and_repeatable(tiny_seq2seq):
    system = tiny_seq2seq("bert", "model.order=shuffled")
    inputs = system.prepare(SENTENCES).inputs
    torch.manual_seed(0)
    drawn = [system.collate(inputs)["tokens"] for _ in range(8)]
    torch.manual_seed(0)
    assert system.collate(inputs)["tokens"].equal(drawn[0])
    assert any(not other.equal(drawn[0]) for other in drawn)
    for tokens in drawn:
        assert tokens.sort().values.equal(drawn[0].sort().values)
    assert found(system.predictor("cpu"), SENTENCES)
    ordered = tiny_seq2seq("bert")
    assert ordered.collate(inputs)["tokens"].equal(ordered.collate(inputs)["tokens"])


def test_mentions_without_room_are_counted(encoder):
    system = tiny_system(encoder("bert"), "bert", "model.length_base=3", "model.length_ratio=0")
    # Two tokens of a mention besides its end: `left leg` and the like have three.
    lost = [m for s in SENTENCES for m in s.mentions if len(m.words) > 1]
    first = [s for s in SENTENCES if sum(len(m.words) == 1 for m in s.mentions) > 1]
    assert system.inexpressible(SENTENCES) == len(lost) + len(first)
    assert tiny_system(encoder("bert")).inexpressible(SENTENCES) == 0


def test_a_mention_that_several_windows_lose_is_counted_once(encoder):
    system = tiny_system(encoder("bert"), "bert", "model.length_base=1", "model.length_ratio=0")
    words = ("my", "left", "leg", "hurts", "and") * 20
    mentions = [((n, n + 1), "ADR") for n in range(1, 100, 5)]
    long = sentence(0, " ".join(words), mentions)
    assert len(system.prepare([long]).inputs) > 2
    assert system.inexpressible([long]) == len(mentions)


def test_sentences_beyond_the_decoders_positions_go_through_windows(encoder):
    """BART with 40 positions: 10 + 3 tokens for each subword at most, so 10 subwords at a time."""
    system = tiny_system(encoder("bart"), "bart")
    assert system.inputs.max_subwords == 10
    long = sentence(0, " ".join(["leg"] * 60))
    prepared = system.prepare([long])
    assert prepared.windowed == 1
    assert len(prepared.inputs) > 5
    predictor = system.predictor("cpu")
    for own, written in zip(prepared.inputs, predictor.outputs(prepared.inputs), strict=True):
        assert len(written.output.tokens) <= 40
        assert own.length <= 10
    assert tiny_system(encoder("t5")).inputs.max_subwords == 512


@pytest.mark.parametrize(
    "settings", [("41",), ("40",), ("41", "model.length_ratio=0")], ids=" ".join
)
def test_positions_that_are_too_few_are_refused(encoder, settings, refused):
    base, *more = settings
    with refused():
        tiny_system(encoder("bart"), "bart", f"model.length_base={base}", *more)


def test_400_words_take_bounded_time_and_memory(encoder, monkeypatch):
    system = tiny_system(encoder("t5"), "t5", "model.beam_size=2", "model.length_ratio=1.0")
    long = sentence(0, " ".join(["leg"] * 400))
    predictor = system.predictor("cpu")
    prepared = predictor.prepare([long])
    tracemalloc.start()
    start = time.process_time()
    predictions = predictor.predict(prepared.inputs)
    seconds = time.process_time() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(predictions) == len(prepared.inputs)
    assert seconds < 60
    assert peak < 200e6  # what is not PyTorch's: masks and hypotheses


def test_words_without_subwords_can_be_part_of_mentions(tiny_seq2seq):
    system = tiny_seq2seq("bert")
    assert isinstance(system.inputs.tokenizer, SubwordTokenizer)
    odd = replace(SENTENCES[0], words=("my", "\u200b", *SENTENCES[0].words[2:]))
    (example,) = system.prepare([odd]).inputs
    assert (example.subwords.word_subwords[1] < 0).all()
    batch = system.collate([example])
    assert batch["targets"][0, 1] == -1
    assert torch.isfinite(system.loss({}, **batch).total)


def test_the_row_says_what_is_read(refused):
    with refused():
        resolve(options={"system": "seq2seq"}, assignments=["model.empty_word=batch_minimum"])
    with refused():
        resolve(options={"system": "seq2seq"}, assignments=["optimisation.bias_init=true"])


def test_the_command_says_why_it_is_not_exported(refused):
    with refused():
        system_spec("seq2seq").require("export")
