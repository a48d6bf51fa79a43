from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import trigner
from tiny_models import TEXT

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc, DocBin  # noqa: E402

from trigner.integrations.spacy import entities_of  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TEXTS = [
    TEXT,
    "",
    "  my left arm\r\n\r\nfelt numb, then no pain  \n",
    "my leg, my arm \N{PILE OF POO} e\u0301 and then \u05d0\u05d1 hurt\x00 no pain.",
    "my left leg and right arm hurt after the second tablet. " * 3,
]


@pytest.fixture
def extract(exported_model):
    return trigner.load(exported_model)


@pytest.fixture
def make(exported_model):
    """A pipeline with the component; configuration by keyword."""

    def pipeline(**config):
        nlp = spacy.blank("en")
        nlp.add_pipe("trigner", config={"model": str(exported_model), **config})
        return nlp

    return pipeline


def plain(entities):
    return [(e.label, e.fragments, e.text, e.score) for e in entities]


@pytest.mark.parametrize("text", TEXTS)
def test_entities_are_the_extractors(make, extract, text):
    doc = make()(text)
    assert doc.text == text
    assert plain(doc._.trigner) == plain(extract(text).entities)
    assert bool(doc._.trigner) == bool(text)


def test_fragments_are_spans_with_labels_that_keep_together(make):
    doc = make()(TEXT)
    group = doc.spans["trigner"]
    assert any(entity.is_discontinuous for entity in doc._.trigner)
    assert list(group) == [span for entity in doc._.trigner for span in entity.spans]
    for entity in doc._.trigner:
        assert entity.is_aligned
        assert [(s.start_char, s.end_char) for s in entity.spans] == list(entity.fragments)
        assert {s.label_ for s in entity.spans} == {entity.label}
        assert entity.text == " ".join(s.text for s in entity.spans)
        own = [span for span in group if span.id_ == entity.spans[0].id_]
        assert own == list(entity.spans)
    scores = [entity.score for entity in doc._.trigner for _ in entity.spans]
    assert group.attrs["scores"] == scores


def test_where_tokens_are_longer_than_fragments(make, caplog):
    nlp = make()
    words = ["my left", "leg", "hurt.no"]
    finder = nlp.get_pipe("trigner")
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            doc = finder(Doc(nlp.vocab, words=words, spaces=[True, True, False]))
    assert doc.text == "my left leg hurt.no"
    wide = [entity for entity in doc._.trigner if not entity.is_aligned]
    assert wide
    expected = trigner.load(finder.folder)(doc.text).entities
    assert plain(doc._.trigner) == plain(expected)
    for entity in wide:
        for span, (start, end) in zip(entity.spans, entity.fragments, strict=True):
            assert span.start_char <= start < end <= span.end_char
    each = [
        (span.start_char, span.end_char) != fragment
        for entity in doc._.trigner
        for span, fragment in zip(entity.spans, entity.fragments, strict=True)
    ]
    assert finder.widened == 2 * sum(each)
    assert finder.notices()[-1].startswith(f"{finder.widened} fragments end inside a spaCy token")
    assert sum("inside a spaCy token" in record.getMessage() for record in caplog.records) == 1


def test_thresholds_and_groups(make, exported_model, extract):
    nlp = make(threshold=0.05, group="sure")
    nlp.add_pipe("trigner", name="all", config={"model": str(exported_model), "group": "all"})
    doc = nlp(TEXT)
    sure = [entity for entity in extract(TEXT).entities if entity.score >= 0.05]
    assert 0 < len(sure) < len(extract(TEXT).entities)
    of = {g: plain(e for e in doc._.trigner if e.group == g) for g in ("sure", "all")}
    assert of == {"sure": plain(sure), "all": plain(extract(TEXT).entities)}
    assert {"sure", "all"} == set(doc.spans)


def test_a_second_run_replaces_the_first(make):
    nlp = make()
    doc = nlp(TEXT)
    before = plain(doc._.trigner)
    assert plain(nlp.get_pipe("trigner")(doc)._.trigner) == before


@pytest.mark.parametrize("size", [1, 2, 100])
def test_batches_give_what_single_texts_give(make, size):
    nlp = make()
    single = [plain(nlp(text)._.trigner) for text in TEXTS]
    many = nlp.pipe(TEXTS * 2, batch_size=size)
    for found, expected in zip(many, single * 2, strict=True):
        for one, other in zip(plain(found._.trigner), expected, strict=True):
            assert one[:3] == other[:3]
            assert one[3] == pytest.approx(other[3], abs=1e-4)


