"""spaCy's DocBin: everything comes back, and Docs of others are read."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest
from hypothesis import given, settings

from random_documents import documents
from trigner.corpora import read, write
from trigner.mentions import Document, Entity

spacy = pytest.importorskip("spacy", reason="spaCy is not installed (extra `spacy`)")
from spacy.tokens import DocBin, Span, SpanGroup  # noqa: E402

TEXT = "Pain and cramping in my hands."


def docs_of(path):
    return list(DocBin(store_user_data=True).from_disk(path).get_docs(spacy.blank("en").vocab))


def file_of(root, *docs):
    path = root / "a.spacy"
    DocBin(docs=docs, store_user_data=True).to_disk(path)
    return path


@settings(deadline=None)
@given(made=documents(scored=True, extras=True, fields=True))
def test_nothing_is_lost(tmp_path_factory, made):
    path = tmp_path_factory.mktemp("docs") / "a.spacy"
    assert write(made, path, format="spacy").dropped == {}
    corpus = read(path)
    assert (corpus.format, corpus.documents) == ("spacy", tuple(made))


def test_spacy_sees_entities_and_spans(tmp_path):
    entities = (
        Entity("ADR", ((0, 4),), "Pain"),
        Entity("ADR", ((0, 4), (18, 29)), "Pain in my hands"),
        Entity("ADR", ((0, 17),), "Pain and cramping"),
        Entity("Half", ((9, 12),), "cra"),
    )
    write([Document("d", TEXT, entities)], tmp_path / "a.spacy", format="spacy")
    (doc,) = docs_of(tmp_path / "a.spacy")
    assert doc.text == TEXT
    assert [(e.text, e.label_) for e in doc.ents] == [("Pain and cramping", "ADR")]
    assert [s.text for s in doc.spans["trigner"]] == [
        *("Pain", "Pain", "in my hands", "Pain and cramping", "cra")
    ]


def test_docs_of_others_are_read(tmp_path):
    nlp = spacy.blank("en")
    doc = nlp(TEXT)
    doc.ents = [Span(doc, 0, 1, label="ADR", kb_id="C1")]
    doc.spans["sc"] = [Span(doc, 0, 1, label="ADR"), Span(doc, 3, 6, label="Body")]
    doc.cats = {"serious": 1.0}
    (document,) = read(file_of(tmp_path, doc)).documents
    assert (document.id, document.text, document.fields) == (
        "a-1",
        TEXT,
        {"cats": {"serious": 1.0}},
    )
    assert [(e.label, e.text, e.fields) for e in document.entities] == [
        ("ADR", "Pain", {"kb_id": "C1"}),
        ("Body", "in my hands", {}),
    ]


def test_a_name_in_a_knowledge_base_is_kept_wherever_it_stands(tmp_path):
    doc = spacy.blank("en")(TEXT)
    doc.ents = [Span(doc, 0, 1, label="ADR")]
    doc.spans["sc"] = [Span(doc, 0, 1, label="ADR", kb_id="C1")]
    (document,) = read(file_of(tmp_path, doc)).documents
    assert [(e.text, e.fields) for e in document.entities] == [("Pain", {"kb_id": "C1"})]


def test_spans_without_an_id_are_entities_of_their_own(tmp_path):
    doc = spacy.blank("en")(TEXT)
    doc.spans["trigner"] = [Span(doc, n, n + 1, label="ADR") for n in (0, 2)]
    (document,) = read(file_of(tmp_path, doc)).documents
    assert [e.text for e in document.entities] == ["Pain", "cramping"]


def test_spans_of_one_id_are_one_entity(tmp_path):
    doc = spacy.blank("en")(TEXT)
    spans = [
        Span(doc, 0, 1, label="ADR", span_id="0"),
        Span(doc, 3, 6, label="ADR", span_id="0"),
        Span(doc, 2, 3, label="ADR"),
    ]
    doc.spans["trigner"] = SpanGroup(doc, name="trigner", spans=spans, attrs={"scores": [0.5] * 3})
    path = file_of(tmp_path, doc)
    (document,) = read(path).documents
    assert [(e.text, e.score) for e in document.entities] == [
        ("Pain in my hands", 0.5),
        ("cramping", 0.5),
    ]


@pytest.mark.parametrize("content", [b"", b"junk", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_what_is_no_docbin_is_refused(tmp_path, content, refused):
    (tmp_path / "a.spacy").write_bytes(content)
    with refused("a.spacy"):
        read(tmp_path)


def test_a_small_file_that_unpacks_to_much_is_refused_before_it_is_in_memory(tmp_path, refused):
    packing = zlib.compressobj()
    pieces = [packing.compress(bytes(1 << 20)) for _ in range(60)]
    (tmp_path / "a.spacy").write_bytes(b"".join([*pieces, packing.flush()]))
    tracemalloc.start()
    try:
        with refused("a.spacy"):
            read(tmp_path, format="spacy")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_many_equal_texts_are_no_reason_to_refuse_a_file(tmp_path):
    doc = spacy.blank("en")("none")
    path = file_of(tmp_path, *[doc] * 1000)
    content = path.read_bytes()
    assert len(zlib.decompress(content)) > 100 * len(content)
    assert len(read(path).documents) == 1000


def test_ids_of_any_length_are_ids(tmp_path):
    doc = spacy.blank("en")(TEXT)
    ids = ("12345678901", "9" * 5000, "²")
    doc.spans["trigner"] = [
        Span(doc, n, n + 1, label="ADR", span_id=ids[n % 3]) for n in (0, 1, 2, 3)
    ]
    (document,) = read(file_of(tmp_path, doc)).documents
    assert [e.text for e in document.entities] == ["Pain in", "and", "cramping"]


def test_spans_without_a_label_are_bad(tmp_path, refused):
    doc = spacy.blank("en")(TEXT)
    doc.spans["trigner"] = [Span(doc, 0, 1, label="")]
    with refused("a.spacy", 1):
        read(file_of(tmp_path, doc))


def test_spans_of_one_id_and_two_labels_are_bad(tmp_path, refused):
    doc = spacy.blank("en")(TEXT)
    doc.spans["trigner"] = [Span(doc, n, n + 1, label=f"L{n}", span_id="0") for n in range(2)]
    with refused("a.spacy", 1):
        read(file_of(tmp_path, doc))


def test_a_key_twice_in_what_we_add_to_a_doc_is_refused(tmp_path, refused):
    doc = spacy.blank("en")(TEXT)
    doc.user_data["trigner_document"] = '{"id": "a", "fields": {"x": 1, "x": 2}}'
    with refused("a.spacy", 1):
        read(file_of(tmp_path, doc))
