from __future__ import annotations

import pytest

from trigner.lab.prompting import estimate
from trigner.lab.prompting.cache import CompletionRequest
from trigner.lab.prompting.estimate import Prices, count_tokens


def test_tokens_are_pieces_of_words_marks_and_digits():
    assert count_tokens("") == count_tokens(" \n") == 0
    assert count_tokens("Pain and hyperbilirubinaemia, 12 %") == 1 + 1 + 4 + 1 + 2 + 1


def test_only_what_is_left_costs_and_equal_questions_once():
    asked = CompletionRequest("m", "one two", {"max_tokens": 100})
    other = CompletionRequest("m", "three", {"max_tokens": 100})
    told = estimate([asked, asked, other], [CompletionRequest("m", "four", {})])
    assert (told.requests, told.cached) == (2, 1)
    assert (told.prompt_tokens, told.completion_tokens) == (3, 200)
    assert told.max_cost(Prices(2.0, 10.0)) == pytest.approx((3 * 2 + 200 * 10) / 1e6)


@pytest.mark.parametrize(
    ("given", "limit"),
    [(-1, None), (0, None), (True, None), (1e3, 1000), (float("inf"), None), (float("nan"), None)],
)
def test_what_is_no_limit(given, limit):
    found = estimate([CompletionRequest("m", "p", {"max_tokens": given})], []).completion_tokens
    assert found == limit


def test_answers_without_a_limit_have_no_cost_at_most():
    told = estimate([CompletionRequest("m", "p", {})], [])
    assert told.completion_tokens is None
    assert told.max_cost(Prices(1, 1)) is None
    assert (
        estimate([CompletionRequest("m", "p", {"max_completion_tokens": 7})], []).completion_tokens
        == 7
    )
