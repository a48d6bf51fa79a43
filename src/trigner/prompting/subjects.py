"""What a language model is asked to find: the entity types of a corpus and how they are described.

Types and descriptors of CADEC and ShARe are those of the TriG-NER paper (appendix on prompts).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trigner.errors import InputError
from trigner.mentions import Document


@dataclass(frozen=True, slots=True)
class Subject:
    """One entity type: `label` in the corpus, `name` and `descriptor` in a prompt."""

    label: str
    name: str
    descriptor: str


_DISORDER = Subject("Disease_Disorder", "Disorder", "disorder")

SUBJECTS: Mapping[str, tuple[Subject, ...]] = {
    "cadec": (Subject("ADR", "ADR", "adverse drug reaction (ADR)"),),
    "share13": (_DISORDER,),
    "share14": (_DISORDER,),
    "spl-adr": (Subject("AdverseReaction", "AdverseReaction", "adverse reaction"),),
}
"""By corpus, one line each: what is asked for unless the caller names types."""


def subjects_of(
    documents: Iterable[Document],
    *,
    format: str,
    types: Sequence[str] | None = None,
    descriptors: Mapping[str, str] | None = None,
) -> tuple[Subject, ...]:
    """What to ask for in documents that came in `format`.

    `types` are the labels wanted; without, those of the table for the corpus, else all labels of
    the documents. A label that neither `descriptors` nor the table describes is described by its
    own words (`AdverseReaction`: adverse reaction). Raises InputError when there is no label, and
    for a descriptor of a label that is not asked for.
    """
    known = {subject.label: subject for subject in SUBJECTS.get(format, ())}
    labels = types or list(known) or sorted({e.label for d in documents for e in d.entities})
    if not labels:
        raise InputError("the documents have no entity: name the types to ask for with --types")
    given = dict(descriptors or {})
    if foreign := sorted(set(given) - set(labels)):
        raise InputError(f"descriptor of {foreign[0]!r}, which is not asked for")
    found = []
    for label in dict.fromkeys(labels):
        subject = known.get(label, Subject(label, label, _in_words(label)))
        found.append(Subject(label, subject.name, given.get(label, subject.descriptor)))
    return tuple(found)


def label_named(name: str | None, subjects: Sequence[Subject]) -> str | None:
    """The label that an answer's type stands for, whatever its case; None for a foreign type."""
    if name is None:
        return None
    wanted = name.strip().casefold()
    for subject in subjects:
        if wanted in (subject.label.casefold(), subject.name.casefold()):
            return subject.label
    return None


def _in_words(label: str) -> str:
    """`AdverseReaction` and `adverse_reaction` as `adverse reaction`; `ADR` stays."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W_A-Z]+", label)
    return " ".join(part if part.isupper() else part.lower() for part in parts) or label
