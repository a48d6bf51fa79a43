"""Gold documents and the predicted ones that answer them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trigner.errors import InputError
from trigner.mentions import Document


def matched(
    gold: Iterable[Document], predicted: Iterable[Document]
) -> list[tuple[Document, Document | None]]:
    """Each gold document with the predicted one of its id, None when there is none.

    Raises InputError when an id occurs twice on one side, when a predicted document is not in
    gold, and when its text is not the gold document's.
    """
    gold_by_id = by_id(gold, "gold")
    predicted_by_id = by_id(predicted, "predicted")
    for document in predicted_by_id.values():
        _check_text(document, gold_by_id)
    return [(document, predicted_by_id.get(document.id)) for document in gold_by_id.values()]


def by_id(documents: Iterable[Document], side: str) -> dict[str, Document]:
    """The documents by id, in order. Raises InputError when one occurs twice."""
    found: dict[str, Document] = {}
    for document in documents:
        if document.id in found:
            raise InputError(f"duplicate id {document.id!r} among the {side} documents")
        found[document.id] = document
    return found


def _check_text(predicted: Document, gold_by_id: Mapping[str, Document]) -> None:
    gold = gold_by_id.get(predicted.id)
    if gold is None:
        cure = _cure(predicted, gold_by_id)
        raise InputError(f"the predicted document {predicted.id!r} is not in gold{cure}")
    if gold.text == predicted.text:
        return
    pairs = zip(gold.text, predicted.text, strict=False)
    shorter = min(len(gold.text), len(predicted.text))
    position = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    raise InputError(
        f"the predicted document {predicted.id!r} has a different text in gold: "
        f"the texts differ from character {position} on"
    )


def _cure(predicted: Document, gold_by_id: Mapping[str, Document]) -> str:
    """What to do about a document that gold lacks, where its id shows why it does."""
    whole, sentence, _ = predicted.id.rpartition(":")
    if sentence and whole in gold_by_id:
        sentences = "predictions are single sentences, as grid, inline or conll store them"
        return f": {sentences}; convert gold to the same format first"
    # What has no id in its file is called after the file and its number there.
    _, _, number = predicted.id.rpartition("-")
    alike = (d for d in gold_by_id.values() if d.text == predicted.text)
    other = next((d for d in alike if d.id.endswith(f"-{number}")), None)
    if other is None or not number.isdecimal():
        return ""
    return f", where {other.id!r} has its text: give the files of both the same name"
