from __future__ import annotations

import numpy as np

from trigner.mentions import Mention
from trigner.schemes.corro import Corro
from trigner.schemes.sequence_decoding import Product, apart, certain, decode

CORRO = Corro(("A",))
MENTIONS = [Mention((n,), "A") for n in range(3)]


def test_a_product_is_all_pairs():
    product = Product("A", ((0, 1), (6,)), ((3,), (8,), (4, 5)))
    words = [(0, 1, 3), (0, 1, 8), (0, 1, 4, 5), (3, 6), (6, 8), (4, 5, 6)]
    assert list(product) == [Mention(own, "A") for own in words]
    assert len(product) == 6
    of_words = np.arange(9) ** 2.0
    assert product.weights(of_words).tolist() == [of_words[list(own)].sum() for own in words]


def test_mentions_apart():
    assert [mention for product in apart(MENTIONS) for mention in product] == MENTIONS
    assert apart(MENTIONS)[2].weights(np.arange(3.0)).tolist() == [2]


def test_certain_mentions_are_bounded():
    assert certain(MENTIONS, limit=3).complete
    bounded = certain(MENTIONS, limit=2)
    assert (len(bounded.mentions), bounded.complete) == (2, False)
    assert {scored.score for scored in bounded.mentions} == {1.0}


def test_scores_are_marginals_between_0_and_1_even_when_sure():
    scores = np.eye(10)[CORRO.encode([Mention((0, 2), "A")], 3).tags] * 1e4
    decoding = decode(CORRO.grammar, scores, lambda tags: [Product("A", ((0, 2),))], limit=1)
    assert [scored.score for scored in decoding.mentions] == [1.0]
    assert decode(CORRO.grammar, scores, lambda tags: [], limit=1).mentions == ()


def test_the_bound_keeps_the_likeliest_of_all_products_in_order():
    scores = np.zeros((8, 10))
    scores[:, 0] = [15, 5, 14, 12, 15, 15, 10, 15]  # outside: the reader alone finds mentions

    def read(tags):
        return [Product("A", ((0,), (1,)), ((2,), (3,))), Product("A", ((6,),))]

    def kept(limit):
        decoding = decode(CORRO.grammar, scores, read, limit=limit)
        return {scored.mention.words for scored in decoding.mentions}, decoding.complete

    assert kept(5) == ({(0, 2), (0, 3), (1, 2), (1, 3), (6,)}, True)
    assert kept(3) == ({(0, 2), (0, 3), (6,)}, False)
    assert kept(1) == ({(0, 2)}, False)