def test_a_stream_is_drawn_batch_by_batch(make):
    drawn = []
    stream = (drawn.append(n) or TEXT for n in range(100))
    next(make().pipe(stream, batch_size=4))
    assert len(drawn) < 20


def test_errors_go_to_the_pipelines_handler(make, monkeypatch, refused):
    nlp = make()
    finder = nlp.get_pipe("trigner")
    told = []
    monkeypatch.setattr(finder, "_extractor", None)
    monkeypatch.setattr(finder, "_folder", Path("absent"))
    with refused():
        nlp(TEXT)
    with refused():
        list(nlp.pipe([TEXT]))
    nlp.set_error_handler(lambda name, proc, docs, error: told.append((name, len(docs))))
    docs = list(nlp.pipe([TEXT, TEXT]))
    assert [doc._.trigner for doc in docs] == [(), ()]
    assert told == [("trigner", 2)]


@pytest.mark.parametrize("spoils", ["found", "stored"])
def test_a_doc_that_fails_costs_no_other_its_entities(make, monkeypatch, spoils):
    nlp = make()
    finder = nlp.get_pipe("trigner")
    expected = [plain(nlp(text)._.trigner) for text in TEXTS]
    assert any(expected)
    read, counted, bad = finder.extractor.documents, finder.widened, "not this one"
    docs = [nlp.make_doc(text) for text in [TEXTS[0], bad, *TEXTS[1:]]]

    class Reader:
        def documents(self, documents, statistics):
            for found in read(documents, statistics):
                if found.text == bad and spoils == "found":
                    raise ValueError("bad")
                yield found

    monkeypatch.setattr(finder, "_extractor", Reader())
    if spoils == "stored":
        docs[1].user_data["trigner"] = "of somebody else"
    with pytest.raises((ValueError, TypeError)):
        list(finder.pipe([doc.copy() for doc in docs]))
    finder.widened = 0
    told = []
    finder.set_error_handler(lambda name, proc, docs, error: told.extend(doc.text for doc in docs))
    found = list(finder.pipe(docs))
    assert told == [bad]
    del found[1]
    assert [plain(doc._.trigner) for doc in found] == expected
    assert finder.widened == counted


@pytest.fixture(params=["DocBin", "Doc"])
def copied(request):
    """A Doc written and read back with a vocabulary of its own."""

    def copy(doc):
        vocab = spacy.blank("en").vocab
        if request.param == "Doc":
            return Doc(vocab).from_bytes(doc.to_bytes())
        stored = DocBin(docs=[doc], store_user_data=True).to_bytes()
        (found,) = DocBin(store_user_data=True).from_bytes(stored).get_docs(vocab)
        return found

    return copy


@pytest.mark.parametrize("text", TEXTS)
def test_entities_survive_being_stored(make, copied, text):
    doc = make()(text)
    again = copied(doc)
    assert plain(again._.trigner) == plain(doc._.trigner)
    for one, other in zip(again._.trigner, doc._.trigner, strict=True):
        assert [(s.start, s.end, s.label_) for s in one.spans] == [
            (s.start, s.end, s.label_) for s in other.spans
        ]
    assert list(again.spans["trigner"]) == [s for e in again._.trigner for s in e.spans]
    assert [s.label_ for s in again.spans["trigner"]] == [s.label_ for s in doc.spans["trigner"]]
    # Stored again, nothing changes: what was read back is as plain as what was written.
    assert plain(copied(again)._.trigner) == plain(doc._.trigner)


def test_what_is_stored_is_plain(make):
    stored = make()(TEXT).user_data["trigner"]
    assert json.loads(json.dumps(stored)) == stored


def test_a_doc_without_entities_has_none():
    assert spacy.blank("en")("no model was here")._.trigner == ()


def test_entities_of_another_text_are_refused(make, refused):
    doc = make()(TEXT)
    part = doc[2:].as_doc(copy_user_data=True)
    with refused():
        entities_of(part)
    assert doc[:].as_doc(copy_user_data=True)._.trigner
    # Found anew, they are those of the part.
    found = make().get_pipe("trigner")(part)
    assert all(end <= len(part.text) for e in found._.trigner for _, end in e.fragments)


