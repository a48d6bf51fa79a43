"""How often a linker is right, on entities whose field `code` says what they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from trigner.errors import InputError
from trigner.evaluation import Curve, curve
from trigner.linking.linker import Linker
from trigner.mentions import Document, shortened


@dataclass(frozen=True, slots=True)
class Linked:
    """Counts over entities, and precision and recall of the codes at each threshold.

    `coded` have a code; of these `first` have it as their best candidate, `among` as one of the
    candidates. `matches` are the kinds of the best candidates. Without a code an entity is in no
    row of the vocabulary: whatever it is given is wrong.
    """

    entities: int
    coded: int
    first: int
    among: int
    matches: dict[str, int]
    curve: Curve

    def as_json(self) -> dict[str, Any]:
        """The counts, and the threshold with the best F1."""
        threshold, best = self.curve.best
        return {
            "entities": self.entities,
            "coded": self.coded,
            "first": self.first,
            "among": self.among,
            "matches": self.matches,
            "best": {"threshold": threshold, **best.as_json()},
        }


def evaluate(linker: Linker, documents: Iterable[Document]) -> Linked:
    """Link coded documents.

    Raises InputError when there is no code, or one that is no text or that the vocabulary lacks.
    """
    known = {concept.code for concept in linker.vocabulary.concepts}
    matches: Counter[str] = Counter()
    pairs: list[tuple[float, bool]] = []
    entities = coded = first = among = 0
    for document in documents:
        for entity in document.entities:
            code = entity.fields.get("code")
            if code is not None and not isinstance(code, str):
                raise InputError(
                    f"document {document.id!r}: the code of {entity.text!r} must be one text, as"
                    f" in the vocabulary: {shortened(code)}"
                )
            if code is not None and code not in known:
                raise InputError(
                    f"document {document.id!r}: the vocabulary has no code {code!r}, which"
                    f" {entity.text!r} has"
                )
            found = linker.find(entity.text)
            entities += 1
            coded += code is not None
            matches[found[0].match if found else "none"] += 1
            if found:
                pairs.append((found[0].score, found[0].code == code))
            first += bool(found) and found[0].code == code
            among += code is not None and code in {candidate.code for candidate in found}
    if not coded:
        raise InputError("no entity has a field `code`: there is nothing to compare with")
    return Linked(entities, coded, first, among, dict(matches), curve(pairs, coded))
