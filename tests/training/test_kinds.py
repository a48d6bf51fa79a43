from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.mentions import Mention, Sentence
from trigner.training.kinds import Kinds, alike


def sentence(text: str, *mentions: tuple[int, ...], label: str = "ADR") -> Sentence:
    own = tuple(Mention(words, label) for words in mentions)
    return Sentence("d", 0, tuple(text.split()), (), own)


SENTENCES = [
    sentence("she had renal failure today", (2, 3)),
    sentence("Renal failure , and pain in the legs", (0, 1), (4, 5, 6, 7)),
    sentence("in the morning no renal function test", (3, 4)),
    sentence("no test of pain", (2, 3), label="Test"),
]
KINDS = Kinds(SENTENCES, ("and", "or"))


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def test_words_belong_that_stand_in_mentions_of_the_type_in_seven_of_ten_places():
    """By hand: "pain" is ADR in 1 of 2 places, "in" in 1 of 2, "legs" in 1 of 1."""
    assert KINDS.belong("ADR", words("RENAL failure"))
    assert KINDS.belong("ADR", words("legs"))
    for text in ("pain", "renal pain", "in", "test"):
        assert not KINDS.belong("ADR", words(text))
    seven = [sentence("sore", (0,))] * 7 + [sentence("sore throat", (1,))] * 3
    assert Kinds(seven, ()).belong("ADR", words("sore"))
    assert not Kinds([*seven, seven[-1]], ()).belong("ADR", words("sore"))


@pytest.mark.parametrize(
    ("part", "shared", "first", "allowed"),
    [
        ("renal", "failure", False, True),
        ("failure", "renal", True, True),
        ("pain", "legs", False, False),  # does not belong
        ("renal -", "failure", False, False),  # the cut is beside a sign
        ("legs", "non -", True, False),
        ("renal", "stage 3 failure", False, False),
        ("renal failures", "failure", False, False),  # one stem
    ],
)
def test_which_parts_may_be_cut_off(part, shared, first, allowed):
    kinds = Kinds([*SENTENCES, sentence("non - renal failures", (0, 1, 2, 3))], ())
    assert kinds.allow_part("ADR", words(part), words(shared), first=first) == allowed


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("renal", "hepatic", True),
        ("renal", "Chronic hepatic", True),
        ("renal", "very old hepatic", False),
        ("weight", "body Weight", False),
        ("infection", "infections", False),
        ("muscle", "muscular", False),
        ("eye", "eyes", False),
        ("vision", "visual", True),
        ("intracranial", "intraocular", True),
        ("头痛", "头晕", True),
        ("- renal", "- hepatic", True),  # signs have no stem
        ("stage 3", "lesion", False),
        ("lesion", "stage 3", False),
    ],
)
def test_which_members_are_alike(one, other, expected):
    assert alike(words(one), words(other)) == expected


def test_the_words_around_a_mention():
    both = sentence("she had Pain , or severe 3 aches", (2,), (5,), (7,))
    assert [KINDS.frame(both, mention) for mention in both.mentions] == [
        ("had", ""),
        ("", ""),
        ("", ""),
    ]
    assert KINDS.frame(SENTENCES[0], SENTENCES[0].mentions[0]) == ("had", "today")


@given(st.permutations(SENTENCES))
def test_sentences_in_another_order_say_the_same(sentences):
    other = Kinds(sentences, ("and", "or"))
    known = sorted({word for own in SENTENCES for word in own.words})
    for label in ("ADR", "Test"):
        assert [other.belong(label, (word,)) for word in known] == [
            KINDS.belong(label, (word,)) for word in known
        ]
