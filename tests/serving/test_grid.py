from __future__ import annotations

from math import prod

import numpy as np
import pytest

from tiny_models import extractor
from trigner.serving.grid import grid, sentence_around

TEXT = "No pain. 😀 My left leg hurt, no pain in arm, numb after the tablet. Numb arm."


def test_the_sentence_of_a_character(refused):
    for at, words in ((0, "No pain ."), (12, "My left leg hurt ,"), (500, "Numb arm .")):
        assert words in " ".join(sentence_around(TEXT, at).words)
    with refused():
        sentence_around(" \n", 0)


def test_a_score_is_the_product_of_its_cells(extract, run):
    seen = 0
    for at in (0, 12, 80):
        sentence = sentence_around(TEXT, at)
        found = run(grid(extract, TEXT, sentence), 1)
        length = len(sentence.words)
        assert found.probabilities.shape == (length, length, len(extract.predictor.tags))
        np.testing.assert_allclose(found.probabilities.sum(axis=-1), 1)
        expected = [
            e for e in extract(TEXT).entities if e.fragments[0][0] in range(*span(sentence))
        ]
        ours = sorted((x.entity for x in found.entities), key=lambda e: (e.fragments, e.label))
        assert [(e.label, e.fragments) for e in ours] == [(e.label, e.fragments) for e in expected]
        for explained in found.entities:
            seen += 1
            cells = [found.probabilities[cell] for cell in explained.cells]
            assert prod(cells) == pytest.approx(explained.entity.score, abs=1e-6)
    assert seen > 2


def span(sentence):
    return sentence.offsets[0][0], sentence.offsets[-1][1]


def test_what_has_no_grid(extract, tiny, refused):
    long = "leg hurt numb " * 60
    with refused():
        grid(extract, long, sentence_around(long, 0))
    with refused():
        grid(extractor(tiny("corro")), TEXT, sentence_around(TEXT, 0))
