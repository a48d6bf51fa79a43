"""Entities to mentions and back, and what cannot be told on words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.segment_naive import place_naive
from trigner.mentions import CONTEXT_WORDS, Document, Entity, Fragment, Mention
from trigner.text.segmentation import (
    Unreachable,
    entity_of,
    segment,
    sentence_at,
    sentence_starts,
    sentences_in,
)
from trigner.text.sentences import split

CORPUS = Path(__file__).parents[3] / "shared" / "data" / "spl-adr"
TEXT = "My arms and legs ached badly. No fever.\n\nCoughing then."


def entity(*fragments: Fragment, label: str = "ADR") -> Entity:
    return Entity(label, fragments, "")


def document(*entities: Entity, text: str = TEXT) -> Document:
    return Document("d1", text, entities)


def given_words(*words: str, entities: tuple[Entity, ...] = ()) -> Document:
    ranges, at = [], 0
    for word in words:
        ranges.append((at, at + len(word)))
        at += len(word) + 1
    return Document("d2", " ".join(words), entities, tuple(ranges))


@pytest.mark.parametrize("text", [TEXT, "", " \n "])
def test_bare_sentences_are_those_of_segment(text) -> None:
    annotated = document(text=text)
    assert tuple(sentences_in(annotated)) == segment(annotated).sentences
    words = given_words("pain.", "Then")
    assert tuple(sentences_in(words)) == segment(words).sentences
    assert tuple(sentences_in(Document("d3", "", (), ()))) == ()


def test_sentences_carry_words_offsets_and_mentions() -> None:
    found = segment(document(entity((3, 7), (17, 22)), entity((12, 22)), entity((33, 38))))
    assert found.unreachable == ()
    first, second, third = found.sentences
    assert first.words == ("My", "arms", "and", "legs", "ached", "badly", ".")
    assert first.offsets[1] == (3, 7)
    assert first.mentions == (Mention((1, 4), "ADR"), Mention((3, 4), "ADR"))
    assert (second.document, second.index, second.mentions) == ("d1", 1, (Mention((1,), "ADR"),))
    assert (third.index, third.words, third.mentions) == (2, ("Coughing", "then", "."), ())


def test_blanks_in_fragments_do_not_matter() -> None:
    split_up = entity((2, 8), (8, 11), (11, 17))
    assert segment(document(split_up)).sentences[0].mentions == (Mention((1, 2, 3), "ADR"),)


def test_an_entity_given_twice_is_one_mention() -> None:
    found = segment(document(entity((3, 7)), entity((3, 8)), entity((3, 7), label="Other")))
    assert found.sentences[0].mentions == (Mention((1,), "ADR"), Mention((1,), "Other"))


@pytest.mark.parametrize(
    ("fragments", "reason"),
    [
        (((17, 38),), "crosses a sentence boundary"),
        (((17, 22), (41, 44)), "crosses a sentence boundary"),
        (((17, 20),), "not aligned to words"),
        (((18, 22),), "not aligned to words"),
        (((3, 7), (17, 20)), "not aligned to words"),
        (((2, 3),), "empty"),
        (((39, 41),), "empty"),
        ((), "empty"),
    ],
)
def test_what_cannot_be_reached_is_kept_with_its_reason(
    fragments: tuple[Fragment, ...], reason: str
) -> None:
    lost = entity(*fragments)
    found = segment(document(lost, entity((3, 7))))
    assert found.unreachable == (Unreachable(lost, reason),)  # type: ignore[arg-type]
    assert found.sentences[0].mentions == (Mention((1,), "ADR"),)


def test_the_end_of_a_sentence_is_not_the_start_of_the_next() -> None:
    found = segment(document(entity((0, 3)), text="痛い。頭痛がある。"))
    assert found.unreachable == ()
    assert found.sentences[0].mentions == (Mention((0, 1, 2), "ADR"),)


def test_an_empty_document_has_no_sentences() -> None:
    assert segment(document(text="")).sentences == ()
    assert segment(document(text=" \n ")).sentences == ()
    assert segment(Document("d3", "", (entity((0, 0)),), ())).unreachable[0].reason == "empty"


def test_given_words_are_one_sentence_and_are_kept() -> None:
    found = segment(given_words("pain.", "Then", "in-arm", entities=(entity((0, 5), (11, 17)),)))
    (sentence,) = found.sentences
    assert sentence.words == ("pain.", "Then", "in-arm")
    assert sentence.mentions == (Mention((0, 2), "ADR"),)


def test_given_words_of_white_space_or_with_it_at_the_edge() -> None:
    words = ("a", "\u00a0", "b", " c", "d\u00a0")
    found = segment(
        given_words(*words, entities=(entity((0, 1), (4, 5)), entity((0, 5)), entity((2, 3))))
    )
    assert found.unreachable == ()
    assert [m.words for m in found.sentences[0].mentions] == [(0, 2), (0, 1, 2), (1,)]
    edges = segment(given_words(*words, entities=(entity((6, 8)), entity((7, 8), (9, 10)))))
    assert [m.words for m in edges.sentences[0].mentions] == [(3,), (3, 4)]
    assert segment(given_words("ab", entities=(entity((0, 1)),))).unreachable


@given(
    st.lists(st.sampled_from(["a", "\u00a0", "bc", " d", "."]), min_size=1, max_size=6), st.data()
)
def test_mentions_on_given_words_come_back(words: list[str], data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(0, len(words) - 1), min_size=1))
    mention = Mention(tuple(sorted(chosen)), "ADR")
    empty = given_words(*words)
    found = entity_of(empty, segment(empty).sentences[0], mention)
    again = segment(given_words(*words, entities=(found,)))
    assert again.sentences[0].mentions == (mention,)


def test_entity_of_joins_neighbours_and_keeps_the_score() -> None:
    source = document()
    sentence = segment(source).sentences[0]
    found = entity_of(source, sentence, Mention((1, 2, 4), "ADR"), 0.5)
    assert found == Entity("ADR", ((3, 11), (17, 22)), "arms and ached", 0.5)
    with pytest.raises(IndexError):
        entity_of(source, sentence, Mention((1, 7), "ADR"))


@given(st.text(alphabet="aB.- \n\u0301😀", max_size=40), st.data())
def test_segment_is_the_definition(text: str, data: st.DataObject) -> None:
    bound = st.integers(0, len(text))
    fragment = st.tuples(bound, bound).map(lambda pair: (min(pair), max(pair)))
    fragments = data.draw(st.lists(fragment, max_size=3))
    lost = Entity("ADR", tuple(fragments), "")
    source = document(lost, text=text)
    expected = place_naive(source, split(text), lost)
    found = segment(source)
    if isinstance(expected, str):
        assert [item.reason for item in found.unreachable] == [expected]
        return
    index, mention = expected
    assert found.sentences[index].mentions == (mention,)
    assert source.key(entity_of(source, found.sentences[index], mention)) == source.key(lost)


def test_the_sentence_of_a_character() -> None:
    starts = sentence_starts(document())
    assert starts == (0, 30, 41)
    assert [sentence_at(starts, at) for at in (0, 29, 30, 40, 41, 99)] == [0, 0, 1, 1, 2, 2]
    assert sentence_at(sentence_starts(document(text="  a")), 0) == 0
    assert sentence_at((), 5) == 0


@pytest.mark.corpora
def test_losses_on_drug_labels() -> None:
    """Below what a plain splitter loses: 0.4 % by sentences and 0.6 % by words."""
    if not CORPUS.is_dir():
        pytest.skip("../shared/data/spl-adr is not there")
    corpora = pytest.importorskip("trigner.corpora")
    documents = [
        found
        for part in ("train", "dev")
        for found in corpora.read(CORPUS / part, format="brat").documents
    ]
    total = sum(len(source.entities) for source in documents)
    found = [segment(source) for source in documents]
    reasons = [item.reason for one in found for item in one.unreachable]
    assert reasons.count("crosses a sentence boundary") <= 0.004 * total
    assert reasons.count("not aligned to words") <= 0.004 * total
    lengths = [len(sentence.words) for one in found for sentence in one.sentences]
    assert max(lengths) <= 2 * 100


@given(st.lists(st.integers(1, 50), max_size=12))
def test_sentences_have_the_words_around_them(lengths: list[int]) -> None:
    text = "\n\n".join(
        " ".join(f"w{n}x{i}" for i in range(length)) for n, length in enumerate(lengths)
    )
    words = [[f"w{n}x{i}" for i in range(length)] for n, length in enumerate(lengths)]
    sentences = segment(Document("d", text)).sentences
    assert [list(s.words) for s in sentences] == words
    for n, sentence in enumerate(sentences):
        before = [word for own in words[:n] for word in own]
        behind = [word for own in words[n + 1 :] for word in own]
        assert sentence.left == tuple(before[-CONTEXT_WORDS:])
        assert sentence.right == tuple(behind[:CONTEXT_WORDS])
