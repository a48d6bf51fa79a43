"""The entity types that a language model is asked for, and how a prompt describes them.

Names and descriptors for CADEC and ShARe are those of the TriG-NER paper (appendix on prompts).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trigner.errors import InputError
from trigner.mentions import Document, types_of


@dataclass(frozen=True, slots=True)
class EntityType:
    """One entity type: `label` in the corpus, `name` and `descriptor` in a prompt."""

    label: str
    name: str
    descriptor: str


_DISORDER = EntityType("Disease_Disorder", "Disorder", "disorder")

ENTITY_TYPES: Mapping[str, tuple[EntityType, ...]] = {
    "cadec": (EntityType("ADR", "ADR", "adverse drug reaction (ADR)"),),
    "share13": (_DISORDER,),
    "share14": (_DISORDER,),
    "spl-adr": (EntityType("AdverseReaction", "AdverseReaction", "adverse reaction"),),
}
"""By corpus format: what to ask for when the caller names no types."""


def entity_types_of(
    documents: Iterable[Document],
    *,
    format: str,
    types: Sequence[str] | None = None,
    descriptors: Mapping[str, str] | None = None,
) -> tuple[EntityType, ...]:
    """What to ask for in documents of this format.

    `types` are the labels to ask for; by default those of `ENTITY_TYPES`, else every label in the
    documents. A label without a descriptor is described by its own words (`AdverseReaction`:
    adverse reaction). Raises InputError when there is no label, and for a descriptor of a label
    that is not asked for.
    """
    known = {one.label: one for one in ENTITY_TYPES.get(format, ())}
    labels = types or list(known) or types_of(documents)
    if not labels:
        raise InputError("the documents have no entities: name the types to ask for with --types")
    given = dict(descriptors or {})
    if unknown := sorted(set(given) - set(labels)):
        raise InputError(f"descriptor for {unknown[0]!r}, which is not one of the types asked for")
    found = []
    for label in dict.fromkeys(labels):
        default = known.get(label, EntityType(label, label, _in_words(label)))
        found.append(EntityType(label, default.name, given.get(label, default.descriptor)))
    return tuple(found)


def label_named(name: str | None, entity_types: Sequence[EntityType]) -> str | None:
    """The label that a type in an answer stands for, ignoring case; None for an unknown type."""
    wanted = "" if name is None else name.strip().casefold()
    for one in entity_types:
        if wanted in (one.label.casefold(), one.name.casefold()):
            return one.label
    return None


def _in_words(label: str) -> str:
    """`AdverseReaction` and `adverse_reaction` as `adverse reaction`; `ADR` stays."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+", label)
    return " ".join(part if part.isupper() else part.lower() for part in parts) or label
