"""Readers of every format. A corpus of several files is one input: they follow one another."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree

from trials.targets import Target
from trigner.corpora import read, write
from trigner.corpora.formats import FORMATS, WRITABLE
from trigner.corpora.words import document_of
from trigner.errors import TrignerError
from trigner.mentions import Document, Entity, Extra, Mention

BETWEEN = b"\n=====\n"
"""What stands between the files of an input."""

TEXT = "My left arm and both feet went numb.\nStopped taking Xyl – no trouble 😵 since.\r\nEnd"
KNOWTATOR = b"""<?xml version="1.0" encoding="UTF-8"?>
<annotations textSource="1.txt">
    <annotation>
        <mention id="E1" /><annotator id="01">someone</annotator>
        <span start="8" end="11" /><span start="31" end="35" />
        <spannedText>arm ... numb</spannedText>
    </annotation>
    <classMention id="E1">
        <hasSlotMention id="E2" />
        <mentionClass id="Disease_Disorder">arm ... numb</mentionClass>
    </classMention>
    <stringSlotMention id="E2">
        <mentionSlot id="associatedCode" /><stringSlotMentionValue value="C0000001" />
    </stringSlotMention>
</annotations>
"""
PIPES = (
    b"2.txt||Disease_Disorder||C0000001||8||11||31||35\n2.txt||Disease_Disorder||CUI-less||0||2\n"
)
REST = (
    b"|C0000001|no|null|patient|null|no|null|unmarked|null|unmarked|null|false|null|false|null"
    b"|CUI-less|null|\n"
)
LABEL = b"""<?xml version="1.0" encoding="UTF-8"?>
<Label drug="X" track="TAC2017_ADR">
  <Text>
    <Section name="adverse reactions" id="S1">numb left or right arm (&gt;=2 %) &amp; rash</Section>
    <Section name="boxed warnings" id="S2"> may cause rash</Section>
  </Text>
  <Mentions>
    <Mention id="M1" section="S1" type="AdverseReaction" start="0,19" len="4,3" str="numb arm"/>
    <Mention id="M2" section="S2" type="AdverseReaction" start="11" len="4" str="rash"/>
  </Mentions>
  <Relations><Relation id="RL1" type="Effect" arg1="M1" arg2="M2"/></Relations>
  <Reactions><Reaction id="AR1" str="rash"><Normalization id="AR1.N1"/></Reaction></Reactions>
