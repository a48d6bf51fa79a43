"""The same three texts as each tool exports them, written by hand or by the tool's own package.

`EXPORTS` has, by the name of a format, functions that fill a folder and give what commands get.
"""

from __future__ import annotations

import json

import pytest

TEXTS = ("my left leg hurt", "numb after the tablet", "pain in both hands")
FOUND = ((3, 16), (0, 4), (0, 4))
"""One entity each, of the type ADR."""

DISORDER = "Disease_Disorder"
KNOWTATOR = """<?xml version="1.0" encoding="UTF-8"?>
<annotations textSource="{name}.txt">
  <annotation>
    <mention id="M_1" /><span start="{start}" end="{end}" />
  </annotation>
  <classMention id="M_1"><mentionClass id="Disease_Disorder">x</mentionClass></classMention>
</annotations>
"""


def _each():
    """Number, text, start and end."""
    return [(n, text, *FOUND[n]) for n, text in enumerate(TEXTS)]


def _tokens():
    """The words of each text, and the indices of those of its entity."""
    made = []
    for _, text, start, end in _each():
        before = len(text[:start].split())
        made.append((text.split(), range(before, before + len(text[start:end].split()))))
    return made


def _tags():
    return [
        (words, ["O" if n not in own else "I-ADR" if n - 1 in own else "B-ADR" for n in indices])
        for words, own in _tokens()
        for indices in [range(len(words))]
    ]


def _put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def _lines(path, rows):
    return _put(path, "".join(json.dumps(row) + "\n" for row in rows))


def brat(root):
    for n, text, start, end in _each():
        _put(root / f"{n}.txt", text)
        _put(root / f"{n}.ann", f"T1\tADR {start} {end}\t{text[start:end]}\n")
    return root


def grid(root):
    rows = [
        {"sentence": words, "ner": [{"index": list(own), "type": "ADR"}], "word": []}
        for words, own in _tokens()
    ]
    return _put(root / "train.json", rows)


def inline(root):
    return _put(
        root / "train.txt",
        "".join(f"{' '.join(words)}\n{own[0]},{own[-1]} ADR\n\n" for words, own in _tokens()),
    )


def bigbio(root):
    def item(n, text, start, end):
        entity = {"id": f"{n}_T1", "type": "ADR", "text": [text[start:end]]}
        return {
            "id": str(n),
            "document_id": f"d{n}",
            "passages": [{"id": f"{n}_p", "type": "", "text": [text], "offsets": [[0, len(text)]]}],
            "entities": [{**entity, "offsets": [[start, end]], "normalized": []}],
            **{"events": [], "coreferences": [], "relations": []},
        }

    return _put(root / "train.json", [item(*each) for each in _each()])


def _document(n, text, start, end):
    entity = {"label": "ADR", "fragments": [[start, end]], "text": text[start:end]}
    return {"id": str(n), "text": text, "entities": [entity]}


def jsonl(root):
    return _lines(root / "a.jsonl", [_document(*each) for each in _each()])


def prodigy(root):
    rows = [
        {
            **{"text": text, "_input_hash": n, "_task_hash": -n, "_view_id": "ner_manual"},
            "tokens": [{"text": text.split()[0], "start": 0, "end": 2, "id": 0, "ws": True}],
            "spans": [{"start": start, "end": end, "token_start": 0, "label": "ADR"}],
            "answer": "accept",
        }
        for n, text, start, end in _each()
    ]
    return _lines(root / "annotations.jsonl", rows)


def doccano(root):
    rows = [
        {"id": n, "text": text, "label": [[start, end, "ADR"]], "Comments": []}
        for n, text, start, end in _each()
    ]
    return _lines(root / "all.jsonl", rows)


def doccano_with_relations(root):
    def row(n, text, start, end):
        entity = {"id": n, "label": "ADR", "start_offset": start, "end_offset": end}
        return {"id": n, "text": text, "entities": [entity], "relations": [], "Comments": []}

    return _lines(root / "all.jsonl", [row(*each) for each in _each()])


def label_studio(root):
    def task(n, text, start, end):
        value = {"start": start, "end": end, "text": text[start:end], "labels": ["ADR"]}
        region = {"id": "r", "from_name": "label", "to_name": "text", "type": "labels"}
        annotation = {"id": n, "result": [{**region, "value": value}], "was_cancelled": False}
        return {"id": n, "data": {"text": text}, "annotations": [annotation], "predictions": []}

    return _put(root / "project-1-at-2024-01-02-03-04.json", [task(*each) for each in _each()])


def gliner(root):
    rows = [
        {"tokenized_text": words, "ner": [[own[0], own[-1], "ADR"]]} for words, own in _tokens()
    ]
    return _put(root / "data.json", rows)


def conll(root, name="train.conll", between=" "):
    sentences = (
        "".join(f"{word}{between}{tag}\n" for word, tag in zip(*each, strict=True))
        for each in _tags()
    )
    return _put(root / name, "\n".join(sentences))


def conll_tabs(root):
    return conll(root, "train.tsv", "\t")


def hf_tokens(root):
    rows = [
        {"id": str(n), "tokens": words, "ner_tags": tags} for n, (words, tags) in enumerate(_tags())
    ]
    return _lines(root / "train.jsonl", rows)


