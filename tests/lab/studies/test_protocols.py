from __future__ import annotations

from trigner.lab.studies.protocols import protocol


def test_the_whole_corpus():
    full = protocol("full")
    assert (full.settings, full.chosen("any")) == ({}, None)


def test_the_cpu_protocol_names_its_documents(refused):
    cpu = protocol("cpu")
    assert cpu.settings == {"optimisation.epochs": 10, "optimisation.precision": "bfloat16"}
    assert len(cpu.chosen("spl-adr")) == 22
    assert cpu.chosen("pgxcorpus") is None
    with refused():
        cpu.chosen("notes")


def test_the_dense_protocol_has_other_documents(refused):
    dense = protocol("dense")
    assert dense.settings == protocol("cpu").settings
    assert len(dense.chosen("spl-adr")) == 24
    assert len(dense.chosen("psytar")) == 112
    assert len(dense.chosen("chia")) == 379
    with refused():
        dense.chosen("pgxcorpus")


def test_an_unknown_protocol(refused):
    with refused():
        protocol("gpu")
