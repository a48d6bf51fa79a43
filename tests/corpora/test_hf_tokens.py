"""Hugging Face's token datasets: tags as words or numbers, in JSON lines and Parquet."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from random_documents import LABELS
from trigner.corpora import read, write
from trigner.corpora.words import document_of
from trigner.mentions import Mention

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `tables`)")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed (extra `tables`)")

WORDS = ["my", "left", "leg", "hurts"]
TAGS = ["O", "B-ADR", "I-ADR", "O"]
NAMES = ["O", "B-ADR", "I-ADR"]
FEATURES = {"ner_tags": {"feature": {"names": NAMES, "_type": "ClassLabel"}, "_type": "List"}}
EXPECTED = document_of("a-1", WORDS, [Mention((1, 2), "ADR")])


def lines(root, *rows, name="a.jsonl"):
    (root / name).write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return root / name


@pytest.mark.parametrize("words", ["tokens", "words"])
@pytest.mark.parametrize("tags", ["ner_tags", "tags", "labels"])
def test_sentences_are_recognised_and_read(tmp_path, words, tags):
    corpus = read(lines(tmp_path, {words: WORDS, tags: TAGS}))
    assert (corpus.format, corpus.documents, corpus.notices) == ("hf-tokens", (EXPECTED,), ())


@pytest.mark.parametrize("info", [{"features": FEATURES}, {"default": {"features": FEATURES}}])
def test_numbers_of_tags_are_named_by_the_dataset(tmp_path, info, refused):
    path = lines(tmp_path, {"tokens": WORDS, "ner_tags": [0, 1, 2, 0]})
    with refused("a.jsonl", 1):
        read(path)
    (tmp_path / "dataset_info.json").write_text(json.dumps(info))
    for where in (path, tmp_path):
        assert read(where).documents == (EXPECTED,)


def test_parquet_names_its_tags_itself(tmp_path):
    table = pa.table({"tokens": [WORDS], "ner_tags": [[0, 1, 2, 0]], "lang": ["en"]})
    about = json.dumps({"info": {"features": FEATURES}})
    pq.write_table(table.replace_schema_metadata({"huggingface": about}), tmp_path / "a.parquet")
    corpus = read(tmp_path)
    assert corpus.format == "hf-tokens"
    (document,) = corpus.documents
    assert (document.entities, document.fields) == (EXPECTED.entities, {"lang": "en"})


def test_a_key_twice_in_what_names_the_tags_is_refused(tmp_path, refused):
    info = f'{{"features": {{}}, "features": {json.dumps(FEATURES)}}}'
    path = lines(tmp_path, {"tokens": WORDS, "ner_tags": [0, 1, 2, 0]})
    (tmp_path / "dataset_info.json").write_text(info)
    with refused("dataset_info.json"):
        read(path)
    table = pa.table({"tokens": [WORDS], "ner_tags": [[0, 1, 2, 0]]})
    pq.write_table(table.replace_schema_metadata({"huggingface": info}), tmp_path / "a.parquet")
    with refused("a.parquet"):
        read(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    "row",
    [
        {"tokens": WORDS, "ner_tags": ["O"]},
        {"tokens": WORDS, "ner_tags": [*TAGS[:3], "ADR"]},
        {"tokens": [*WORDS[:3], 3], "ner_tags": TAGS},
        {"tokens": WORDS, "ner_tags": [0, 1, 2, 9]},
    ],
)
def test_rows_that_do_not_fit_are_refused(tmp_path, row, refused):
    (tmp_path / "dataset_info.json").write_text(json.dumps({"features": FEATURES}))
    path = lines(tmp_path, {"tokens": WORDS, "ner_tags": TAGS}, row)
    with refused("a.jsonl", 2):
        read(path, format="hf-tokens")


def test_other_columns_are_kept(tmp_path):
    row = {"id": "s1", "tokens": WORDS, "ner_tags": TAGS, "pos": ["NN"] * 4, "chunks": TAGS}
    (document,) = read(lines(tmp_path, row)).documents
    assert document.fields == {"pos": ["NN"] * 4}
    report = write([document], tmp_path / "b.jsonl", format="hf-tokens")
    assert not any(report.dropped.values())
    assert json.loads((tmp_path / "b.jsonl").read_text()) == row


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
@settings(deadline=None)
@given(data=st.data())
def test_what_tags_can_hold_comes_back(tmp_path_factory, name, data):
    words = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6))
    bounds = sorted(data.draw(st.sets(st.integers(0, len(words)))))
    spans = [range(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=False)]
    made = document_of("s", words, [Mention(tuple(s), data.draw(LABELS)) for s in spans])
    path = tmp_path_factory.mktemp("tokens") / name
    report = write([made], path, format="hf-tokens")
    assert not any(report.dropped.values())
    assert read(path).documents == (made,)


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_what_tags_cannot_hold_is_counted(tmp_path, name):
    mentions = [Mention((0, 2), "X"), Mention((1, 2), "Y"), Mention((2, 3), "Z")]
    report = write([document_of("s", WORDS, mentions)], tmp_path / name, format="hf-tokens")
    assert report.dropped["discontinuous entities"] == 1
    assert report.dropped["overlapping entities"] == 1
    (document,) = read(tmp_path / name).documents
    assert [e.label for e in document.entities] == ["Y"]
