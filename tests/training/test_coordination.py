from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.coordination_naive import Made, all_made, of_one_kind
from trigner.corpora.words import document_of
from trigner.mentions import Mention, Sentence
from trigner.systems.sections import SamplingSettings
from trigner.text.segmentation import segment
from trigner.training import coordination, kinds
from trigner.training.coordination import LONGEST, MEMBERS

ALWAYS = SamplingSettings(coordination=5, conjunctions=("and",))


def document(number: int, text: str, *mentions: Sequence[int], label: str = "ADR"):
    own = [Mention(tuple(words), label) for words in mentions]
    return document_of(f"d{number}", text.split(), own)


SPLIT = document(99, "this or that", (0, 2), label="Split")
"""Shows that the annotators of a corpus have discontinuous mentions."""


def sentences_of(documents):
    return [sentence for own in (*documents, SPLIT) for sentence in segment(own).sentences]


def told(sentence: Sentence):
    return sorted(" ".join(sentence.words[i] for i in m.words) for m in sentence.mentions)


def generated(sentences, settings=ALWAYS, seed=1, *, whole=0.0, per_sentence=99, pool=1):
    """All sentences that can be made by exchanging parts, or with constants of the test."""
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
        document(1, "left upper pain", (0, 1, 2)),
        document(2, "deep right inner pain", (0, 1, 2, 3)),
        document(3, "old mild outer back pain", (0, 1, 2, 3, 4)),
    ]
    assert LONGEST == 3
    assert set(made_of(*documents, seeds=range(10))) == {
        "left upper and deep right inner pain",
        "deep right inner and left upper pain",
        "old mild outer back and deep right inner pain",
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


def test_whole_mentions_stand_where_parts_would():
    settings = SamplingSettings(coordination=5, conjunctions=("and", "("))
    documents = [
        document(1, "had renal failure today", (1, 2)),
        document(2, "had ache today", (1,)),
        document(3, "hepatic failure , fever", (0, 1), (3,)),
        document(4, "sore throat", (0, 1)),
        document(5, "sore lips hurt", (0, 1)),
        document(6, "had cold hands now", (1, 2)),
        document(7, "had long grey swollen hands today", (1, 2, 3, 4)),
    ]
    found = made_of(*documents, settings=settings, seeds=range(60), whole=1.0)
    expected = {
        # Others that stand between "had" and "today".
        "had ache and renal failure today": ["ache", "renal failure"],
        "had renal failure ( ache ) today": ["ache", "renal failure"],
        # Between nothing and nothing, or a sign.
        "fever and hepatic failure , fever": ["fever", "fever", "hepatic failure"],
        "sore throat , fever and hepatic failure": ["fever", "hepatic failure", "sore throat"],
        "sore throat ( fever )": ["fever", "sore throat"],
    }
    assert {text: found.get(text) for text in expected} == expected
    assert not [text for text in found if "hands" in text or text.endswith("hurt")]
    assert not any(
        mention.is_discontinuous
        for made in generated(sentences_of(documents), settings, whole=1.0)
        for mention in made.mentions
    )


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


WORDS = ["renal", "hepatic", "cardiac", "failure", "infection", "infections", "sore", "throat"]
WORDS += ["Throat", "3", "-", "no", ",", "and"]
CORPORA = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=2, max_size=6),
        st.lists(
            st.tuples(st.integers(0, 4), st.integers(1, 3), st.sampled_from("AB")), max_size=2
        ),
    ),
    min_size=1,
    max_size=5,
)


def corpus(drawn) -> list[Sentence]:
    """Sentences with mentions at the places drawn, and one that is split."""
    sentences = []
    for number, (words, places) in enumerate(drawn):
        found = {
            Mention(tuple(range(start, min(start + length, len(words)))), label)
            for start, length, label in places
            if start < len(words)
        }
        sentences.append(Sentence(f"d{number}", 0, tuple(words), (), tuple(sorted(found))))
    return [*sentences, *sentences_of([])]


def possible(sentences, conjunctions) -> dict[tuple, list[Made]]:
    """All that can be made, with the ways to make it."""
    found: dict[tuple, list[Made]] = {}
    for made in all_made(sentences, conjunctions, LONGEST, MEMBERS):
        found.setdefault((made.words, made.mentions), []).append(made)
    return found


@given(CORPORA, st.integers(0, 9))
def test_the_check_of_kinds_only_ever_leaves_sentences_out(drawn, seed):
    conjunctions = ("and", "(")
    settings = SamplingSettings(coordination=5, conjunctions=conjunctions)
    sentences = [sentence for sentence in corpus(drawn) if sentence.mentions]
    everything = possible(sentences, conjunctions)
    for made in generated(sentences, settings, seed, whole=0.5, pool=3):
        ways = everything[made.words, made.mentions]
        assert any(of_one_kind(way, sentences, conjunctions) for way in ways)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("belong", "allow_part"):
            patch.setattr(kinds.Kinds, name, lambda *given, **named: True)
        patch.setattr(
            coordination, "alike", lambda one, other: kinds.lower(one) != kinds.lower(other)
        )
        unchecked = generated(sentences, settings, seed, whole=0.5, pool=3)
    assert everything.keys() >= {(made.words, made.mentions) for made in unchecked}


def test_all_that_is_of_one_kind_is_made_in_the_end():
    documents = [
        document(1, "she had renal failure today", (2, 3)),
        document(2, "she had hepatic failure today", (2, 3)),
        document(3, "no sore throat , 2 infections", (1, 2), (4, 5)),
        document(4, "she had sore lips or old infection", (2, 3), (5, 6)),
        document(5, "sore old feet", (0, 1, 2)),
        document(6, "no kidney failure", (1, 2), label="Other"),
    ]
    sentences = sentences_of(documents)
    settings = SamplingSettings(coordination=99, conjunctions=("and", "("))
    found = generated(sentences, settings, whole=0.5, pool=300)
    everything = possible(sentences, settings.conjunctions)
    expected = {
        made
        for made, ways in everything.items()
        if any(of_one_kind(way, sentences, settings.conjunctions) for way in ways)
    }
    assert {(made.words, made.mentions) for made in found} == expected
    other_order = generated(sentences[::-1], settings, whole=0.5, pool=300)
    assert {(made.words, made.mentions) for made in other_order} == expected
    assert 9 < len(expected) < len(everything)


def test_half_of_the_sentences_have_whole_members():
    documents = [
        document(n, f"{a} {kind}", (0, 1))
        for n, (a, kind) in enumerate(product("abcdefg", ("failure", "disease", "lesion")))
    ]
    settings = SamplingSettings(coordination=0.5)
    found = generated(sentences_of(documents), settings, whole=0.5, per_sentence=1)
    split = [any(m.is_discontinuous for m in made.mentions) for made in found]
    assert (len(found), sum(split)) == (11, 6)
