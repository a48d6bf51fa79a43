from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from trigner.corpora import document_of
from trigner.mentions import Mention
from trigner.text import segment
from trigner.training.coordination import LONGEST, MEMBERS, coordinations
from trigner.training.sections import SamplingSettings

ALWAYS = SamplingSettings(coordination=5, conjunctions=("and",))


def document(number: int, text: str, *mentions: Sequence[int], label: str = "ADR"):
    own = [Mention(tuple(words), label) for words in mentions]
    return document_of(f"d{number}", text.split(), own)


def sentences_of(documents):
    return [sentence for own in documents for sentence in segment(own).sentences]


def made_of(*documents, settings=ALWAYS, seed=1):
    """Each new sentence's text and its mentions' words."""
    found = {}
    for one in coordinations(sentences_of(documents), settings, seed):
        (sentence,) = segment(one).sentences
        found[one.text] = sorted(
            " ".join(sentence.words[i] for i in m.words) for m in sentence.mentions
        )
    return found


def test_a_shared_last_word():
    found = made_of(
        document(1, "she had renal failure today", (2, 3)),
        document(2, "Hepatic failure was seen", (0, 1)),
    )
    assert found == {
        "she had renal and Hepatic failure today": ["Hepatic failure", "renal failure"],
        "Hepatic and renal failure was seen": ["Hepatic failure", "renal failure"],
    }


def test_shared_first_words_and_mentions_beside():
    found = made_of(
        document(1, "rash , then sore dry throat and fever", (0,), (3, 4, 5), (7,)),
        document(2, "sore dry lips", (0, 1, 2)),
    )
    assert found["rash , then sore dry throat and lips and fever"] == [
        "fever", "rash", "sore dry lips", "sore dry throat",
    ]  # fmt: skip
    # The longest shared words, and of the two sides each for itself.
    assert set(found) == {
        "rash , then sore dry throat and lips and fever",
        "sore dry lips and throat",
    }


def test_up_to_three_members():
    documents = [document(n, f"{word} failure", (0, 1)) for n, word in enumerate("abc")]
    documents += [document(n, f"sore {word}", (0, 1)) for n, word in enumerate("xyz", start=3)]
    found = {}
    for seed in range(20):
        found |= made_of(*documents, seed=seed)
    assert {"a and b failure", "a , b and c failure", "sore x and y", "sore x , y and z"} <= set(
        found
    )
    assert found["a , b and c failure"] == ["a failure", "b failure", "c failure"]
    assert found["sore x , y and z"] == ["sore x", "sore y", "sore z"]


def test_slashes_and_parentheses():
    settings = SamplingSettings(coordination=9, conjunctions=("/", "("))
    documents = [document(n, f"{word} failure", (0, 1)) for n, word in enumerate("abc")]
    documents += [document(n, f"sore {word}", (0, 1)) for n, word in enumerate("xyz", start=3)]
    found = {}
    for seed in range(30):
        found |= made_of(*documents, settings=settings, seed=seed)
    expected = {
        "a ( b ) failure": ["a failure", "b failure"],
        "a ( b , c ) failure": ["a failure", "b failure", "c failure"],
        "a , b / c failure": ["a failure", "b failure", "c failure"],
        "sore x ( y )": ["sore x", "sore y"],
        "sore x ( y , z )": ["sore x", "sore y", "sore z"],
        "sore x / y": ["sore x", "sore y"],
    }
    assert {text: found[text] for text in expected} == expected


def test_one_of_the_two_mentions_is_discontinuous():
    documents = [
        document(1, "mild head ache", (1, 2)),
        document(2, "mild tooth ache", (1, 2)),
    ]
    for one in coordinations(sentences_of(documents), ALWAYS, 3):
        (sentence,) = segment(one).sentences
        assert sorted(m.is_discontinuous for m in sentence.mentions) == [False, True]


def test_what_is_left_alone():
    assert not made_of(document(1, "renal failure", (0, 1)), document(2, "failure", (0,)))
    other = document(2, "hepatic failure", (0, 1), label="Drug")
    assert not made_of(document(1, "renal failure", (0, 1)), other)
    overlapping = document(1, "renal failure or death", (0, 1), (1, 2, 3))
    found = made_of(overlapping, document(2, "hepatic failure", (0, 1)))
    assert set(found) == {"hepatic and renal failure"}
    split = document(1, "sore left and right arm", (0, 3, 4))
    assert not made_of(split, document(2, "sore throat", (0, 1)), settings=SamplingSettings())


def test_no_more_than_asked_and_the_same_again():
    documents = [document(n, f"{word} failure", (0, 1)) for n, word in enumerate("abcdefgh")]
    half = SamplingSettings(coordination=0.5)
    found = list(coordinations(sentences_of(documents), half, 1))
    assert len(found) == 4
    assert found == list(coordinations(sentences_of(documents), half, 1))
    assert found != list(coordinations(sentences_of(documents), half, 2))
    assert not list(coordinations(sentences_of(documents), SamplingSettings(), 1))


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from("abcd,"), min_size=2, max_size=7), st.integers(0, 5)),
        max_size=6,
    ),
    st.integers(0, 9),
)
def test_mentions_keep_their_words(drawn, seed):
    documents = []
    for number, (words, start) in enumerate(drawn):
        start = min(start, len(words) - 1)
        mention = Mention(tuple(range(start, min(start + 5, len(words)))), "ADR")
        documents.append(document_of(str(number), words, [mention]))
    known = {
        tuple(d.text.split()[i] for i in m.words)
        for d in documents
        for s in segment(d).sentences
        for m in s.mentions
    }
    for one in coordinations(sentences_of(documents), ALWAYS, seed):
        (sentence,) = segment(one).sentences
        assert 2 <= len(sentence.mentions) <= MEMBERS
        for mention in sentence.mentions:
            assert tuple(sentence.words[i] for i in mention.words) in known
        assert len(sentence.words) <= 7 + (MEMBERS - 1) * (1 + LONGEST)
