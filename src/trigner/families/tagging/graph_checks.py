"""Whether a graph is one of a system: its inputs, and the shapes of its outputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from trigner.batches import Batch
from trigner.errors import InputError
from trigner.families.tagging.network_settings import SequenceSettings, TaggerSettings
from trigner.schemes import Scheme, SequenceScheme

AXES = {"input_ids": 2, "attention_mask": 2, "word_subwords": 3, "lengths": 1}
"""The graph's inputs, named as the arrays of `batches.Batch`, and how many axes each has."""


def check_inputs(session: Any, graph: Path) -> None:
    """Raises InputError when a graph's inputs are not a tagger's."""
    given = session.get_inputs()
    names = sorted(own.name for own in given)
    if names != sorted(AXES):
        raise InputError(f"does not have a tagger's inputs, but {', '.join(names)}", path=graph)
    for own in given:
        axes = AXES[own.name]
        if own.type != "tensor(int64)" or len(own.shape) != axes:
            raise InputError(
                f"does not have a tagger's inputs: {own.name} is {own.type} of"
                f" {len(own.shape)} axes, not int64 of {axes}",
                path=graph,
            )


def scores_of_a_word(scheme: Scheme, settings: TaggerSettings) -> int:
    """How many scores a network gives a word or a pair of words for a scheme's tags."""
    if isinstance(settings, SequenceSettings) and settings.sequence.transitions:
        return len(cast(SequenceScheme, scheme).grammar.automaton.arc_tags)
    return len(scheme.tags)


def check_output(session: Any, scheme: Scheme, scores: int, graph: Path) -> None:
    """Raises InputError when the graph's declared output does not have these scores."""
    given = session.get_outputs()
    axes = scheme.tag_space.word_axes + 2
    shape = given[0].shape if len(given) == 1 else None
    last = shape[-1] if shape else None
    if not shape or len(shape) != axes or (isinstance(last, int) and last != scores):
        found = "; ".join(str(own.shape) for own in given)
        raise InputError(
            f"belongs to another model: its output is {found}, and the tags of the system"
            f" {scheme.name} need {axes} axes, the last of {scores}",
            path=graph,
        )


def check_scores(
    found: NDArray[Any], batch: Batch, axes: int, scores: int | None, graph: Path
) -> None:
    """Raises InputError when a batch was given scores of another shape than it has words."""
    count, length, _ = batch.word_subwords.shape
    check_array(found, (count, *(length,) * axes, scores or found.shape[-1]), graph)


def check_array(
    found: NDArray[Any],
    expected: tuple[int, ...],
    graph: Path,
    *,
    what: str = "scores",
    kind: type[np.generic] = np.floating,
) -> None:
    """Raises InputError when an output is not of this kind of numbers or of another shape."""
    if found.shape != expected or not np.issubdtype(found.dtype, kind):
        raise InputError(
            f"gives {found.dtype} of shape {found.shape}, not {what} of shape {expected}",
            path=graph,
        )
