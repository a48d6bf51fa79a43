from __future__ import annotations

import pytest

from trigner.prompting import Prices, Question, estimate
from trigner.prompting.estimate import tokens


def test_tokens_are_pieces_of_words_marks_and_digits():
    assert tokens("") == tokens(" \n") == 0
    assert tokens("Pain and hyperbilirubinaemia, 12 %") == 1 + 1 + 4 + 1 + 2 + 1


def test_only_what_is_left_costs_and_equal_questions_once():
    asked = Question("m", "one two", {"max_tokens": 100})
    other = Question("m", "three", {"max_tokens": 100})
    told = estimate([asked, asked, other], [Question("m", "four", {})])
    assert (told.questions, told.recorded) == (2, 1)
    assert (told.prompt_tokens, told.answer_tokens) == (3, 200)
    assert told.most(Prices(2.0, 10.0)) == pytest.approx((3 * 2 + 200 * 10) / 1e6)


def test_answers_without_a_limit_have_no_cost_at_most():
    told = estimate([Question("m", "p", {})], [])
    assert told.answer_tokens is None
    assert told.most(Prices(1, 1)) is None
    assert estimate([Question("m", "p", {"max_completion_tokens": 7})], []).answer_tokens == 7
