from __future__ import annotations

import gc
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiny_encoders import tiny_encoder
from trigner.mentions import Document, Entity
from trigner.systems.registry import system_spec
from trigner.systems.sections import OptimisationSettings
from trigner.training.coordination import POOL
from trigner.training.data import EpochBatches, prepare
from trigner.training.sampling import drawn
from trigner.training.settings import resolve


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=80),
    st.integers(1, 7),
    st.integers(100, 5000),
    st.integers(1, 4),
)
def test_every_epoch_has_every_sentence_once_and_as_many_batches(lengths, size, cells, epochs):
    settings = OptimisationSettings(batch_size=size, cell_budget=cells, epochs=epochs)
    batches = EpochBatches(lengths, settings, seed=3, epochs=epochs)
    for epoch in range(epochs):
        batches.epoch = epoch
        drawn = list(batches)
        assert sorted(i for batch in drawn for i in batch) == list(range(len(lengths)))
        assert max(map(len, drawn)) <= size
        assert all(
            len(batch) == 1 or len(batch) * max(lengths[i] for i in batch) ** 2 <= cells
            for batch in drawn
        )
        assert len(drawn) == len(batches)
    batches.epoch = epochs  # behind the last
    assert list(batches) == drawn


@given(
    st.lists(st.sampled_from([0.0, 0.3, 1.0, 2.0]), min_size=6, max_size=6),
    st.integers(1, 2),
    st.integers(1, 9),
)
def test_epochs_with_fewer_sentences_than_others_have_batches(rates, size, epochs):
    settings = OptimisationSettings(batch_size=size)
    rates = [1.0, *rates]
    lengths = list(range(3, 10))
    batches = EpochBatches(lengths, settings, seed=1, epochs=epochs, rates=rates)
    seen = []
    for epoch in range(epochs):
        batches.epoch = epoch
        found = list(batches)
        assert len(found) == len(batches)
        members = [i for batch in found for i in batch]
        wanted = drawn(rates, 1 + epoch)
        assert {*members} == {*wanted}
        assert len(members) == max(len(wanted), len(batches))
        seen += found
    mean = sum(lengths[i] for batch in seen for i in batch) / len(seen)
    assert batches.mean_sum(lengths) == pytest.approx(mean)


def test_epochs_differ_and_seeds_decide():
    settings = OptimisationSettings(batch_size=2)

    def first_two(seed):
        batches = EpochBatches([5] * 40, settings, seed=seed, epochs=2)
        first = list(batches)
        batches.epoch = 1
        return first, list(batches)

    first, second = first_two(1)
    assert first != second
    assert first_two(1) == (first, second)
    assert first_two(2) != (first, second)


def test_without_a_budget_batches_are_full_and_the_rest_is_dropped(refused):
    settings = OptimisationSettings(batch_size=4, cell_budget=None)
    batches = EpochBatches([3] * 10, settings, seed=0, epochs=1)
    assert [len(b) for b in batches] == [4, 4]
    with refused():
        EpochBatches([3] * 3, settings, seed=0, epochs=1)


def notes(count):
    """Documents of 100 sentences of some 20 words, each sentence with two mentions."""
    line = "No {} pain in arm or leg and numb after the second tablet so that my hand hurt. "
    for number in range(count):
        text = "".join(line.format(f"{number}-{n}") for n in range(100))
        entities = []
        at = text.find("pain in arm")
        while at >= 0:
            entities.append(Entity.in_text(text, "ADR", [(at, at + 11)]))
            entities.append(Entity.in_text(text, "ADR", [(at, at + 7), (at + 15, at + 18)]))
            at = text.find("pain in arm", at + 1)
        yield Document(str(number), text, tuple(entities))


def built(settings):
    return system_spec(settings.system).implementation("build")(settings, ("ADR",), None)


def words(id, text, *found):
    entities = (
        Entity.in_text(text, "ADR", [(text.find(f), text.find(f) + len(f)) for f in own])
        for own in found
    )
    return Document(id, text, tuple(entities))


UNSPLIT = "no mention of the training documents is discontinuous"
UNSHARED = "no continuous mention shares words with another that is like it and of its type"
LISTED = [
    words("a", "my leg hurt and felt numb", ["leg", "numb"]),
    words("b", "then arm pain", ["arm pain"]),
    words("c", "no leg pain", ["leg pain"]),
]


