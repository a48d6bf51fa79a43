from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from trigner.inference.torch_runtime import torch_scorer

from tiny_encoders import tiny_encoder
from trigner.batches import Batch, collate, windows
from trigner.corpora import document_of
from trigner.errors import InputError
from trigner.inference import chunks, extractor
from trigner.mentions import Document, Mention
from trigner.networks import NetworkSettings, create
from trigner.text import sentences

SMALL = NetworkSettings(
    lstm_size=8, distance_size=3, region_size=3, channels=4, pair_size=6, grid_size=5
)
TEXTS = [
    "my left leg hurt . no pain in the arm",
    "numb\r\nafter the second tablet \u200b pain",
    "",
    "   \n\n ",
    "pain",
    "the right arm and left leg felt numb , then my arm hurt",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tiny_encoder(tmp_path_factory.mktemp("encoder"), "bert", head=False)
    torch.manual_seed(1)
    made = create(str(folder), "w2ner", ("ADR", "Drug"), SMALL)
    # No class ahead of the others on average: an untrained network tags some cells of each.
    probe = collate(made.subwords([TEXTS[0].split()]), padding_id=made.padding_id)
    mean = torch_scorer(made.tagger)(probe).mean(axis=(0, 1, 2))
    with torch.no_grad():
        made.tagger.co_predictor.pairs.output.bias -= torch.from_numpy(mean)
    return made


@pytest.fixture(scope="module")
def extract(model):
    return extractor(model, device="cpu")


def found(document):
    return [(e.label, e.fragments, round(e.score, 4)) for e in document.entities]


def test_offsets_index_the_callers_text(extract):
    assert any(len(e.fragments) > 1 for text in TEXTS for e in extract(text).entities)
    for text in TEXTS:
        document = extract(text)
        assert document.text == text
        for entity in document.entities:
            assert entity.text == " ".join(text[a:b] for a, b in entity.fragments)
            assert 0 <= entity.score <= 1


@given(st.permutations(range(len(TEXTS))), st.integers(1, 5))
@settings(max_examples=15)
def test_nothing_depends_on_batch_mates(extract, order, batch_size):
    alone = [found(extract(text)) for text in TEXTS]
    texts = [TEXTS[i] for i in order]
    together = list(extract.stream(texts, batch_size=batch_size))
    assert [d.text for d in together] == texts
    assert [found(d) for d in together] == [alone[i] for i in order]


def test_stream_is_lazy(extract):
    drawn = []

    def texts():
        for number in range(1000):
            drawn.append(number)
            yield "pain ."

    first = next(iter(extract.stream(texts())))
    assert first.text == "pain ."
    assert len(drawn) < 200


@given(
    st.permutations(range(len(TEXTS))),
    st.integers(1, 40),
    st.integers(1, 3),
    st.lists(st.sampled_from(TEXTS), max_size=3),
)
@settings(max_examples=15)
def test_nothing_depends_on_chunks_or_on_other_documents(extract, order, words, ending, others):
    alone = [found(extract(text)) for text in TEXTS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "WORDS", words)
        patch.setattr(chunks, "DOCUMENTS", ending)
        texts = [*others, *(TEXTS[i] for i in order), *others]
        together = list(extract.stream(texts))
    own = together[len(others) : len(others) + len(order)]
    assert [found(d) for d in own] == [alone[i] for i in order]
    assert [d.id for d in together] == [str(n) for n in range(len(texts))]


def pairs_of(ids):
    """Places of a 1 and the 2 that follows it next, no other 1 between."""
    for place, word in enumerate(ids):
        following = [n for n in range(place + 1, len(ids)) if ids[n] in (1, 2)]
        if word == 1 and following and ids[following[0]] == 2:
            yield place, following[0]


def pair_finder(extract):
    """An extractor that finds every `left ... arm`, and nothing else."""
    (subwords,) = extract.subwords([["left", "arm"]])
    specials = len(extract.subwords.special_words)
    numbers = {int(subwords.ids[subwords.word_subwords[specials + n, 0]]): n + 1 for n in range(2)}

    def scorer(batch: Batch):
        rows, length, _ = batch.word_subwords.shape
        scores = np.zeros((rows, length, length, 4), dtype=np.float32)
        scores[..., 0] = 5
        for row in range(rows):
            first_subwords = batch.word_subwords[row, : batch.lengths[row], 0]
            ids = [numbers.get(int(batch.input_ids[row, at]), 0) for at in first_subwords]
            for head, tail in pairs_of(ids):
                scores[row, head, tail, 1] = 9
                scores[row, tail, head, 2] = 9
        return scores

    return replace(extract, scorer=scorer, tally=type(extract.tally)())


@given(
    st.lists(st.sampled_from(["left", "arm", "my", "and", "pain"]), min_size=1, max_size=150),
    st.integers(9, 40),
    st.integers(1, 4),
)
@settings(max_examples=60, deadline=None)
def test_windows_neither_duplicate_nor_shift_nor_drop(extract, words, limit, batch_size):
    """What some window holds whole is found once and in its place, and nothing else is."""
    finder = replace(pair_finder(extract), max_subwords=limit, batch_size=batch_size)
    spans = windows([1] * len(words), limit - extract.subwords.overhead)
    ids = [{"left": 1, "arm": 2}.get(word, 0) for word in words]
    expected = [
        (head, tail)
        for head, tail in pairs_of(ids)
        if any(w.start <= head and tail < w.stop for w in spans)
    ]
    document = finder(words=words)
    starts = [start for start, _ in document.words]
    assert [
        (starts.index(e.fragments[0][0]), starts.index(max(a for a, _ in e.fragments)))
        if len(e.fragments) > 1
        else (starts.index(e.fragments[0][0]), starts.index(e.fragments[0][0]) + 1)
        for e in document.entities
    ] == expected
    overlap = (limit - extract.subwords.overhead) // 4
    assert {p for p in pairs_of(ids) if p[1] - p[0] < overlap} <= {*expected}
    assert finder.tally.windowed == (len(spans) > 1)


def test_mentions_that_no_window_holds_are_counted(extract):
    words = ["my", "arm"] * 50
    spans = [(0, 1), (20, 80), (3, 99)]
    gold = document_of("d", words, [Mention(span, "ADR") for span in spans])
    assert extract.beyond_windows([gold, Document("e", "my arm .")]) == 2
    assert replace(extract, max_subwords=500).beyond_windows([gold]) == 0


def test_memory_grows_by_the_text_alone(extract):
    def scorer(batch: Batch):
        length = batch.word_subwords.shape[1]
        return np.zeros((len(batch.lengths), length, length, 4), dtype=np.float32)

    quiet = replace(extract, scorer=scorer, batch_size=512)

    def peak(sentences):
        text = "Pain in my left arm. " * sentences
        tracemalloc.start()
        try:
            quiet(text)
            return len(text), tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    peak(10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "WORDS", 2000)
        patch.setattr(sentences, "STRETCH", 10_000)
        (short, less), (long, more) = peak(1000), peak(5000)
    assert more - less < 3 * (long - short)


def test_ready_words(extract):
    words = ["my", "arm", "New York", ","]
    document = extract(words=words)
    assert document.text == "my arm New York ,"
    assert [document.text[a:b] for a, b in document.words] == words
    empty = extract(words=["", "arm", ""])
    assert empty.words == ((0, 0), (1, 4), (5, 5))
    assert all(e.text.strip() == "arm" for e in empty.entities)
    with pytest.raises(InputError, match="one of the two"):
        extract("a", words=["a"])
    with pytest.raises(InputError, match="one of the two"):
        extract()


def test_of_words_of_nothing(extract):
    assert extract(words=[]).entities == ()


def test_a_line_of_3000_words_is_read_through_windows(extract):
    fresh = replace(extract, tally=type(extract.tally)())
    words = ["pain", "arm", "numb", "tablet"] * 750
    document = fresh(words=words)
    assert fresh.tally.windowed == 1
    assert "overlapping windows" in fresh.tally.notices()[0]
    last = max(e.fragments[-1][1] for e in document.entities)
    assert last > len(document.text) * 0.9


def test_threshold_drops_and_keeps(extract):
    everything = extract(TEXTS[0]).entities
    scores = sorted(e.score for e in everything)
    middle = scores[len(scores) // 2]
    kept = replace(extract, threshold=middle)(TEXTS[0]).entities
    assert kept == tuple(e for e in everything if e.score >= middle)
    assert 0 < len(kept) < len(everything) or scores[0] == middle


def test_predictions_on_special_words_are_left_out_and_counted(extract):
    def scorer(batch: Batch):
        length = batch.word_subwords.shape[1]
        scores = np.zeros((len(batch.lengths), length, length, 4), dtype=np.float32)
        scores[..., 0] = 1
        scores[:, 0, 0, 2] = 5  # [POS] as an entity
        scores[:, 2, 2, 3] = 5  # the first word
        return scores

    rigged = replace(extract, scorer=scorer, tally=type(extract.tally)())
    assert [(e.label, e.text) for e in rigged("pain now").entities] == [("Drug", "pain")]
    assert rigged.tally.on_special_words == 1
    assert rigged.tally.notices() == ["1 predictions on [POS] or [NEG] left out"]


def test_hitting_the_bound_is_told(extract):
    def scorer(batch: Batch):
        length = batch.word_subwords.shape[1]
        scores = np.zeros((len(batch.lengths), length, length, 4), dtype=np.float32)
        scores[:, np.tril_indices(length)[0], np.tril_indices(length)[1], 2] = 3
        scores[:, np.triu_indices(length, 1)[0], np.triu_indices(length, 1)[1], 1] = 3
        return scores

    rigged = replace(extract, scorer=scorer, tally=type(extract.tally)())
    rigged(words=["pain"] * 30)
    assert rigged.tally.bounded == 1
    assert any("bound" in notice for notice in rigged.tally.notices())
    narrow = replace(rigged, max_subwords=40, tally=type(extract.tally)())
    narrow(words=["pain"] * 90)
    assert (narrow.tally.bounded, narrow.tally.windowed, narrow.tally.sentences) == (1, 1, 1)


def test_documents_keep_id_and_lose_gold(extract):
    document = Document("d", "pain .", entities=())
    (predicted,) = extract.documents([document])
    assert predicted.id == "d"
    assert extract.labels == ("ADR", "Drug")
