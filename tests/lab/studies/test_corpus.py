from __future__ import annotations

from pathlib import Path

import pytest

from trigner.evaluation.signature import data_hash
from trigner.lab.studies.corpus import (
    CorpusLocation,
    corpus_location,
    corpus_locations,
    read_splits,
)
from trigner.lab.studies.protocols import Protocol, protocol


def test_what_a_corpus_is_called(tmp_path, refused):
    folder = tmp_path / "notes"
    folder.mkdir()
    assert corpus_location(str(folder), None) == CorpusLocation("notes", folder)
    assert corpus_location(str(folder), "cadec") == CorpusLocation("cadec", folder)
    assert corpus_location("mine=some/where", None) == CorpusLocation("mine", Path("some/where"))
    equals = tmp_path / "a=b"
    equals.mkdir()
    assert corpus_location(str(equals), None) == CorpusLocation("a=b", equals)
    with refused():
        corpus_location("mine=x", "cadec")
    with refused():
        corpus_location("mine=", None)


@pytest.mark.parametrize("name", ["../../x", "a/b", "a\\b", ".", ".."])
def test_a_corpus_is_not_called_what_is_no_folder(tmp_path, name, refused):
    with refused():
        corpus_location(f"{name}={tmp_path}", None)
    with refused():  # a study's own
        corpus_location(str(tmp_path), name)


def test_each_corpus_of_a_study_has_a_name_of_its_own(refused):
    both = corpus_locations(["a=x", "b=y"], None)
    assert both == (CorpusLocation("a", Path("x")), CorpusLocation("b", Path("y")))
    with refused():
        corpus_locations(["a=x", "a=y"], None)


def test_the_root_has_no_name(refused):
    with refused():
        corpus_location("/", None)


def test_parts_types_and_hashes(corpus_folder, refused):
    location = CorpusLocation("small", corpus_folder)
    corpus = read_splits(location, protocol("full"))
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [2, 2, 2]
    assert corpus.hashes["dev"] == data_hash(corpus.dev)
    drugs = read_splits(location, protocol("full"), types=["Drug"])
    assert {e.label for d in drugs.test for e in d.entities} == {"Drug"}
    assert drugs.hashes["test"] != corpus.hashes["test"]
    with refused():
        read_splits(location, protocol("full"), types=["Dose"])


def test_training_documents_of_a_protocol(corpus_folder, refused):
    location = CorpusLocation("small", corpus_folder)
    some = Protocol("some", "", {}, {"small": ("train-two",)})
    corpus = read_splits(location, some)
    assert [d.id for d in corpus.train] == ["train-two"]
    assert len(corpus.dev) == 2
    absent = Protocol("some", "", {}, {"small": ("train-two", "nine")})
    with refused():
        read_splits(location, absent)


def test_a_corpus_without_a_part(tmp_path, corpus_folder, refused):
    with refused():
        read_splits(CorpusLocation("x", corpus_folder / "dev"), protocol("full"))