def test_a_saved_pipeline_needs_no_other_folder(exported_model, tmp_path):
    model = shutil.copytree(exported_model, tmp_path / "model")
    nlp = spacy.blank("en")
    nlp.add_pipe("trigner", config={"model": str(model), "threshold": 0.05, "group": "adr"})
    expected = plain(nlp(TEXT)._.trigner)
    nlp.to_disk(tmp_path / "pipeline")
    shutil.rmtree(model)
    again = spacy.load(tmp_path / "pipeline")
    assert again.config["components"]["trigner"]["model"] == str(model)
    doc = again(TEXT)
    assert plain(doc._.trigner) == expected
    assert list(doc.spans) == ["adr"]
    assert again.pipe_labels["trigner"] == ["ADR", "Drug"]
    again.to_disk(tmp_path / "pipeline")
    assert plain(spacy.load(tmp_path / "pipeline")(TEXT)._.trigner) == expected


def test_a_saved_pipeline_has_its_vocabulary(exported_model, tmp_path):
    codes = tmp_path / "codes.csv"
    codes.write_text("code,name\nF1,left arm hurt\n")
    config = {"model": str(exported_model), "threshold": 0.05}
    nlp = spacy.blank("en")
    nlp.add_pipe("trigner", config={**config, "vocabulary": str(codes)})
    expected = plain(nlp(TEXT)._.trigner)
    nlp.to_disk(tmp_path / "pipeline")
    codes.unlink()
    again = spacy.load(tmp_path / "pipeline")
    assert plain(again(TEXT)._.trigner) == expected
    again.to_disk(tmp_path / "pipeline")
    assert plain(spacy.load(tmp_path / "pipeline")(TEXT)._.trigner) == expected
    without = spacy.blank("en")
    without.add_pipe("trigner", config=config)
    without.to_disk(tmp_path / "pipeline")
    assert spacy.load(tmp_path / "pipeline").get_pipe("trigner").vocabulary is None


def test_the_configuration_makes_the_same_pipeline(make):
    nlp = make(threshold=0.05)
    again = spacy.blank("en").from_config(nlp.config)
    assert plain(again(TEXT)._.trigner) == plain(nlp(TEXT)._.trigner)
    assert not any(again.analyze_pipes()["problems"].values())


def test_a_model_must_be_named():
    with pytest.raises(ValueError, match="model"):
        spacy.blank("en").add_pipe("trigner")


def test_a_model_from_the_hub(hub, exported_model, extract):
    hub.put("ann/adr", exported_model)
    nlp = spacy.blank("en")
    nlp.add_pipe("trigner", config={"model": "ann/adr"})
    assert plain(nlp(TEXT)._.trigner) == plain(extract(TEXT).entities)


def test_the_entry_point_finds_the_component(exported_model, tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    points = project["project"]["entry-points"]["spacy_factories"]
    module, _, name = points["trigner"].partition(":")
    assert callable(getattr(import_module(module), name))
    # As an installed package announces it, in a process that imports nothing of ours.
    info = tmp_path / "announced-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: announced\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[spacy_factories]\ntrigner = {points['trigner']}\n")
    code = f"""
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("trigner", config={{"model": {str(exported_model)!r}}})
print(len(nlp({TEXT!r})._.trigner))
"""
    source = str(Path(trigner.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), source])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 0


def test_thresholds_of_single_types(make, exported_model, refused):
    cut = {"ADR": 0.9, "Drug": 0.0}
    expected = trigner.load(exported_model, threshold=cut)(TEXT).entities
    assert plain(make(threshold=cut)(TEXT)._.trigner) == plain(expected)
    with refused():
        make(threshold={"Dose": 0.5})(TEXT)
    with refused():
        make(threshold=1.5)(TEXT)


def test_fields_stay_with_the_entities_of_a_saved_doc(make, extract, tmp_path):
    pytest.importorskip("rapidfuzz")
    text = "no pain in my left leg and right arm."
    vocabulary = tmp_path / "v.csv"
    vocabulary.write_text(f"code,name\nF1,{extract(text).entities[0].text}\n")
    doc = make(qualifiers=True, vocabulary=str(vocabulary))(text)
    found = [e.fields for e in doc._.trigner]
    assert any(fields.get("negated") for fields in found)
    assert any(fields.get("code") == "F1" for fields in found)
    again = Doc(doc.vocab).from_bytes(doc.to_bytes())
    assert [e.fields for e in again._.trigner] == found
    assert all(e.fields == {} for e in make()("no pain in my left leg.")._.trigner)
