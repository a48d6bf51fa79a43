from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.corpora.words import document_of
from trigner.mentions import Mention, Sentence
from trigner.systems.sections import SamplingSettings
from trigner.text.segmentation import segment
from trigner.training import coordination
from trigner.training.coordination import LONGEST, MEMBERS

ALWAYS = SamplingSettings(coordination=5, conjunctions=("and",))


def document(number: int, text: str, *mentions: Sequence[int], label: str = "ADR"):
    own = [Mention(tuple(words), label) for words in mentions]
    return document_of(f"d{number}", text.split(), own)


SPLIT = document(99, "left or right", (0, 2), label="Split")
"""Shows that the annotators of a corpus have discontinuous mentions."""


def sentences_of(documents):
    return [sentence for own in (*documents, SPLIT) for sentence in segment(own).sentences]


def told(sentence: Sentence):
    return sorted(" ".join(sentence.words[i] for i in m.words) for m in sentence.mentions)


def generated(sentences, settings=ALWAYS, seed=1, *, whole=0.0, per_sentence=99, pool=1):
    """New sentences; unless the test says otherwise all that there are of parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coordination, "WHOLE", whole)
        patch.setattr(coordination, "PER_SENTENCE", per_sentence)
        patch.setattr(coordination, "POOL", pool)
        return list(coordination.coordinations(sentences, settings, seed))


def made_of(*documents, settings=ALWAYS, seeds=(1,), **how):
    """Each new sentence's text and its mentions' words."""
    return {
        " ".join(sentence.words): told(sentence)
        for seed in seeds
        for sentence in generated(sentences_of(documents), settings, seed, **how)
    }


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
    found = made_of(*documents, seeds=range(20))
    assert {"a and b failure", "a , b and c failure", "sore x and y", "sore x , y and z"} <= set(
        found
    )
    assert found["a , b and c failure"] == ["a failure", "b failure", "c failure"]
    assert found["sore x , y and z"] == ["sore x", "sore y", "sore z"]


def test_of_many_no_more_than_three_are_members():
    documents = [document(n, f"{word} failure", (0, 1)) for n, word in enumerate("abcdef")]
    counts = {len(told) for told in made_of(*documents, seeds=range(10)).values()}
    assert counts == {2, MEMBERS}


def test_members_of_more_words_are_not_put_in():
    documents = [
        document(1, "now sore pain", (1, 2)),
        document(2, "left upper inner pain", (0, 1, 2, 3)),
        document(3, "deep left upper outer pain", (0, 1, 2, 3, 4)),
    ]
    found = made_of(*documents, seeds=range(10))
    assert LONGEST == 3
    assert {text for text in found if text.startswith("now")} == {
        "now sore and left upper inner pain"
    }


def test_no_member_is_another_in_capital_letters():
    spelt = ["sore throat", "sore THROAT", "sore lips"]
    documents = [document(n, text, (0, 1)) for n, text in enumerate(spelt)]
    assert set(made_of(*documents, seeds=range(10))) == {
        "sore throat and lips",
        "sore THROAT and lips",
        "sore lips and throat",
    }


def test_slashes_and_parentheses():
    settings = SamplingSettings(coordination=9, conjunctions=("/", "("))
    documents = [document(n, f"{word} failure", (0, 1)) for n, word in enumerate("abc")]
    documents += [document(n, f"sore {word}", (0, 1)) for n, word in enumerate("xyz", start=3)]
    found = made_of(*documents, settings=settings, seeds=range(60))
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
    for sentence in generated(sentences_of(documents), seed=3):
        assert sorted(m.is_discontinuous for m in sentence.mentions) == [False, True]


def test_what_is_left_alone():
    assert not made_of(document(1, "renal failure", (0, 1)), document(2, "failure", (0,)))
    other = document(2, "hepatic failure", (0, 1), label="Drug")
    assert not made_of(document(1, "renal failure", (0, 1)), other)
    overlapping = document(1, "renal failure or death", (0, 1), (1, 2, 3))
    found = made_of(overlapping, document(2, "hepatic failure", (0, 1)))
    assert set(found) == {"hepatic and renal failure"}
    split = document(1, "sore left and right arm", (0, 3, 4))
    found = made_of(split, document(2, "sore throat", (0, 1)))
    assert set(found) == {"sore throat and right arm"}


def test_no_more_than_asked_and_the_same_again():
    documents = [document(n, f"{word} failure", (0, 1)) for n, word in enumerate("abcdefgh")]
    half = SamplingSettings(coordination=0.5)
    sentences = sentences_of(documents)[:-1] + sentences_of([])  # 9 with mentions
    found = generated(sentences, half)
    assert len(found) == 5
    assert found == generated(sentences, half)
    assert found != generated(sentences, half, 2)
    assert not generated(sentences, SamplingSettings())
    pool = generated(sentences, half, pool=4)
    assert pool[:5] == found
    assert len(pool) == len({sentence.words for sentence in pool}) == 20


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
    for sentence in generated(sentences_of(documents), seed=seed, whole=0.5, pool=2):
        assert 2 <= len(sentence.mentions) <= MEMBERS
        for mention in sentence.mentions:
            assert tuple(sentence.words[i] for i in mention.words) in known
        assert len(sentence.words) <= 7 + (MEMBERS - 1) * (1 + LONGEST)


SHARING = (
    document(1, "had renal failure today", (1, 2)),
    document(2, "hepatic failure , ache", (0, 1), (3,)),
    document(3, "sore throat hurts", (0, 1)),
    document(4, "sore lips hurt", (0, 1)),
)


def test_whole_mentions_stand_where_parts_would():
    settings = SamplingSettings(coordination=5, conjunctions=("and", "("))
    found = made_of(*SHARING, settings=settings, seeds=range(60), whole=1.0)
    expected = {
        "had ache and renal failure today": ["ache", "renal failure"],
        "had renal failure ( ache ) today": ["ache", "renal failure"],
        "had ache , hepatic failure and renal failure today": [
            "ache", "hepatic failure", "renal failure",
        ],
        "sore throat and ache hurts": ["ache", "sore throat"],
        "ache and hepatic failure , ache": ["ache", "ache", "hepatic failure"],
    }  # fmt: skip
    assert {text: found.get(text) for text in expected} == expected
    # None has a gap: with whole members alone nothing is shared.
    sentences = sentences_of(
        [document(1, "had renal failure", (1, 2)), document(2, "b failure", (0, 1))]
    )
    found = generated(sentences, settings, whole=1.0)
    assert found
    assert not any(m.is_discontinuous for own in found for m in own.mentions)


def test_all_continuous_mentions_can_be_whole_members():
    documents = [document(n, f"{word} failure", (0, 1)) for n, word in enumerate("abcdef")]
    found = made_of(*documents, document(7, "g or h failure", (0, 3)), seeds=(1, 2), whole=1.0)
    members = {own for told in found.values() for own in told}
    assert members == {f"{word} failure" for word in "abcdef"}


def test_a_label_with_one_mention_shares_parts_all_the_same():
    long = document(1, "very sore red dry throat", (0, 1, 2, 3, 4))
    other = document(2, "very sore red dry left arm", (0, 1, 2, 3, 4, 5))
    found = made_of(long, other, whole=1.0)
    assert found["very sore red dry throat and left arm"] == [
        "very sore red dry left arm", "very sore red dry throat",
    ]  # fmt: skip


def test_none_where_no_mention_is_discontinuous():
    flat = [document(1, "renal failure", (0, 1)), document(2, "hepatic failure", (0, 1))]
    sentences = [sentence for own in flat for sentence in segment(own).sentences]
    assert not generated(sentences)
    assert generated(sentences_of(flat))


def test_punctuation_alone_is_not_shared():
    stops = [document(n, f"{word} .", (0, 1)) for n, word in enumerate("abc")]
    assert not made_of(*stops)


def test_one_of_a_sentence_at_a_time():
    listed = document(1, "a failure , b failure , c failure", (0, 1), (3, 4), (6, 7))
    assert len(made_of(listed)) > 1
    assert len(made_of(listed, per_sentence=1)) == 1
    assert 1 < len(made_of(listed, per_sentence=1, pool=5)) <= 5


def test_context_stays():
    own = sentences_of([document(1, "renal failure", (0, 1)), document(2, "a failure", (0, 1))])
    flanked = [replace(sentence, left=("before",), right=("behind",)) for sentence in own]
    found = generated(flanked)
    assert len(found) == 2
    assert {(each.left, each.right) for each in found} == {(("before",), ("behind",))}
    assert {each.offsets for each in found} == {()}  # those of the sentence would be wrong
