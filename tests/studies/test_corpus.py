from __future__ import annotations

from pathlib import Path

import pytest

from trigner.errors import InputError
from trigner.evaluation import data_hash
from trigner.studies import Place, placed, protocol
from trigner.studies.corpus import read_corpus
from trigner.studies.protocols import Protocol


def test_what_a_corpus_is_called(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    assert placed(str(folder), None) == Place("notes", folder)
    assert placed(str(folder), "cadec") == Place("cadec", folder)
    assert placed("mine=some/where", None) == Place("mine", Path("some/where"))
    equals = tmp_path / "a=b"
    equals.mkdir()
    assert placed(str(equals), None) == Place("a=b", equals)
    with pytest.raises(InputError, match="is about cadec, not mine"):
        placed("mine=x", "cadec")
    with pytest.raises(InputError, match="takes DIR or NAME=DIR"):
        placed("mine=", None)


def test_parts_types_and_hashes(corpus_folder):
    place = Place("small", corpus_folder)
    corpus = read_corpus(place, protocol("full"))
    assert [len(part) for part in (corpus.train, corpus.dev, corpus.test)] == [2, 2, 2]
    assert corpus.hashes["dev"] == data_hash(corpus.dev)
    drugs = read_corpus(place, protocol("full"), types=["Drug"])
    assert {e.label for d in drugs.test for e in d.entities} == {"Drug"}
    assert drugs.hashes["test"] != corpus.hashes["test"]
    with pytest.raises(InputError, match="no entity of type Dose"):
        read_corpus(place, protocol("full"), types=["Dose"])


def test_training_documents_of_a_protocol(corpus_folder):
    place = Place("small", corpus_folder)
    some = Protocol("some", "", {}, {"small": ("train-two",)})
    corpus = read_corpus(place, some)
    assert [d.id for d in corpus.train] == ["train-two"]
    assert len(corpus.dev) == 2
    absent = Protocol("some", "", {}, {"small": ("train-two", "nine")})
    with pytest.raises(
        InputError, match=r"needs 2 training documents of small; 1 are not here.*nine"
    ):
        read_corpus(place, absent)


def test_a_corpus_without_a_part(tmp_path, corpus_folder):
    with pytest.raises(InputError, match="has no part 'train'"):
        read_corpus(Place("x", corpus_folder / "dev"), protocol("full"))
