from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiny_models import make_scheme
from trigner.mentions import Document, Entity, Mention, joined
from trigner.text import in_one, segment
from trigner.training.windows import SCALES, Windows, closed, crop, overlapping


def document(words, *mentions, name="d"):
    """A raw text of these words."""
    stops = np.cumsum([len(word) + 1 for word in words]).tolist()
    ranges = [(stop - 1 - len(word), stop - 1) for word, stop in zip(words, stops, strict=True)]
    text = " ".join(words)
    entities = [Entity.in_text(text, "ADR", joined(own, ranges)) for own in mentions]
    return Document(name, text, tuple(entities))


def windows_of(documents, share=1.0, seed=1):
    windows = Windows(share, seed)
    return [each for own in documents for each in windows.of(own, segment(own))]


def test_a_mention_across_sentences_is_in_a_window():
    words = "My leg was numb . Then pain was there . No rash was seen ."
    crossing = document(words.split(), (3, 6))
    found = segment(crossing)
    assert [len(sentence.words) for sentence in found.sentences] == [5, 5, 5]
    assert [own.reason for own in found.unreachable] == ["crosses a sentence boundary"]
    whole = in_one(crossing, found)
    assert whole.mentions == (Mention((3, 6), "ADR"),)
    assert "".join(whole.words) == crossing.text.replace(" ", "")
    # Of 15 words nearly all are in a window of 16, the least: this is the whole document.
    (window,) = windows_of([crossing], share=0.5)
    assert (window.words, window.mentions) == (whole.words, whole.mentions)


def test_windows_are_widened_to_whole_mentions_or_given_up():
    long = Mention((0, 9), "ADR")
    assert closed((5, 10), [long]) == (0, 10)
    assert closed((5, 96), [long]) == (0, 96)
    assert closed((5, 97), [long]) is None
    assert closed((2, 8), [long]) == (2, 8)  # in its gap: it has no word inside
    chain = [Mention((1, 4), "ADR"), Mention((4, 5, 9), "ADR"), Mention((9, 12), "Drug")]
    assert closed((0, 3), chain) == (0, 13)


def test_no_room():
    random = np.random.default_rng(0)
    assert crop((0, 97), 200, 1.5, random) is None
    assert crop((0, 96), 200, 4.0, random) == (0, 96)
    assert crop((3, 4), 10, 4.0, random) == (0, 10)


def test_a_window_is_at_any_place_around_its_mentions_and_as_long_at_both_ends():
    random = np.random.default_rng(0)
    drawn = {crop((50, 52), 100, 8.0, random) for _ in range(400)}
    assert drawn == {(start, start + 16) for start in range(36, 51)}
    for extent in ((0, 2), (98, 100)):
        for _ in range(50):
            start, stop = crop(extent, 100, 8.0, random)
            assert (stop - start, start >= 0, stop <= 100) == (16, True, True)


def test_a_window_is_as_many_times_as_long_as_its_mentions():
    for seed in range(30):
        start, stop = crop((30, 40), 100, 2.0, np.random.default_rng(seed))
        assert (stop - start, start <= 30, stop >= 40) == (20, True, True)


def test_groups_are_what_overlaps():
    a, b, c, d = (Mention(own, "ADR") for own in ((0, 5), (2, 3), (5, 9), (10,)))
    assert overlapping([d, c, b, a]) == [[a, b, c], [d]]


@st.composite
def texts(draw):
    """Documents of sentences of several lengths, with mentions within and across them."""
    sizes = draw(st.lists(st.integers(2, 30), min_size=1, max_size=8))
    words = []
    for number, size in enumerate(sizes):
        words += [f"S{number}", *(f"w{len(words) + i}" for i in range(1, size - 1)), "."]
    places = [i for i, word in enumerate(words) if word != "."]
    found = draw(
        st.lists(
            st.lists(st.sampled_from(places), min_size=1, max_size=3, unique=True).map(sorted),
            max_size=6,
        )
    )
    near = [own for own in found if own[-1] - own[0] < 40]
    return document(words, *near)


