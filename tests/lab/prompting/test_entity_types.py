from __future__ import annotations

import pytest

from trigner.lab.prompting.entity_types import (
    ENTITY_TYPES,
    EntityType,
    entity_types_of,
    label_named,
)
from trigner.mentions import Document, Entity

DOCUMENTS = [
    Document("d", "rash", tuple(Entity(n, ((0, 4),), "rash") for n in ("Drug", "AdverseReaction")))
]


def test_corpora_have_the_papers_types_and_descriptors():
    (cadec,) = ENTITY_TYPES["cadec"]
    assert cadec == EntityType("ADR", "ADR", "adverse drug reaction (ADR)")
    for name in ("share13", "share14"):
        (share,) = ENTITY_TYPES[name]
        assert (share.name, share.descriptor) == ("Disorder", "disorder")
    assert entity_types_of(DOCUMENTS, format="cadec") == ENTITY_TYPES["cadec"]


def test_labels_of_other_documents_are_described_by_their_own_words():
    assert entity_types_of(DOCUMENTS, format="brat") == (
        EntityType("AdverseReaction", "AdverseReaction", "adverse reaction"),
        EntityType("Drug", "Drug", "drug"),
    )


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("ADR", "ADR"),
        ("adverse_reaction", "adverse reaction"),
        ("V.LVC", "V LVC"),
        ("DiseaseOrSyndrome", "disease or syndrome"),
        ("Gene2", "gene2"),
        ("_", "_"),
    ],
)
def test_labels_in_words(label, words):
    assert entity_types_of([], format="brat", types=[label])[0].descriptor == words


def test_types_and_descriptors_that_are_given(refused):
    found = entity_types_of(
        DOCUMENTS, format="brat", types=["Drug", "Drug"], descriptors={"Drug": "medicine"}
    )
    assert found == (EntityType("Drug", "Drug", "medicine"),)
    with refused():
        entity_types_of(DOCUMENTS, format="brat", types=["Drug"], descriptors={"ADR": "x"})
    with refused():
        entity_types_of([], format="brat")


def test_names_of_types_in_answers():
    entity_types = ENTITY_TYPES["share13"]
    for name in ("disorder", " DISORDER ", "disease_disorder"):
        assert label_named(name, entity_types) == "Disease_Disorder"
    assert label_named("Drug", entity_types) is None
    assert label_named(None, entity_types) is None
