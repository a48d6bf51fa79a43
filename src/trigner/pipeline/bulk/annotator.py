"""A model by its settings, which any process turns into the model when it first needs it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trigner.errors import InputError
from trigner.models import BUNDLED, fetch, fingerprint, read_description
from trigner.pipeline import Extractor, RunStatistics, checked_thresholds, load, positive
from trigner.pipeline.bulk.texts import MOST_CHARACTERS, AnnotatedText, annotate_texts

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Annotator:
    """Annotates texts and tables. It is pickled as its settings; a process loads the model once.

    `fingerprint` is that of the model: where another is in the folder, on another machine, that is
    an error. `threads` are those of ONNX Runtime; a model that runs in PyTorch has PyTorch's.
    """

    folder: Path
    fingerprint: str
    device: str = "auto"
    threads: int | None = 1
    batch_size: int = 32
    threshold: float = 0.0
    thresholds: tuple[tuple[str, float], ...] = ()
    text: str = "text"
    most_characters: int = MOST_CHARACTERS

    def __post_init__(self) -> None:
        positive("most_characters", self.most_characters)

    @property
    def extractor(self) -> Extractor:
        """The model, loaded. Raises the errors of `inference.load`."""
        return _loaded(
            self.folder,
            self.fingerprint,
            self.device,
            self.threads,
            self.batch_size,
            self.threshold,
            self.thresholds,
        )

    def texts(self, values: Sequence[object]) -> list[AnnotatedText]:
        """`annotate_texts`; what is worth knowing of it is logged."""
        found, statistics = annotate_texts(
            self.extractor, values, most_characters=self.most_characters
        )
        for notice in statistics.notices():
            log.warning("%s", notice)
        return found

    def __call__(self, table: pa.Table) -> tuple[pa.Table, RunStatistics]:
        """`annotate_batch`, of which no column is kept."""
        from trigner.pipeline.bulk.tables import annotate_batch

        most = self.most_characters
        return annotate_batch(self.extractor, table, text=self.text, keep=(), most_characters=most)


def annotator(
    model: str | Path = BUNDLED,
    *,
    threshold: float | Mapping[str, float] = 0.0,
    thresholds: Mapping[str, float] | None = None,
    **settings: Any,
) -> Annotator:
    """The annotator of a model, by folder or name, with other fields of `Annotator`.

    Raises InputError for unknown settings, for a folder that is not a model's, and for a threshold
    that it cannot have.
    """
    known = [field.name for field in fields(Annotator)[2:]]
    if unknown := settings.keys() - {*known}:
        raise InputError(f"unknown setting {min(unknown)!r}; known are: {', '.join(known)}")
    folder = fetch(model)
    labels = read_description(folder).labels
    of_all, of_types = checked_thresholds(threshold, thresholds or {}, labels)
    return Annotator(
        folder.absolute(),
        fingerprint(folder),
        threshold=of_all,
        thresholds=tuple(sorted(of_types.items())),
        **settings,
    )


@lru_cache(maxsize=1)
def _loaded(
    folder: Path,
    expected: str,
    device: str,
    threads: int | None,
    batch_size: int,
    threshold: float,
    thresholds: tuple[tuple[str, float], ...],
) -> Extractor:
    if fingerprint(folder) != expected:
        raise InputError("is not the model that the job was started with", path=folder)
    return load(
        folder,
        device=device,
        threads=threads if read_description(folder).is_exported else None,
        batch_size=batch_size,
        threshold=threshold,
        thresholds=dict(thresholds),
    )
