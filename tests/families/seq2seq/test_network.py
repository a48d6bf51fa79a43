"""What the network reads, how it scores, and what its vectors start as."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForSeq2SeqLM

from tiny_seq2seq import KINDS, SMALL, settings_of, tiny_system
from trigner.encoders.pretrained import load_encoder
from trigner.families.core.word_network import evaluating
from trigner.families.seq2seq.building import build_network, initialise_types
from trigner.mentions import Mention, Sentence
from trigner.training.settings import resolve

WORDS = ("my", "left", "leg", "and", "right", "arm", "hurt")
GOLD = Sentence(
    "d",
    0,
    WORDS,
    tuple((i, i + 1) for i in range(len(WORDS))),
    (Mention((1, 2, 6), "ADR"), Mention((4, 5, 6), "ADR"), Mention((0,), "Drug")),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("representation", ["word", "span", "bpe"])
def test_gradients_reach_all_that_the_scores_need(tiny_seq2seq, kind, representation):
    system = tiny_seq2seq(kind, f"model.pointers={representation}")
    system.network.zero_grad()
    batch = system.collate(system.prepare([GOLD]).inputs)
    losses = system.loss({}, **batch)
    losses.total.backward()
    without = {n for n, p in system.network.named_parameters() if p.grad is None}
    # What belongs to no layer that is read: a sentence pooler, layers above the last that is read.
    assert not {n for n in without if "pooler" not in n}
    special = system.network.special.grad
    assert all(special[row].abs().sum() > 0 for row in range(len(special)))
    system.network.zero_grad()


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_mean_over_tokens_of_all_sentences(tiny_seq2seq, kind):
    system = tiny_seq2seq(kind)
    short = Sentence("d", 1, ("no", "pain"), ((0, 2), (3, 7)), (Mention((1,), "ADR"),))
    both = system.prepare([GOLD, short]).inputs
    with evaluating(system.network):
        alone = [float(system.loss({}, **system.collate([e])).total) for e in both]
        together = system.loss({}, **system.collate(both))
        doubled = system.loss({"tokens": 2.0}, **system.collate(both))
    sizes = [system.sizes(e)["tokens"] for e in both]
    expected = sum(a * n for a, n in zip(alone, sizes, strict=True)) / sum(sizes)
    assert float(together.total) == pytest.approx(expected, rel=1e-4)
    assert float(doubled.total) == pytest.approx(2 * expected, rel=1e-4)
    assert set(together.parts) == {"loss_tokens"}


def test_the_loss_is_over_well_formed_tokens_or_over_all(tiny_seq2seq):
    masked, whole = tiny_seq2seq("bert"), tiny_seq2seq("bert", "model.masked_loss=false")
    (example,) = masked.prepare([GOLD]).inputs
    first, second = masked.collate([example]), whole.collate([example])
    assert first["tokens"].equal(second["tokens"])
    assert first["allowed"].sum() < second["allowed"].sum()
    tokens = masked.format.automaton(masked.format.point([1] * 7)).tokens
    assert second["allowed"].sum() == (tokens - 1) * first["tokens"].shape[1]
    with evaluating(masked.network):
        assert masked.loss({}, **first).total < whole.loss({}, **second).total


def test_a_step_sees_nothing_of_what_follows(tiny_seq2seq):
    for kind in KINDS:
        system = tiny_seq2seq(kind)
        batch = system.collate(system.prepare([GOLD]).inputs)
        with evaluating(system.network):
            source = system.network.read(
                batch["input_ids"], batch["attention_mask"], batch["targets"]
            )
            before = batch["before"]
            whole = system.network.scores(source, before)
            for n in (1, 4):
                part = system.network.scores(source, before[:, :n])
                torch.testing.assert_close(whole[:, :n], part, atol=1e-4, rtol=1e-4)


def test_a_word_without_subwords_is_pointed_at_as_zeros(tiny_seq2seq):
    network = tiny_seq2seq("bert").network
    ids, mask = torch.tensor([[2, 8, 9, 3]]), torch.ones(1, 4, dtype=torch.long)
    with evaluating(network):
        source = network.read(ids, mask, torch.tensor([[1, -1, 2]]))
        empty = network.state_share * network.states(torch.zeros(16)) + (
            1 - network.state_share
        ) * network.project(torch.zeros(16))
    torch.testing.assert_close(source.outputs[0, -2], empty)
    assert not source.outputs[0, -1].equal(empty)


@pytest.mark.parametrize("kind", KINDS)
def test_types_start_at_the_mean_of_their_names_subwords(encoder, kind):
    model, tokenizer, _ = load_encoder(str(encoder(kind)), (), encoder_decoder=True)
    network = build_network(model, 2, settings_of(encoder(kind)).model)
    table = network.encoder.model.get_input_embeddings().weight
    before = table.detach().clone()
    initialise_types(network, tokenizer, ("LeftLeg", "hurt_no-pain"))
    assert table.equal(before), "no row of the table is changed"
    for row, words in ((2, ["left", "leg"]), (3, ["hurt", "no", "pain"])):
        ids = tokenizer.encode(words, is_pretokenized=True, add_special_tokens=False).ids
        torch.testing.assert_close(network.special[row], network.project(table[ids].mean(dim=0)))


@pytest.mark.parametrize("kind", ["bart", "t5"])
def test_an_encoder_decoder_is_used_whole_and_its_table_kept_once(tiny_seq2seq, kind):
    network = tiny_seq2seq(kind).network
    names = list(network.state_dict())
    assert sum("shared" in name for name in names) == 1
    assert not any("embed_tokens" in name for name in names)
    assert network.decoder.size == 16
    assert not list(network.decoder.parameters())


@pytest.mark.parametrize(
    "kind",
    ["bart", "mbart", "pegasus", "marian", "blenderbot-small", "mvp", "led"]
    + ["t5", "t5-untied", "mt5"],
)
def test_scores_are_the_librarys_own_where_nothing_is_added(encoder, kind):
    """With the embeddings alone as vectors, pointer scores are the language model's."""
    folder = encoder(kind)
    system = tiny_system(folder, kind, "model.state_share=0.0")
    batch = system.collate(system.prepare([GOLD]).inputs)
    tokens = batch["before"]
    whole = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    # T5's with an output of their own score with the table here, as the system does.
    table = whole.get_input_embeddings().weight
    whole.get_output_embeddings().weight = table
    with evaluating(system.network):
        source = system.network.read(batch["input_ids"], batch["attention_mask"], batch["targets"])
        found = system.network.scores(source, tokens)
        # What is learnt of start and types takes the place of rows of the table.
        ids = torch.tensor([0, 1, 2, 3])
        table[ids] = system.network.special
        vocabulary = torch.cat([ids, batch["input_ids"][0, batch["targets"][0]]])
        expected = whole(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            decoder_input_ids=vocabulary[tokens[0]][None],
        ).logits[:, :, vocabulary]
    assert not set(batch["input_ids"][0].tolist()) & set(ids.tolist())
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_sizes_that_do_not_go_together_are_refused(encoder, refused):
    settings = resolve(
        preset="clean",
        options={"system": "seq2seq", "encoder": str(encoder("bert"))},
        assignments=[*SMALL, "model.recurrent=false", "model.decoder_heads=5"],
    )
    model, _, _ = load_encoder(settings.encoder, ())
    with refused():
        build_network(model, 1, settings.model)
    with refused():
        settings_of(encoder("bert"), "model.decoder_heads=5")


def test_what_an_encoder_decoder_cannot_do_is_told_before_training(encoder, refused):
    with refused():
        tiny_system(encoder("fsmt"))
    with refused():
        tiny_system(encoder("marian-apart"))


def test_each_half_of_led_has_its_positions(encoder):
    system = tiny_system(encoder("led"))
    assert system.network.encoder.max_subwords == 80
    assert system.network.decoder.positions == 40
    assert system.inputs.max_subwords == (40 - 10) / 3


def test_a_decoder_that_names_no_start_begins_with_that_of_sentences(encoder):
    model, tokenizer, _ = load_encoder(str(encoder("mbart")), (), encoder_decoder=True)
    network = build_network(model, 1, settings_of(encoder("mbart")).model)
    initialise_types(network, tokenizer, ("ADR",))
    table = model.get_input_embeddings().weight
    torch.testing.assert_close(network.special[:2], table[[0, 2]])
