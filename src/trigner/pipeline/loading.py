"""From a model folder to something that extracts, by the row of the model's system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trigner.errors import InputError
from trigner.machine import MOST_THREADS
from trigner.models import BUNDLED, DESCRIPTION, Description, fetch, read_description
from trigner.pipeline.extraction import Annotator, Extractor
from trigner.pipeline.options import checked_annotators, checked_thresholds, positive
from trigner.qualifiers import english
from trigner.systems import SystemSpec, checked_predictor, system_spec


def load(
    model: str | Path = BUNDLED,
    *,
    device: str = "auto",
    threads: int | None = None,
    batch_size: int = 32,
    threshold: float | Mapping[str, float] = 0.0,
    thresholds: Mapping[str, float] | None = None,
    qualifiers: bool = False,
    annotators: Sequence[Annotator] = (),
) -> Extractor:
    """The model in a folder or with a name on the Hub, `user/name` or `user/name@revision`.

    `bundled`, the default, is the model that ships with the package, for adverse reactions. A
    string that is written as a path and every Path is a folder, never a name on the Hub. A folder
    made by `trigner export` runs without PyTorch, with so many `threads` (None: as
    `OMP_NUM_THREADS` says, or as there are CPUs for this process). `threshold` is the least score
    of an entity, for all types or for those that it names (`{"ADR": 0.5, "Drug": 0}`; others have
    0); `thresholds` are those of single types in addition
    to it. With `qualifiers` entities have fields that say whether they are negated, hypothetical,
    historical or somebody else's (English; `trigner.qualifiers`); `annotators` give them other
    fields, as a `trigner.linking.Linker` does. `device` is `auto`, `cpu`, `cuda`, `cuda:1` or, with
    PyTorch, another of its names.

    Raises InputError when the folder cannot be loaded, an annotator is no function, `threads` are
    given for a model that ONNX Runtime does not run (`torch.set_num_threads` sets PyTorch's), a
    threshold is outside [0, 1] or of a type that the model does not have, its system is not
    installed or the device is not there, TrignerError when PyTorch is needed and not installed or
    the Hub cannot be reached.
    """
    if threads is not None:
        threads = positive("threads", threads, most=MOST_THREADS)
    if not isinstance(device, str):
        raise InputError(f"device must be a name such as cpu or cuda:0, got {device!r}")
    own = checked_annotators(annotators)
    folder = fetch(model)
    description = read_description(folder)
    if threads is not None and not description.is_exported:
        raise InputError(
            "threads are those of ONNX Runtime, which does not run this model:"
            " torch.set_num_threads sets those of PyTorch",
            path=folder,
        )
    spec = spec_of(folder, description)
    predictor = spec.implementation("load")(folder, description, device=device, threads=threads)
    of_all, of_types = checked_thresholds(threshold, thresholds or {}, description.labels)
    return Extractor(
        predictor=checked_predictor(spec, predictor),
        system=spec.name,
        batch_size=positive("batch_size", batch_size),
        threshold=of_all,
        thresholds=of_types,
        source=ModelSource(folder.absolute(), device, threads),
        annotators=(*((english(),) if qualifiers else ()), *own),
    )


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model's folder and how it was loaded from there (`extraction.Source`)."""

    folder: Path
    device: str
    threads: int | None

    def load(self, **options: Any) -> Extractor:
        """The same model with these other options of `load`."""
        return load(self.folder, device=self.device, threads=self.threads, **options)


def spec_of(folder: Path, description: Description) -> SystemSpec:
    """The row of a model's system. Raises InputError when it is not installed."""
    try:
        return system_spec(description.system)
    except InputError as error:
        package = description.package
        advice = f"; the model was made with the package {package}" if package != "trigner" else ""
        raise InputError(f"{error.message}{advice}", path=folder / DESCRIPTION) from error