@pytest.mark.parametrize(
    ("documents", "generated"), [(LISTED, True), (LISTED[:1], UNSHARED), (LISTED[1:2], UNSPLIT)]
)
def test_why_no_sentences_are_made_is_told(documents, generated, tmp_path):
    settings = resolve(
        assignments=["model.lstm_size=8", "sampling.coordination=2"],
        options={"encoder": str(tiny_encoder(tmp_path, "bert", head=False))},
    )
    data = prepare(documents, built(settings), settings)
    notices = list(data.notices(settings, ["ADR", "Drug"]))
    assert notices[0].startswith("no training sentence has a mention of Drug: ")
    assert bool(data.coordinated) == (generated is True)
    told = [own for own in notices if "generated by coordination" in own]
    assert bool(told) != (generated is True)
    assert generated is True or told[0].endswith(f"coordination: {generated}")


@pytest.mark.parametrize("chunk", [1, 2, 1000])
def test_what_is_prepared_is_counted_however_much_at_a_time(chunk, tmp_path, monkeypatch):
    monkeypatch.setattr("trigner.training.data.CHUNK", chunk)
    settings = resolve(
        assignments=[
            "model.lstm_size=8",
            "model.context_words=2",
            "sampling.coordination=1",
        ],
        options={"encoder": str(tiny_encoder(tmp_path, "bert", head=False))},
    )
    two = words("d", "no leg pain .\n\nmy arm hurts .", ["leg pain"], ["leg", "arm"])
    long = [words(id, f"pain {'a ' * 60}arm", ["pain", "arm"]) for id in "ef"]
    cut = Document("g", "arms hurt", (Entity.in_text("arms hurt", "ADR", [(0, 3)]),))
    data = prepare([two, *long, cut, *LISTED], built(settings), settings)
    assert (data.sentences, data.mentions, data.neighboured) == (8, 6, 2)
    assert data.types == {"ADR"}
    assert data.unusable == {
        "crosses a sentence boundary": 1,
        "longer than the encoder's window": 2,
        "not aligned to words": 1,
    }
    assert data.coordinated > 4
    assert data.made == round(data.coordinated / POOL)
    # An epoch has a part of the pool.
    own = len(data) - data.coordinated
    assert data.rates == (1.0,) * own + (1 / POOL,) * data.coordinated


def test_seeds_decide_what_is_generated(tmp_path):
    def generated(seed):
        settings = resolve(
            assignments=[
                "model.lstm_size=8",
                f"seed={seed}",
                "sampling.coordination=0.1",
            ],
            options={"encoder": str(tiny_encoder(tmp_path, "bert", head=False))},
        )
        sharing = [words(own, f"no {own} pain", [f"{own} pain"]) for own in "abcdefghij"]
        data = prepare([*notes(1), *sharing], built(settings), settings)
        made = data.examples[len(data) - data.coordinated :]
        return [example.subwords.ids.tolist() for example in made]

    first = generated(1)
    assert first
    assert first == generated(1)
    assert first != generated(2)


def test_where_nothing_can_be_learnt_is_told(tmp_path, monkeypatch, refused):
    monkeypatch.setattr("trigner.training.data.CHUNK", 1)
    crossing = words("a", "my left leg arm hurt")
    text = crossing.text
    both = (((3, 7), (12, 15)), ((8, 11), (16, 20)))
    crossing = replace(crossing, entities=[Entity.in_text(text, "ADR", own) for own in both])
    settings = resolve(
        assignments=["model.actions=paper", "model.inexpressible_sentences=drop"],
        options={
            "encoder": str(tiny_encoder(tmp_path, "bert", head=False)),
            "system": "transition",
        },
    )
    with refused():
        prepare([crossing, replace(crossing, id="b")], built(settings), settings)


def test_an_epoch_that_draws_nothing_is_told(refused):
    settings = resolve(assignments=["sampling.empty=0"]).optimisation
    with refused():
        EpochBatches([3, 4], settings, 1, 2, [0.0, 0.0])


@pytest.mark.parametrize("preset", ["clean", "best"])
@pytest.mark.slow
def test_what_stays_of_a_sentence_are_2_kilobytes(preset, tmp_path):
    encoder = tiny_encoder(tmp_path, "bert", head=False)
    settings = resolve(
        preset=preset,
        assignments=["model.lstm_size=8"],
        options={"encoder": str(encoder)},
    )
    system = built(settings)

    def most(documents):
        gc.collect()
        tracemalloc.start()
        try:
            data = prepare(notes(documents), system, settings)
            assert data.sentences == 100 * documents
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    most(1)
    assert most(60) - most(20) < 4000 * 2048
