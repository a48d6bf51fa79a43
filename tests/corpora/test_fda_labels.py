from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest

from trigner.corpora import brat, fda_labels, read, write
from trigner.corpora.reading import Reading
from trigner.mentions import Document, Entity, Extra

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "data" / "spl-adr"
REACTIONS = "\n\n   6 REACTIONS\n   numb left\n or right arm (>=2 %) &\trash\n"
BOXED = " may cause rash\n"


def mention(name, section, kind, pairs, surface):
    starts, lengths = (",".join(map(str, column)) for column in zip(*pairs, strict=True))
    attributes = {"id": name, "section": section, "type": kind}
    attributes |= {"start": starts, "len": lengths, "str": surface}
    return "<Mention " + " ".join(f"{k}={quoteattr(v)}" for k, v in attributes.items()) + "/>"


MENTIONS = (
    mention("M1", "S1", "AdverseReaction", [(20, 4), (40, 3)], "numb arm"),
    mention("M2", "S1", "AdverseReaction", [(20, 9)], "numb left"),
    mention("M3", "S1", "AdverseReaction", [(54, 4)], "rash"),
    mention("M4", "S2", "AdverseReaction", [(11, 4)], "rash"),
    mention("M5", "S2", "Severity", [(1, 3)], "may"),
)


def label(drug, sections, mentions=(), rest=""):
    inside = "\n".join(
        f'    <Section name={quoteattr(name)} id="S{number}">{escape(text)}</Section>'
        for number, (name, text) in enumerate(sections, 1)
    )
    told = "\n".join(f"    {line}" for line in mentions)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<Label drug={quoteattr(drug)} track="TAC2017_ADR">\n'
        f"  <Text>\n{inside}\n  </Text>\n  <Mentions>\n{told}\n  </Mentions>\n{rest}</Label>\n"
    )


REST = """  <Relations>
    <Relation id="RL1" type="Effect" arg1="M4" arg2="M5"/>
  </Relations>
  <Reactions>
    <Reaction id="AR1" str="rash">
      <Normalization id="AR1.N1" meddra_pt="Rash &amp; more"/>
    </Reaction>
  </Reactions>
"""
SECTIONS = (("adverse reactions", REACTIONS), ("boxed warnings", BOXED))


def put(root, name="INLYTA", content=None):
    root.mkdir(parents=True, exist_ok=True)
    text = label(name, SECTIONS, MENTIONS, REST) if content is None else content
    (root / f"{name}.xml").write_bytes(text.encode())
    return root


def test_each_section_is_a_document(tmp_path):
    reactions, boxed = read(put(tmp_path), format="spl-adr").documents
    assert (reactions.id, boxed.id) == ("INLYTA_adverse_reactions", "INLYTA_boxed_warnings")
    assert (reactions.text, boxed.text) == (REACTIONS, BOXED)
    assert [(e.id, e.label, e.text) for e in reactions.entities] == [
        ("M1", "AdverseReaction", "numb arm"),
        ("M2", "AdverseReaction", "numb left"),
        ("M3", "AdverseReaction", "rash"),
    ]
    assert reactions.entities[0].fragments == ((20, 24), (40, 43))
    assert [e.label for e in boxed.entities] == ["AdverseReaction", "Severity"]


def test_a_surface_over_a_line_end_is_the_same(tmp_path):
    lines = mention("M1", "S1", "AdverseReaction", [(25, 14)], "left\n or right")
    put(tmp_path, content=label("INLYTA", SECTIONS, [lines]))
    assert read(tmp_path).documents[0].entities[0].text == "left\n or right"


def test_fragments_in_any_order_are_sorted(tmp_path):
    turned = mention("M1", "S1", "AdverseReaction", [(40, 3), (20, 4)], "arm numb")
    put(tmp_path, content=label("INLYTA", SECTIONS, [turned]))
    assert read(tmp_path).documents[0].entities[0].fragments == ((20, 24), (40, 43))


