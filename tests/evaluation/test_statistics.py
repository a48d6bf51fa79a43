"""Statistics of a small corpus, counted by hand."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from trigner.errors import TrignerError
from trigner.evaluation.statistics import (
    LONGEST_BAR,
    describe,
    gap_bars,
    plot_gaps,
    statistics_table,
)
from trigner.mentions import Document, Entity, Fragment


def entity(label: str, *fragments: Fragment) -> Entity:
    return Entity(label, fragments, "")


# Words: My(0) arms(1) and(2) legs(3) ached(4) badly(5) .(6) | No(7) fever(8) .(9)
FIRST = Document(
    "one",
    "My arms and legs ached badly. No fever.",
    (
        entity("Pain", (3, 7), (17, 22)),  # arms .. ached: 2 words of 4, a gap of 2
        entity("Pain", (3, 7), (12, 16), (23, 28)),  # 3 words of 5, two gaps of 1
        entity("Pain", (12, 16), (17, 22)),  # legs ached
        entity("Sign", (33, 38)),
        entity("Sign", (23, 28), (33, 38)),  # badly .. fever, across sentences: a gap of 2
    ),
)
SECOND = Document("two", "sore throat", (entity("Pain", (0, 11)),), ((0, 4), (5, 11)))


def test_counts_shares_and_ranges() -> None:
    assert describe([FIRST, SECOND]).as_json() == {
        "documents": 2,
        "sentences": 3,
        "entities": 6,
        "continuous": {"n": 3, "share": 0.5, "tokens": [1, 2]},
        "discontinuous": {
            "n": 3,
            "share": 0.5,
            "tokens": [2, 3],
            "extent": [4, 5],
            "gaps": {"1": 2, "2": 2},
        },
        "per_type": {
            "Pain": {
                "entities": 4,
                "continuous": {"n": 2, "share": 0.5, "tokens": [2, 2]},
                "discontinuous": {
                    "n": 2,
                    "share": 0.5,
                    "tokens": [2, 3],
                    "extent": [4, 5],
                    "gaps": {"1": 2, "2": 1},
                },
            },
            "Sign": {
                "entities": 2,
                "continuous": {"n": 1, "share": 0.5, "tokens": [1, 1]},
                "discontinuous": {
                    "n": 1,
                    "share": 0.5,
                    "tokens": [2, 2],
                    "extent": [4, 4],
                    "gaps": {"2": 1},
                },
            },
        },
    }


def test_nothing_to_describe() -> None:
    for documents in ([], [Document("none", ""), Document("given", "", words=())]):
        found = describe(documents).as_json()
        assert found["continuous"] == {"n": 0, "share": 0.0, "tokens": None}
        assert found["discontinuous"]["extent"] is None
        assert (found["documents"], found["sentences"]) == (len(documents), 0)
        assert found["per_type"] == {}


def test_parts_of_words_count_as_words_and_blanks_as_none() -> None:
    glued = Document(
        "glued",
        "tachybradycardia today",
        (entity("Sign", (0, 5), (10, 16)), entity("Sign", (16, 17)), entity("Sign", (18, 22))),
    )
    found = describe([glued]).overall
    assert (found.discontinuous.n, found.discontinuous.gaps) == (1, {0: 1})
    assert found.discontinuous.tokens == found.discontinuous.extent == (1, 1)
    assert (found.continuous.n, found.continuous.tokens) == (2, (1, 1))


def test_words_that_only_touch_an_entity_are_not_its_own() -> None:
    stop = Document("stop", "badly. No", (entity("Sign", (5, 6)), entity("Sign", (0, 5))))
    assert describe([stop]).overall.continuous.tokens == (1, 1)


@given(st.lists(st.booleans(), min_size=1, max_size=12).filter(any))
def test_words_and_gaps_make_up_the_extent(chosen: list[bool]) -> None:
    words = tuple((2 * at, 2 * at + 1) for at in range(len(chosen)))
    fragments = [word for word, marked in zip(words, chosen, strict=True) if marked]
    text = " ".join("a" * len(words))
    found = describe([Document("d", text, (entity("Sign", *fragments),), words)]).overall
    group = max(found.continuous, found.discontinuous, key=lambda kind: kind.n)
    assert group.tokens == (len(fragments), len(fragments))
    assert group.extent is not None
    assert sum(length * n for length, n in group.gaps.items()) == group.extent[0] - len(fragments)


def test_the_object_is_json_in_order_of_gap_length() -> None:
    wide = Document(
        "wide",
        "a b c d e f g h i j k l m",
        (entity("Sign", (0, 1), (24, 25)), entity("Sign", (0, 1), (4, 5))),
    )
    found = describe([wide]).as_json()
    assert list(found["discontinuous"]["gaps"]) == ["1", "11"]
    assert json.loads(json.dumps(found)) == found


def test_the_table_fits_a_terminal_and_has_a_row_a_label() -> None:
    console = Console(width=80, record=True, file=sys.stderr)
    turned = replace(FIRST, entities=FIRST.entities[::-1])
    console.print(statistics_table(describe([turned, SECOND])))
    lines = console.export_text().splitlines()
    assert lines[0].strip() == "2 documents, 3 sentences"
    rows = {line.split()[0]: line.split()[1:] for line in lines[3:6]}
    assert list(rows) == ["Pain", "Sign", "all"]
    assert rows["all"] == ["6", "3", "1–2", "3", "50.00%", "2–3", "4–5", "1–2"]
    assert statistics_table(describe([SECOND])).row_count == 2  # one type is named, too


def test_the_figure_is_written(tmp_path: Path, refused) -> None:
    pytest.importorskip("matplotlib")
    plot_gaps(describe([FIRST]), tmp_path / "gaps.svg")
    assert "<svg" in (tmp_path / "gaps.svg").read_text("utf-8")
    plot_gaps(describe([]), tmp_path / "empty.PNG")
    assert (tmp_path / "empty.PNG").read_bytes().startswith(b"\x89PNG")
    with refused(error=TrignerError):
        plot_gaps(describe([]), tmp_path / "gaps.svg", overwrite=False)
    with refused():
        plot_gaps(describe([FIRST]), tmp_path / "gaps.xyz")


def test_gaps_over_the_longest_bar_are_one_bar_and_told(tmp_path: Path) -> None:
    assert gap_bars({}) == ({}, 0)
    assert gap_bars({1: 5, LONGEST_BAR: 2}) == ({1: 5, LONGEST_BAR: 2}, 0)
    assert gap_bars({1: 5, LONGEST_BAR + 1: 2, 700: 1}) == ({1: 5}, 3)
    pytest.importorskip("matplotlib")
    words = " word" * 300
    far = Entity("Pain", ((0, 1), (len(words) + 2, len(words) + 3)), "")
    near = Entity("Pain", ((0, 1), (7, 11)), "")
    plot_gaps(describe([Document("d", f"a{words} b", (far, near, near))]), tmp_path / "gaps.svg")
    drawn = (tmp_path / "gaps.svg").read_text("utf-8")
    assert f"1 of 3 gaps have over {LONGEST_BAR}, up to 300" in drawn


def test_without_matplotlib_the_error_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    with refused(error=TrignerError):
        plot_gaps(describe([FIRST]), tmp_path / "gaps.svg")


@pytest.mark.parametrize(("part", "entities", "parted"), [("train", 9467, 684), ("dev", 1472, 108)])
@pytest.mark.corpora
def test_the_drug_labels_have_their_published_counts(part: str, entities: int, parted: int) -> None:
    folder = Path(__file__).parents[3] / "shared" / "data" / "spl-adr" / part
    if not folder.is_dir():
        pytest.skip("../shared/data/spl-adr is not there")
    corpora = pytest.importorskip("trigner.corpora")
    found = describe(corpora.read(folder, format="brat").documents).overall
    assert (found.entities, found.discontinuous.n) == (entities, parted)
