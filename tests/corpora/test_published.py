from __future__ import annotations

from pathlib import Path

import pytest

from trigner.corpora.formats import FORMATS
from trigner.corpora.published import Counts, compared
from trigner.corpora.reading import Reading
from trigner.mentions import Document, Entity

TEXT = "sore left arm and leg"


def entity(label, *fragments):
    return Entity(label, fragments, " ".join(TEXT[a:b] for a, b in fragments))


WHOLE = entity("ADR", (0, 13))
PARTED = entity("ADR", (0, 4), (18, 21))
OTHER = entity("Drug", (5, 9))


def told(documents, expected):
    reading = Reading()
    assert list(compared(documents, expected, reading, path=Path("corpus"))) == list(documents)
    return [str(notice) for notice in reading.notices]


def test_nothing_is_told_when_counts_agree():
    documents = [Document("a", TEXT, (WHOLE, PARTED, OTHER))]
    assert told(documents, Counts(None, 3, 1)) == []
    assert told(documents, Counts(None, 2, 1, label="ADR")) == []
    assert told(documents, None) == []


def test_differences_are_told_and_nothing_else_happens():
    documents = [Document("a", TEXT, (WHOLE,)), Document("b", TEXT, (OTHER,))]
    assert told(documents, Counts(7, 6318, 679, label="ADR")) == [
        "corpus: read 1 ADR mentions; the paper reports 6,318",
        "corpus: read 0 discontinuous ADR mentions; the paper reports 679",
    ]


def test_annotations_of_the_same_characters_count_once_where_the_paper_does_so():
    documents = [Document("a", TEXT, (PARTED, PARTED))]
    assert told(documents, Counts(None, 1, 1, distinct=True)) == []
    assert len(told(documents, Counts(None, 1, 1))) == 2


def test_mentions_that_cross_sentences_are_allowed_for():
    documents = [Document("a", TEXT, (WHOLE, PARTED))]
    assert told(documents, Counts(None, 1, 0, crossing=1)) == []
    assert told(documents, Counts(None, 2, 0, crossing=1)) == [
        "corpus: read 2 mentions; the paper reports 2 and leaves out 1 that cross sentences"
    ]


@pytest.mark.parametrize(
    ("name", "split", "mentions", "discontinuous"),
    [
        ("cadec", None, 6318, 679),
        ("share13", None, 11148, 1088),
        ("share14", None, 19073, 1658),
        ("share14", "test", 7922, 566),
        ("spl-adr", "dev", 1472, 108),
    ],
)
def test_expected_counts(name, split, mentions, discontinuous):
    counts = FORMATS[name].published[split]
    assert (counts.mentions, counts.discontinuous) == (mentions, discontinuous)


def test_nothing_is_expected_of_formats_that_are_no_corpus():
    assert FORMATS["brat"].published == {}
    assert "dev" not in FORMATS["share13"].published


@pytest.mark.parametrize("name", ["cadec", "share13", "share14"])
def test_the_parts_add_up_to_the_whole(name):
    published = FORMATS[name].published
    whole = published[None]
    parts = [counts for part, counts in published.items() if part is not None]
    assert sum(part.mentions for part in parts) == whole.mentions
    assert sum(part.discontinuous for part in parts) == whole.discontinuous
    assert sum(part.crossing for part in parts) == whole.crossing
    if all(part.sentences for part in parts):
        assert sum(part.sentences for part in parts) == whole.sentences