def test_what_is_no_mention_is_kept(tmp_path):
    reactions, boxed = read(put(tmp_path), format="spl-adr").documents
    assert boxed.extras == (
        Extra("spl-adr", '<Relation id="RL1" type="Effect" arg1="M4" arg2="M5"/>'),
    )
    assert reactions.extras == (
        Extra(
            "spl-adr",
            '<Reaction id="AR1" str="rash">'
            '<Normalization id="AR1.N1" meddra_pt="Rash &amp; more"/></Reaction>',
        ),
    )


def test_labels_are_recognised_at_any_depth_and_alone(tmp_path):
    put(tmp_path / "train_xml")
    put(tmp_path / "gold_xml", "ZYTIGA")
    corpus = read(tmp_path)
    assert corpus.format == "spl-adr"
    assert [d.id.split("_")[0] for d in corpus.documents] == ["ZYTIGA"] * 2 + ["INLYTA"] * 2
    assert len(read(tmp_path / "gold_xml" / "ZYTIGA.xml").documents) == 2
    assert not fda_labels.recognises(tmp_path / "nothing")


def test_unannotated_labels_have_no_entities(tmp_path):
    content = label("INLYTA", SECTIONS).replace("  <Mentions>\n\n  </Mentions>\n", "")
    assert [d.entities for d in read(put(tmp_path, content=content)).documents] == [(), ()]


@pytest.mark.parametrize(
    "line",
    [
        mention("M9", "S1", "A", [(50, 40)], "rash"),
        mention("M9", "S1", "A", [(50, 0)], ""),
        mention("M9", "S7", "A", [(1, 3)], "may"),
        mention("M1", "S2", "A", [(1, 3)], "may"),
        mention("M9", "S1", "A", [(20, 4)], "dumb"),
        mention("M9", "S1", "", [(20, 4)], "numb"),
        '<Mention id="M9" section="S1" type="A" start="20" len="4,3" str="numb"/>',
        '<Mention id="M9" section="S1" type="A" start="-1" len="4" str="numb"/>',
        '<Mention id="M9" section="S1" type="A" len="4" str="numb"/>',
        mention("M9", "S1", "A", [(20, 4), (22, 4)], "numb mb l"),
    ],
)
def test_bad_mentions_are_named_by_file_and_line(tmp_path, line, refused):
    put(tmp_path, content=label("INLYTA", SECTIONS, [*MENTIONS, line]))
    at = next(
        n
        for n, found in enumerate((tmp_path / "INLYTA.xml").read_text().split("\n"), 1)
        if line in found
    )
    with refused("INLYTA.xml", at):
        read(tmp_path, format="spl-adr")
    corpus = read(tmp_path, format="spl-adr", skip_bad=True)
    assert sum(len(document.entities) for document in corpus.documents) == len(MENTIONS)
    assert sum("left out" in str(notice) for notice in corpus.notices) == 1


@pytest.mark.parametrize(
    "content",
    [
        "<Label drug='X'>\n<Text></Label>",
        "<!DOCTYPE Label []>\n<Label drug='X'/>",
        "<annotations/>",
        "<Label><Text/></Label>",
        "<Label drug='X'><Text/></Label>",
        label("X", SECTIONS).replace('id="S2"', 'id="S1"'),
        "<Label drug='X'><Text>\n<Section id='S1' name='a'>b <b/></Section></Text></Label>",
    ],
)
def test_files_that_are_no_labels_are_refused(tmp_path, content, refused):
    put(tmp_path, content=content)
    with refused("INLYTA.xml"):
        read(tmp_path, format="spl-adr", skip_bad=True)


def test_two_files_on_one_label_are_refused(tmp_path, refused):
    put(tmp_path / "a")
    put(tmp_path / "b")
    with refused(tmp_path):
        read(tmp_path, format="spl-adr")


def test_parts_are_lists_of_drugs_whose_labels_bear_product_names(tmp_path):
    for name in ("INLYTA", "ZYTIGA", "ELIQUIS", "ADCETRIS", "OTHER"):
        put(tmp_path, name)
    corpus = read(tmp_path, format="spl-adr", split="dev")
    assert [d.id for d in corpus.documents][::2] == [
        "INLYTA_adverse_reactions",
        "ZYTIGA_adverse_reactions",
    ]
    told = [notice.message for notice in corpus.notices]
    assert told[0].startswith("10 of 12 documents of the part 'dev' missing: ")
    assert told[1] == "1 document in no list: OTHER"
    assert told[2].endswith("the project's split of SPL-ADR-200db reports 1,472")
    assert len(read(tmp_path, split="test").documents) == 2


