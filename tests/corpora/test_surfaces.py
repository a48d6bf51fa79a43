from __future__ import annotations

from pathlib import Path

import pytest

from trigner.corpora.reading import Reading
from trigner.corpora.surfaces import Surfaces

TEXT = "arms that  tingle\nat night"
ARMS, TINGLE, NIGHT = (0, 4), (11, 17), (21, 26)


def notes(claimed, *given):
    reading = Reading()
    Surfaces(reading).check(claimed, TEXT, given, path=Path("a.ann"), line=3)
    return [str(notice) for notice in reading.notices]


@pytest.mark.parametrize(
    ("claimed", "given"),
    [
        ("arms tingle", (ARMS, TINGLE)),
        ("tingle arms", (TINGLE, ARMS)),
        ("arms tingle", (TINGLE, ARMS)),
        ("arms ... tingle", (ARMS, TINGLE)),
        (" that tingle at ", ((4, 20),)),
    ],
)
def test_order_white_space_and_dots_for_a_gap_do_not_matter(claimed, given):
    assert notes(claimed, *given) == []


def test_other_words_are_reported():
    assert notes("arm tingles", ARMS, TINGLE) == [
        "a.ann:3: annotated text 'arm tingles' differs from the text at its offsets,"
        " 'arms tingle'; the offsets are used"
    ]


def judged(differing, checked):
    surfaces = Surfaces(Reading())
    for number in range(checked):
        claimed = "legs" if number < differing else "arms"
        surfaces.check(claimed, TEXT, [ARMS], path=Path("a"), line=1)
    surfaces.check_total(path=Path("corpus"))
    return surfaces.differing, surfaces.checked


@pytest.mark.parametrize(("differing", "checked"), [(0, 0), (5, 5), (8, 400)])
def test_a_few_that_differ_are_let_pass(differing, checked):
    assert judged(differing, checked) == (differing, checked)


@pytest.mark.parametrize(("differing", "checked"), [(6, 6), (6, 100), (9, 400)])
def test_many_that_differ_are_refused(differing, checked, refused):
    with refused("corpus"):
        judged(differing, checked)
