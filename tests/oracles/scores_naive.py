"""Precision, recall and F1 of every slice, written sentence by sentence from their definitions."""

from __future__ import annotations

from collections.abc import Sequence

from trigner.mentions import Document
from trigner.text.segmentation import segment


def naive_slices(
    gold: Sequence[Document], predicted: Sequence[Document], label: str | None = None
) -> dict[str, tuple[int, int, int]]:
    """(correct, predicted, gold) of each slice; of one label only when `label` is given."""
    counts = {
        "overall": [0, 0, 0],
        "discontinuous": [0, 0, 0],
        "continuous": [0, 0, 0],
        "sentences_with_discontinuous": [0, 0, 0],
        "sentences_without_discontinuous": [0, 0, 0],
    }
    for document in gold:
        answers = [p for p in predicted if p.id == document.id]
        gold_sentences = _by_sentence(document, document)
        answer_sentences = _by_sentence(document, answers[0]) if answers else {}
        for sentence in set(gold_sentences) | set(answer_sentences):
            all_gold = gold_sentences.get(sentence, [])
            g = [k for k in all_gold if label is None or k[0] == label]
            p = [k for k in answer_sentences.get(sentence, []) if label is None or k[0] == label]
            _add(counts["overall"], g, p)
            _add(counts["discontinuous"], _split(g), _split(p))
            _add(counts["continuous"], _whole(g), _whole(p))
            if _split(all_gold):
                _add(counts["sentences_with_discontinuous"], g, p)
            elif all_gold:
                _add(counts["sentences_without_discontinuous"], g, p)
    return {name: (c[0], c[1], c[2]) for name, c in counts.items()}


def naive_rates(correct: int, predicted: int, gold: int) -> tuple[float, float, float]:
    precision = 0.0 if predicted == 0 else correct / predicted
    recall = 0.0 if gold == 0 else correct / gold
    total = precision + recall
    return precision, recall, 0.0 if total == 0 else 2 * precision * recall / total


def _by_sentence(gold: Document, source: Document) -> dict[int, list]:
    found: dict[int, list] = {}
    for entity in source.entities:
        key = gold.key(entity)
        place = 0
        for sentence in segment(gold).sentences:
            if key[1] and key[1][0][0] >= sentence.offsets[0][0]:
                place = sentence.index
        keys = found.setdefault(place, [])
        if key not in keys:
            keys.append(key)
    return found


def _split(keys: list) -> list:
    return [k for k in keys if len(k[1]) > 1]


def _whole(keys: list) -> list:
    return [k for k in keys if len(k[1]) <= 1]


def _add(counts: list[int], gold: list, predicted: list) -> None:
    counts[0] += sum(1 for k in predicted if k in gold)
    counts[1] += len(predicted)
    counts[2] += len(gold)