def test_a_part_of_which_nothing_is_there(tmp_path, refused):
    with refused(tmp_path):
        read(put(tmp_path), format="spl-adr", split="test")


def brat_folder(root, *names):
    for name in names:
        rash = Entity("AdverseReaction", ((11, 15),), "rash", id="T1")
        write([Document(f"{name}_boxed_warnings", BOXED, (rash,))], root, format="brat")
    return root


def test_labels_as_brat_files_have_the_same_parts(tmp_path):
    brat_folder(tmp_path / "one", "AXITINIB", "APIXABAN")
    brat_folder(tmp_path / "two", "AVANAFIL")
    found = read(tmp_path, format="spl-adr", split="dev").documents
    assert [document.id for document in found] == [
        "one/AXITINIB_boxed_warnings",
        "two/AVANAFIL_boxed_warnings",
    ]
    assert found[0].entities[0].text == "rash"


def test_a_folder_without_labels_says_what_was_looked_for(tmp_path, refused):
    (tmp_path / "notes.txt").write_text("x")
    with refused(tmp_path):
        read(tmp_path, format="spl-adr")


def test_files_beside_the_labels_are_counted(tmp_path):
    put(tmp_path)
    for name in ("readme.txt", "x.ann"):
        (tmp_path / name).write_text("x")
    messages = [notice.message for notice in read(tmp_path).notices]
    assert "2 files skipped, no labels" in messages


def test_xml_and_brat_together_are_refused(tmp_path, refused):
    put(brat_folder(tmp_path, "AXITINIB"))
    with refused(tmp_path):
        read(tmp_path, format="spl-adr")


@pytest.mark.corpora
def test_real_labels_written_as_xml_read_back_the_same(tmp_path):
    if not CORPUS.is_dir():
        pytest.skip("../shared/data/spl-adr is not next to the checkout")
    gold = {d.id: d for d in brat.read(CORPUS / "dev", Reading())}
    drugs = sorted({name.split("_")[0] for name in gold})
    for drug in drugs:
        sections = {n: d for n, d in sorted(gold.items()) if n.startswith(f"{drug}_")}
        lines = [
            mention(
                f"{number}.{e.id}",
                f"S{number}",
                e.label,
                [(start, end - start) for start, end in e.fragments],
                e.text,
            )
            for number, document in enumerate(sections.values(), 1)
            for e in document.entities
        ]
        texts = [
            (n.removeprefix(f"{drug}_").replace("_", " "), d.text) for n, d in sections.items()
        ]
        put(tmp_path, drug, label(drug, texts, lines))
    corpus = read(tmp_path, format="spl-adr", split="dev")
    assert corpus.notices == ()  # nothing missing, and the counts of the part are the known ones
    assert {d.id: d.text for d in corpus.documents} == {d.id: d.text for d in gold.values()}
    for document in corpus.documents:
        expected = gold[document.id]
        assert [(e.label, e.fragments, e.text) for e in document.entities] == [
            (e.label, e.fragments, e.text) for e in expected.entities
        ]
        assert [e.id.split(".")[1] for e in document.entities] == [e.id for e in expected.entities]


@pytest.mark.corpora
@pytest.mark.parametrize("part", ["train", "dev", "test"])
def test_the_lists_make_up_the_parts(part):
    if not CORPUS.is_dir():
        pytest.skip("../shared/data/spl-adr is not next to the checkout")
    corpus = read(CORPUS, format="spl-adr", split=part)
    # Its licence is next to the parts: reported, but nothing of the corpus is missing.
    assert [n for n in corpus.notices if "in no known format" not in n.message] == []
    names = {document.id.split("/")[1] for document in corpus.documents}
    assert names == {file.stem for file in (CORPUS / part).glob("*.txt")}
