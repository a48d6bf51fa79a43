"""A small corpus with parts, a tiny encoder, and a study with made-up results."""

from __future__ import annotations

import pytest

from study_results import STUDY, result_of, write_corpus
from trigner.lab.studies.corpus import corpus_location, read_splits
from trigner.lab.studies.declaration import read_study
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol


@pytest.fixture(scope="session")
def corpus_folder(tmp_path_factory):
    return write_corpus(tmp_path_factory.mktemp("corpora") / "small")


@pytest.fixture(scope="session")
def corpus(corpus_folder):
    return read_splits(corpus_location(str(corpus_folder), None), protocol("full"))


@pytest.fixture(scope="session")
def encoder(encoder_of):
    """One that can be adapted."""
    return encoder_of(head=True)


@pytest.fixture
def declare(tmp_path):
    """A study in a file of this text."""

    def declared(text=STUDY, name="small"):
        path = tmp_path / f"{name}.yaml"
        path.write_text(text)
        return read_study(path)

    return declared


@pytest.fixture
def finished(declare, corpus, tmp_path):
    """A study and the folder with results of all its runs; the control finds least."""
    study = declare()
    for run in runs(study, protocol("full")):
        kept = 1 if run.system == "control" else 3
        result_of(run, corpus, tmp_path / "results", kept=kept)
    return study, tmp_path / "results"
