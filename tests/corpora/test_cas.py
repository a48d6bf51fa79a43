"""UIMA CAS XMI: layers of INCEpTION are entities; hostile XML does nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from random_documents import documents
from trigner.corpora import read, write
from trigner.errors import InputError
from trigner.mentions import Document, Entity

cassis = pytest.importorskip("cassis", reason="dkpro-cassis is not installed (extra `cas`)")

TEXT = "Pain \U0001f635 and cramping in my hands."


def export(root, add, *, layers=("webanno.custom.Drug",), text=TEXT):
    """A folder as INCEpTION exports it; `add(cas, types)` annotates the text."""
    types = cassis.TypeSystem()
    annotation = "uima.tcas.Annotation"
    for name in layers:
        kind = types.create_type(name, annotation)
        for feature in ("value", "dose"):
            types.create_feature(kind, feature, "uima.cas.String")
    relation = types.create_type("webanno.custom.Discontinuous", annotation)
    for feature in ("Governor", "Dependent"):
        types.create_feature(relation, feature, annotation)
    cas = cassis.Cas(types, sofa_string=text, sofa_mime="text/plain")
    add(cas, types)
    types.to_xml(root / "TypeSystem.xml")
    (root / "doc.txt").mkdir()
    cas.to_xmi(root / "doc.txt" / "ann.xmi")
    return root / "doc.txt" / "ann.xmi"


@settings(deadline=None, max_examples=50)
@given(made=documents())
def test_entities_come_back(tmp_path_factory, made):
    folder = tmp_path_factory.mktemp("cas")
    try:
        report = write(made, folder, format="cas")
    except InputError:
        return  # a text that XML cannot hold
    corpus = read(folder)
    assert corpus.format == "cas"
    assert report.dropped["entity ids"] == sum(len(d.entities) for d in made)
    for before, after in zip(made, corpus.documents, strict=True):
        assert (after.id, after.text) == (before.id, before.text)
        assert [(e.label, e.fragments) for e in after.entities] == [
            (e.label, e.fragments) for e in before.entities
        ]


def test_own_layers_are_read(tmp_path):
    def add(cas, types):
        drug = types.get_type("webanno.custom.Drug")
        one, other = drug(begin=0, end=4, dose="5 mg"), drug(begin=11, end=19)
        cas.add_all([one, other, drug(begin=0, end=4, value="X")])
        relation = types.get_type("webanno.custom.Discontinuous")
        cas.add(relation(begin=0, end=4, Governor=other, Dependent=one))

    path = export(tmp_path, add)
    for where, id in ((tmp_path, "doc.txt/ann"), (path, "ann")):
        corpus = read(where)
        assert corpus.notices == ()
        (document,) = corpus.documents
        assert (document.id, document.text) == (id, TEXT)
        assert {(e.label, e.text, e.fields.get("dose")) for e in document.entities} == {
            ("Drug", "Pain cramping", "5 mg"),
            ("X", "Pain", None),
        }


def test_what_is_not_read_is_counted(tmp_path):
    def add(cas, types):
        cas.add(types.get_type("org.example.Chunk")(begin=0, end=4))

    export(tmp_path, add, layers=("org.example.Chunk",))
    assert [n.message for n in read(tmp_path).notices] == [
        "the layer Chunk is not read: 1 annotation"
    ]


def test_other_views_are_counted(tmp_path):
    def add(cas, types):
        gold = cas.create_view("Gold")
        gold.sofa_string = "pain"
        gold.add_all([types.get_type("webanno.custom.Drug")(begin=0, end=n) for n in (2, 4)])
        cas.create_view("empty")

    export(tmp_path, add)
    corpus = read(tmp_path)
    assert corpus.documents[0].text == TEXT
    assert [n.message for n in corpus.notices] == [
        "the view 'Gold' is not read: it has 2 annotations and 4 characters"
    ]


def test_the_only_view_with_a_text_is_read(tmp_path):
    def add(cas, types):
        gold = cas.create_view("Gold")
        gold.sofa_string = TEXT
        gold.add(types.get_type("webanno.custom.Drug")(begin=0, end=4))

    export(tmp_path, add, text=None)
    corpus = read(tmp_path)
    assert corpus.notices == ()
    assert [e.text for e in corpus.documents[0].entities] == ["Pain"]
    assert corpus.documents[0].text == TEXT


def test_joined_spans_of_two_labels_are_bad(tmp_path, refused):
    def add(cas, types):
        drug = types.get_type("webanno.custom.Drug")
        one, other = drug(begin=0, end=4, value="X"), drug(begin=11, end=19, value="Y")
        cas.add_all([one, other])
        relation = types.get_type("webanno.custom.Discontinuous")
        cas.add(relation(begin=0, end=4, Governor=one, Dependent=other))

    export(tmp_path, add)
    with refused("ann.xmi"):
        read(tmp_path)
    corpus = read(tmp_path, skip_bad=True)
    assert (corpus.left_out, len(corpus.documents[0].entities)) == (1, 2)


def test_codes_are_written_and_all_else_is_counted(tmp_path):
    entity = Entity("ADR", ((0, 4),), "Pain", 0.5, "T1", {"identifier": "C1", "negated": True})
    report = write([Document("d", TEXT, (entity,), fields={"a": 1})], tmp_path, format="cas")
    assert {k: n for k, n in report.dropped.items() if n} == {
        "scores": 1,
        "entity ids": 1,
        "fields of documents": 1,
        "fields of entities": 1,
    }
    (document,) = read(tmp_path).documents
    assert document.entities[0].fields == {"identifier": "C1"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("TypeSystem.xml", "<typeSystem", "<!DOCTYPE x><typeSystem"),
        ("doc.txt/ann.xmi", "<xmi:XMI", "<!DOCTYPE x><xmi:XMI"),
        ("TypeSystem.xml", ">dose<", ">x=print(1), y<"),
        ("TypeSystem.xml", ">webanno.custom.Drug<", ">a b<"),
        ("doc.txt/ann.xmi", 'end="4"', 'end="4000"'),
        ("doc.txt/ann.xmi", 'end="4"', 'end="x"'),
        ("doc.txt/ann.xmi", "</xmi:XMI>", ""),
        ("doc.txt/ann.xmi", "<xmi:XMI", "<a>" * 200 + "<xmi:XMI"),
    ],
)
def test_hostile_files_are_refused(tmp_path, name, old, new, refused):
    def add(cas, types):
        cas.add(types.get_type("webanno.custom.Drug")(begin=0, end=4, dose="1"))

    export(tmp_path, add)
    content = (tmp_path / name).read_text("utf-8")
    assert old in content
    (tmp_path / name).write_text(content.replace(old, new, 1), "utf-8")
    with refused():
        read(tmp_path)


def test_a_file_without_its_types_is_refused(tmp_path, refused):
    export(tmp_path, lambda cas, types: None)
    (tmp_path / "TypeSystem.xml").unlink()
    with refused("ann.xmi"):
        read(tmp_path)


@pytest.mark.parametrize("argument", ["ann.xmi", "."])
def test_types_may_lie_above_what_is_read(tmp_path, monkeypatch, argument):
    export(tmp_path, lambda cas, types: None)
    monkeypatch.chdir(tmp_path / "doc.txt")
    assert len(read(argument).documents) == 1


@pytest.mark.parametrize(
    "document",
    [
        Document("d", "a\x00b"),
        Document("d", "a\ufffe"),
        Document("d", "a", (Entity("\x1b", ((0, 1),), "a"),)),
        Document("good.xmi/d", "a"),
        Document("TypeSystem.xml/d", "a"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is(tmp_path, document, refused):
    with refused("new"):
        write([Document("good", "a"), document], tmp_path / "new", format="cas")
    assert list(tmp_path.iterdir()) == []
    with refused(tmp_path):
        write(iter([Document("good", "a"), document]), tmp_path, format="cas")
    with refused("good.xmi"):
        read(tmp_path)
