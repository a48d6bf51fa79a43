"""Documents as data frames."""

from __future__ import annotations

import pickle

import pytest

import trigner
from trigner.mentions import Document, Entity

pytest.importorskip("pandas", reason="pandas is not installed (extra `tables`)")

TEXT = "pain in my hands"
ENTITY = Entity("ADR", ((0, 4), (11, 16)), "pain hands", 0.5, "T1", {"negated": True, "start": "x"})
DOCUMENT = Document("d", TEXT, (ENTITY,), fields={"patient": "p1", "negated": 3, "label": 7})


def test_a_row_is_an_entity():
    frame = trigner.to_dataframe([DOCUMENT, Document("none", TEXT)])
    assert frame.to_dict("records") == [
        {
            "document": "d",
            "label": "ADR",
            "text": "pain hands",
            "start": 0,
            "end": 16,
            "fragments": ((0, 4), (11, 16)),
            "score": 0.5,
            "id": "T1",
            "negated": True,
            "entity.start": "x",
            "patient": "p1",
            "document.negated": 3,
            "document.label": 7,
        }
    ]
    assert trigner.to_dataframe([DOCUMENT]).equals(frame)


def test_a_single_document_is_as_a_list_of_it():
    frame = trigner.to_dataframe(DOCUMENT)
    assert frame.equals(trigner.to_dataframe([DOCUMENT]))


def test_columns_are_there_when_nothing_is_found():
    frame = trigner.to_dataframe(Document("d", TEXT))
    assert list(frame.columns) == [
        *("document", "label", "text", "start", "end", "fragments", "score", "id")
    ]
    assert len(frame) == 0
    assert frame["score"].dtype == "float64"


def test_documents_can_be_pickled():
    assert pickle.loads(pickle.dumps(DOCUMENT)) == DOCUMENT


def test_without_pandas_it_says_what_to_install(monkeypatch, refused):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with refused(error=trigner.errors.TrignerError):
        trigner.to_dataframe(DOCUMENT)