</Label>
"""
ANN = (
    b"T1\tADR 8 11;31 35\tarm numb\nT2\tDrug 52 55\tXyl\nA1\tNegated T1\n#1\tAnnotatorNotes T1\tx\n"
    b"R1\tCauses Arg1:T2 Arg2:T1\n*\tEquiv T1 T2\nE1\tADR:T1\nN1\tReference T1 M:1\tx\n"
)
SPANS = (
    b'[{"text": "numb arm", "annotations": [{"start": 0, "end": 4, "label": "ADR"}]}]',
    b'{"id": "a", "text": "numb arm", "spans": [[5, 8, "A"], {"start": 0, "end": 4, "tag": "X"}]}',
)
CORPORA: Mapping[str, Mapping[str, bytes]] = {
    "brat": {"a.txt": TEXT.encode(), "a.ann": ANN},
    "cadec": {"text/A.1.txt": TEXT.encode(), "original/A.1.ann": ANN[:84]},
    "share13": {
        "train/text/1.txt": TEXT.encode(),
        "train/ann/1.txt.knowtator.xml": KNOWTATOR,
        "test/text/2.txt": TEXT.encode(),
        "test/ann/2.txt": PIPES,
    },
    "share14": {
        "train/text/1.txt": TEXT.encode(),
        "train/ann/1.pipe.txt": b"1.txt|8-11,31-35" + REST,
        "test/text/2.txt": TEXT.encode(),
        "test/ann/2.pipe.txt": b"2.txt|0-2" + REST,
    },
    "spl-adr": {"X.xml": LABEL},
}
"""Formats of several files, or of none that is written here: names and contents."""

ENDINGS = {
    **{"conll": "conll", "inline": "txt", "grid": "json", "bigbio": "json", "gliner": "json"},
    **{"label-studio": "json", "csv": "csv", "parquet": "parquet", "spacy": "spacy"},
}


def reader(name: str, folder: Path) -> Target:
    """The reader of a format; `any` recognises formats."""
    corpora = {**{n: _written(n, folder / "seeds") for n in _WRITTEN}, **CORPORA}
    corpora["spans"] = {"a.json": SPANS[0]}
    rmtree(folder / "seeds", ignore_errors=True)
    if name == "any":
        endings = ("json", "jsonl", "txt", "ann", "xml", "conll", "gz", "x")
        contents = [c for files in corpora.values() for c in files.values()]
        names: tuple[str, ...] = ("a",)
    else:
        endings, names = (), tuple(corpora[name])
        contents = [BETWEEN.join(corpora[name].values()), *(SPANS if name == "spans" else ())]

    def check(data: bytes) -> None:
        chosen = zlib.crc32(data)
        root = folder / "corpus"
        try:
            for own, content in zip(names, data.split(BETWEEN, len(names) - 1), strict=False):
                ending = f".{endings[chosen % len(endings)]}" if endings else ""
                path = root / f"{own}{ending}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            corpus = read(
                root,
                format=None if name == "any" else name,
                skip_bad=bool(chosen & 8),
                encoding="auto" if chosen & 16 else "utf-8",
                missing_annotations="error" if chosen & 32 else "empty",
            )
            for document in corpus.documents:
                check_document(document)
        finally:
            rmtree(root, ignore_errors=True)

    return Target(contents, check)


ROWS: Mapping[str, tuple[bytes, ...]] = {
    "csv": (b'id,text,n\n1,numb arm,2\n2,"a, ""b""\nc",3\n', b"\xef\xbb\xbftext\nx\n"),
    "jsonl": (b'{"id": 1, "text": "numb arm", "n": [1]}\n{"text": null}\n\n{"text": "x"}\n',),
    "parquet": (),
}


def rows(kind: str, folder: Path) -> Target:
    """Tables of texts: every row comes once, in order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from trigner.pipeline.bulk.ranges import Ranges
    from trigner.pipeline.bulk.reading import batches
    from trigner.pipeline.bulk.shapes import chosen_columns, look_at
    from trigner.pipeline.bulk.sources import find_sources

    path = folder / f"a.{kind}"
    seeds = ROWS[kind]
    if kind == "parquet":
        table = pa.table({"id": [1, 2, 3], "text": ["numb arm", None, "x" * 50], "n": [0.5] * 3})
        pq.write_table(table, path, row_group_size=2)
        seeds = (path.read_bytes(),)

    def check(data: bytes) -> None:
        path.write_bytes(data)
        sources, _ = find_sources([str(path)], out=folder / "out")
        [shape] = look_at(sources)
        if isinstance(shape, TrignerError):
            raise shape
        columns = chosen_columns([(sources[0], shape)], text="text", id=None, keep=())
        end = 0
        for batch in batches(0, sources[0], columns, Ranges()):
            assert batch.first >= end, (batch.first, end)
            assert batch.rows == len(batch.kept) > 0, batch
            end = batch.end
        assert shape.rows in (None, end), (shape.rows, end)

    return Target([*seeds], check)


def check_document(document: Document) -> None:
    """Entities lie in their text, and say what stands there."""
    document.text.encode("utf-8")
    for entity in document.entities:
        bounds = [place for fragment in entity.fragments for place in fragment]
        assert bounds == sorted(bounds), entity
        assert 0 <= bounds[0] < bounds[-1] <= len(document.text), entity
        assert entity.text == document.surface(entity.fragments), entity
        assert entity.label, entity


_WRITTEN = [name for name in WRITABLE if name != "brat"]


def _written(name: str, folder: Path) -> dict[str, bytes]:
    """Two small documents in a format, by name of their files."""
    words = document_of("b", ["no", "pain", "in", "my", "arm"], [Mention((1, 4), "ADR")])
    spans = (((8, 11), (31, 35)), ((52, 55),))
    entities = tuple(
        Entity(label, own, " ".join(TEXT[a:b] for a, b in own), 0.5, f"T{n}", {"x": [1]})
        for n, (label, own) in enumerate(zip(("ADR", "Drug"), spans, strict=True), 1)
    )
    raw = Document("a", TEXT, entities, extras=(Extra("brat", "#1\tNote T1\tx"),), fields={"y": 1})
    folder = folder / name
    folder.mkdir(parents=True)
    ending = ENDINGS.get(name, "jsonl")
    path = folder if FORMATS[name].writes_folder else folder / f"a.{ending}"
    write([raw, words], path, format=name)
    return {own.name: own.read_bytes() for own in folder.iterdir() if own.is_file()}
