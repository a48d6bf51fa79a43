"""The guide's table says of each format what it cannot hold, and nothing that it can."""

from __future__ import annotations

from pathlib import Path

import pytest

from trigner.corpora import read, write
from trigner.corpora.formats import FORMATS, WRITABLE
from trigner.mentions import Document, Entity

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "formats.md"
TEXT = "pain in both hands"
PAIN = Entity("ADR", ((0, 4),), "pain", score=0.5, id="T7")


def table():
    """The cells of each row of "What each can hold" by the format's name."""
    part = GUIDE.read_text("utf-8").split("## What each can hold")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("| `")]
    return {cells[0].strip(" `"): [cell.strip() for cell in cells[1:]] for cells in rows}


def written(root, name, *entities):
    """What is dropped, and what comes back, of one document."""
    report = write([Document("d", TEXT, entities)], root / "out", format=name)
    (document,) = read(root / "out", format=name).documents
    return report.dropped, document


def test_each_format_that_is_written_has_a_row_and_the_others_are_named():
    assert set(table()) == set(WRITABLE)
    page = GUIDE.read_text("utf-8")
    assert all(f"`{name}`" in page for name in FORMATS)


@pytest.mark.parametrize("name", WRITABLE)
def test_a_row_says_what_its_format_loses(tmp_path, name):
    text, scores, ids, _ = table()[name]
    dropped, document = written(tmp_path, name, PAIN)
    (found,) = document.entities
    assert (found.score is not None) is (scores == "yes")
    assert bool(dropped.get("scores")) is (scores == "no")
    if ids in ("yes", "no"):
        assert (found.id == "T7") is (ids == "yes")
    assert (document.words is not None) is text.startswith("words")

    two = Entity("ADR", ((0, 4), (13, 18)), "pain hands", id="T7")
    _, document = written(tmp_path / "two", name, two)
    assert (len(document.entities) == 0) is ("no discontinuous" in text)

    over = Entity("ADR", ((0, 7),), "pain in", id="T8")
    _, document = written(tmp_path / "over", name, PAIN, over)
    assert (len(document.entities) == 1) is ("overlapping" in text)
