"""The corpora of a study: a name, and the parts train, dev and test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from trigner.corpora import PARTS, MissingAnnotations, Notice, read, with_types
from trigner.errors import InputError
from trigner.evaluation import data_hash
from trigner.lab.studies.protocols import Protocol
from trigner.mentions import Document, types_of


@dataclass(frozen=True)
class CorpusLocation:
    """The folder of a corpus, and its name in results, which contain no paths."""

    name: str
    path: Path


@dataclass(frozen=True)
class CorpusSplits:
    """Documents of the three parts: training documents as the protocol takes them, those of the
    test part in the order of their ids.

    `notices` are those of the readers.
    """

    name: str
    train: tuple[Document, ...]
    dev: tuple[Document, ...]
    test: tuple[Document, ...]
    notices: tuple[Notice, ...] = ()

    @cached_property
    def hashes(self) -> dict[str, str]:
        """`data_hash` of each part."""
        return {part: data_hash(getattr(self, part)) for part in PARTS}


def corpus_locations(options: Sequence[str], declared: str | None) -> tuple[CorpusLocation, ...]:
    """`--data [NAME=]DIR` of several corpora, each with a name of its own.

    Raises InputError for two with one name, whose results could not be told apart.
    """
    found: dict[str, CorpusLocation] = {}
    for own in (corpus_location(option, declared) for option in options):
        if own.name in found:
            raise InputError(
                f"--data: {found[own.name].path} and {own.path} are both named {own.name!r}: give"
                " each another name, as NAME=DIR"
            )
        found[own.name] = own
    return tuple(found.values())


def corpus_location(option: str, declared: str | None) -> CorpusLocation:
    """`--data [NAME=]DIR`. Without a name it is the study's own corpus, or the folder's name.

    Raises InputError for a name that could not be that of one folder of results.
    """
    name, equals, path = option.partition("=")
    if not equals or Path(option).exists():
        name, path = declared or Path(option).resolve().name, option
    elif declared is not None and name != declared:
        raise InputError(f"this study is for the corpus {declared}, not {name}")
    elif not name or not path:
        raise InputError(f"--data takes DIR or NAME=DIR; got {option!r}")
    if name in ("", ".", "..") or "/" in name or "\\" in name:
        raise InputError(
            f"--data: {name!r} is no name for a corpus, whose results are in a folder of that name:"
            " use NAME=DIR with a NAME of letters and digits"
        )
    return CorpusLocation(name, Path(path))


def read_splits(
    location: CorpusLocation,
    protocol: Protocol,
    *,
    types: Sequence[str] | None = None,
    format: str | None = None,
    skip_bad: bool = False,
    encoding: str = "utf-8",
    missing_annotations: MissingAnnotations = "error",
) -> CorpusSplits:
    """All three parts of a corpus.

    Raises InputError when a part is missing or has no documents, when no entity is of one of
    the `types`, and when the protocol asks for training documents that are not there.
    """
    chosen = protocol.chosen(location.name)
    parts: dict[str, tuple[Document, ...]] = {}
    notices: list[Notice] = []
    for part in PARTS:
        found = read(
            location.path,
            format=format,
            skip_bad=skip_bad,
            split=part,
            encoding=encoding,
            missing_annotations=missing_annotations,
        )
        notices += found.notices
        if not found.documents:
            raise InputError(f"the part {part!r} contains no documents", path=location.path)
        parts[part] = with_types(found.documents, types)
    if chosen is not None:
        of_part = {document.id for document in parts["train"]}
        if missing := sorted(chosen - of_part):
            raise InputError(
                f"the protocol {protocol.name!r} needs {len(chosen)} training documents of"
                f" {location.name}; {len(missing)} are missing, such as {missing[0]}",
                path=location.path,
            )
        parts["train"] = tuple(d for d in parts["train"] if d.id in chosen)
    known = types_of(parts["train"])
    if absent := [label for label in types or () if label not in known]:
        message = f"the training part has no entity of type {', '.join(absent)}"
        raise InputError(message, path=location.path)
    # Results of two systems are compared sentence by sentence, whatever format each was read from.
    test = tuple(sorted(parts["test"], key=lambda document: document.id))
    return CorpusSplits(location.name, parts["train"], parts["dev"], test, tuple(notices))