@given(texts(), st.integers(0, 5), st.sampled_from([0.3, 1.0]))
def test_windows_hold_whole_mentions_of_one_document(own, seed, share):
    found = segment(own)
    whole = in_one(own, found)
    made = windows_of([own], share, seed)
    ranges = set()
    for window in made:
        start = whole.offsets.index(window.offsets[0])
        stop = start + len(window.words)
        assert window.words == whole.words[start:stop]
        assert window.offsets == whole.offsets[start:stop]
        assert len(window.words) <= 96
        assert window.left == whole.words[max(0, start - 64) : start]
        assert window.right == whole.words[stop : stop + 64]
        inside = [m for m in whole.mentions if start <= m.words[0] and m.words[-1] < stop]
        assert window.mentions == tuple(m.shifted(-start) for m in inside)
        assert window.mentions
        outside = {w for m in whole.mentions if m not in inside for w in m.words}
        assert not outside & set(range(start, stop))
        ranges.add((start, stop))
    assert len(ranges) == len(made)
    # After those of the document's own sentences.
    assert [w.index for w in made] == [len(found.sentences) + n for n in range(len(made))]
    firsts = [s.offsets for s in found.sentences]
    assert not any(window.offsets in firsts for window in made)
    touched = {
        number
        for number, sentence in enumerate(found.sentences)
        for m in whole.mentions
        for w in m.words
        if whole.offsets[w] in sentence.offsets
    }
    assert len(made) <= share * len(touched) + 1e-9


@given(texts(), st.integers(0, 3))
def test_the_grid_of_a_window_is_a_part_of_the_documents(own, seed):
    scheme = make_scheme("w2ner", ("ADR",))
    whole = in_one(own, segment(own))
    grid = scheme.encode(whole.mentions, len(whole.words)).tags
    for window in windows_of([own], seed=seed):
        start = whole.offsets.index(window.offsets[0])
        cells = slice(start, start + len(window.words))
        part = grid[cells, cells].copy()
        # Of a mention around the window no word is inside, so no cell either.
        assert (scheme.encode(window.mentions, len(window.words)).tags == part).all()


def notes(count):
    words = [w for n in range(30) for w in (f"Then{n}", "my", "left", "and", "right", "leg", ".")]
    mentions = [(7 * n, 7 * n + 5) for n in range(0, 30, 2)]
    return [document(words, *mentions, name=f"d{number}") for number in range(count)]


def test_as_many_as_wanted_and_the_same_by_the_seed():
    documents = notes(7)
    made = windows_of(documents, 0.5)
    assert len(made) == int(0.5 * 7 * 15)
    assert made == windows_of(documents, 0.5)
    other = windows_of(documents, 0.5, seed=2)
    assert len(other) == len(made)
    assert made != other
    assert {len(window.words) for window in made} >= {16}
    assert windows_of(documents, 0.0) == []
    assert {window.document for window in made} == {own.id for own in documents}


def test_discontinuous_mentions_come_twice_as_often():
    words = [w for n in range(40) for w in (f"Then{n}", *(f"w{i}" for i in range(18)), ".")]
    split = [(20 * n + 2, 20 * n + 5) for n in range(0, 40, 2)]
    plain = [(20 * n + 2, 20 * n + 3, 20 * n + 4) for n in range(1, 40, 2)]
    counts = np.zeros(2)
    for seed in range(20):
        for window in windows_of([document(words, *split, *plain)], 0.5, seed):
            kinds = {m.is_discontinuous for m in window.mentions}
            counts += [True in kinds, False in kinds]
    assert 1.6 < counts[0] / counts[1] < 2.4


def test_all_scales_are_drawn():
    words = ["Then", *(f"w{n}" for n in range(300))]
    own = document(words, (100, 109))
    sizes = {len(w.words) for seed in range(40) for w in windows_of([own], 1, seed)}
    assert sizes == {int(10 * scale) if scale > 1.5 else 16 for scale in SCALES}


@pytest.mark.parametrize("words", [[], ["a"], [""]])
def test_documents_of_given_words(words):
    own = Document("d", " ".join(words), words=tuple((0, len(word)) for word in words))
    assert windows_of([own]) == []