def hf_tokens_parquet(root):
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    import pyarrow as pa

    names = ["O", "B-ADR", "I-ADR"]
    feature = {"feature": {"names": names, "_type": "ClassLabel"}, "_type": "Sequence"}
    rows = [
        {"tokens": words, "ner_tags": [names.index(tag) for tag in tags]} for words, tags in _tags()
    ]
    about = json.dumps({"info": {"features": {"ner_tags": feature}}})
    table = pa.Table.from_pylist(rows).replace_schema_metadata({"huggingface": about})
    pq.write_table(table, root / "train-00000-of-00001.parquet")
    return root


def csv(root):
    rows = ("id,text,entities\n",)
    for made in (_document(*each) for each in _each()):
        cell = json.dumps(made["entities"]).replace('"', '""')
        rows += (f'{made["id"]},{made["text"]},"{cell}"\n',)
    return _put(root / "reports.csv", "".join(rows))


def parquet(root):
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    import pyarrow as pa

    pq.write_table(
        pa.Table.from_pylist([_document(*each) for each in _each()]), root / "reports.parquet"
    )
    return root / "reports.parquet"


def spacy(root):
    package = pytest.importorskip("spacy", reason="spaCy is not installed")
    from spacy.tokens import DocBin

    nlp, bin = package.blank("en"), DocBin()
    for _, text, start, end in _each():
        doc = nlp(text)
        doc.ents = [doc.char_span(start, end, label="ADR")]
        bin.add(doc)
    bin.to_disk(root / "train.spacy")
    return root / "train.spacy"


def cas(root):
    cassis = pytest.importorskip("cassis", reason="dkpro-cassis is not installed")
    for n, text, start, end in _each():
        types = cassis.TypeSystem()
        kind = types.create_type("webanno.custom.Reaction", "uima.tcas.Annotation")
        types.create_feature(kind, "value", "uima.cas.String")
        made = cassis.Cas(types, sofa_string=text, sofa_mime="text/plain")
        made.add(kind(begin=start, end=end, value="ADR"))
        folder = root / f"{n}.txt"
        folder.mkdir()
        types.to_xml(folder / "TypeSystem.xml")
        made.to_xmi(folder / "admin.xmi")
    return root


def spans(root):
    rows = [
        {"text": text, "ents": [{"start": start, "end": end, "label": "ADR"}], "tokens": []}
        for _, text, start, end in _each()
    ]
    return _put(root / "docs.json", rows)


def cadec(root):
    for n, text, start, end in _each():
        _put(root / "text" / f"DRUG.{n}.txt", text)
        _put(root / "original" / f"DRUG.{n}.ann", f"T1\tADR {start} {end}\t{text[start:end]}\n")
    return root


def share13(root):
    train = ("Task1TrainSetCorpus199/ALLREPORTS", "Task1TrainSetGOLD199knowtatorehost/ALLSAVED")
    test = ("Task1TestSetCorpus100/ALLREPORTS", "Gold_SN2012")
    for n, text, start, end in _each():
        name = f"0000{n}"
        if n < 2:
            _put(root / train[0] / f"{name}.txt", text)
            about = KNOWTATOR.format(name=name, start=start, end=end)
            _put(root / train[1] / f"{name}.txt.knowtator.xml", about)
        else:
            _put(root / test[0] / f"{name}.txt", text)
            line = f"{name}.txt||{DISORDER}||CUI-less||{start}||{end}\n"
            _put(root / test[1] / f"{name}.txt", line)
    return root


def share14(root):
    train = (
        "2014ShAReCLEFeHealthTask2_training_corpus",
        "2014ShAReCLEFeHealthTask2_training_pipedelimited",
    )
    test = ("ShAReCLEFeHealth2104Task2_test_data_corpus", "ShAReCLEFeHealth2014_test_data_gold")
    for n, text, start, end in _each():
        texts, gold = train if n < 2 else test
        _put(root / texts / f"0000{n}.txt", text)
        line = f"0000{n}.txt|{start}-{end}|CUI-less|no|\n"
        _put(root / gold / f"0000{n}.pipe.txt", line)
    return root


def spl_adr(root):
    for n, text, start, end in _each():
        where = f'section="S1" type="AdverseReaction" start="{start}" len="{end - start}"'
        _put(
            root / f"DRUG{n}.xml",
            f'<?xml version="1.0" encoding="UTF-8"?>\n<Label drug="DRUG{n}" track="TAC2017_ADR">'
            f'<Text><Section name="adverse reactions" id="S1">{text}</Section></Text>'
            f'<Mentions><Mention id="M1" {where} str="{text[start:end]}"/></Mentions></Label>\n',
        )
    return root


EXPORTS = {
    "brat": [brat],
    "grid": [grid],
    "inline": [inline],
    "bigbio": [bigbio],
    "jsonl": [jsonl],
    "prodigy": [prodigy],
    "doccano": [doccano, doccano_with_relations],
    "label-studio": [label_studio],
    "gliner": [gliner],
    "conll": [conll, conll_tabs],
    "hf-tokens": [hf_tokens, hf_tokens_parquet],
    "csv": [csv],
    "parquet": [parquet],
    "spacy": [spacy],
    "cas": [cas],
    "spans": [spans],
    "cadec": [cadec],
    "share13": [share13],
    "share14": [share14],
    "spl-adr": [spl_adr],
}
