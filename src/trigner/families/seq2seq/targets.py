"""Examples -> arrays of pointers, tokens and what is allowed, padded."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trigner.arrays import Booleans, Integers
from trigner.batches import Example
from trigner.families.seq2seq.automaton import END, FIRST_TYPE, START
from trigner.families.seq2seq.format import Format
from trigner.families.seq2seq.pointers import Pointers


def pointers_of(format: Format, example: Example) -> Pointers:
    """The pointers of an example's words."""
    return format.point((example.subwords.word_subwords >= 0).sum(axis=1).tolist())


def pad_targets(examples: Sequence[Example], pointers: Sequence[Pointers]) -> Integers:
    """The subword position of each pointer, `[B, U]`; -1 for padding and words without subwords."""
    padded = np.full((len(examples), max(len(own) for own in pointers)), -1, dtype=np.int64)
    for row, (example, own) in enumerate(zip(examples, pointers, strict=True)):
        padded[row, : len(own)] = example.subwords.word_subwords[own.word, own.column]
    return padded


def pad_tokens(outputs: Sequence[Sequence[int]], padding: int) -> Integers:
    """Tokens `[B, T]`."""
    padded = np.full((len(outputs), max(len(own) for own in outputs)), padding, dtype=np.int64)
    for row, own in enumerate(outputs):
        padded[row, : len(own)] = own
    return padded


def pad_allowed(
    format: Format, pointers: Sequence[Pointers], outputs: Sequence[Sequence[int]], masked: bool
) -> Booleans:
    """What a step is chosen from, `[B, T, V]`: of what keeps the output well-formed, or of all.

    All are the tokens of the sentence but `START`. In padding it is `END` alone.
    """
    first = FIRST_TYPE + len(format.labels)
    steps = max(len(own) for own in outputs)
    tokens = first + max(len(own) for own in pointers)
    found = np.zeros((len(outputs), steps, tokens), dtype=np.bool_)
    found[:, :, END] = True
    for row, (own, output) in enumerate(zip(pointers, outputs, strict=True)):
        if masked:
            automaton = format.automaton(own)
            found[row, : len(output), : automaton.tokens] = automaton.along(output)
        else:
            found[row, : len(output), START + 1 : first + len(own)] = True
    return found
