"""Options of commands whose entities get fields: qualifiers and codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trigner.cli.options import RunOptions
from trigner.cli.output import note
from trigner.corpora import EncodingError
from trigner.errors import InputError
from trigner.machine import counted
from trigner.mentions import Entity
from trigner.models import hash_of_file

if TYPE_CHECKING:
    from trigner.linking import Linker
    from trigner.pipeline import Extractor

LINK_THRESHOLD = 0.65
LinkThreshold = Annotated[
    float,
    typer.Option(
        "--link-threshold", min=0.0, max=1.0, metavar="X", help="Minimum score of a code."
    ),
]


MATCHES = {"exact": "exact", "words": "by the same words", "alike": "alike"}
"""How the match of a code is said, the surest first."""


@dataclass
class Codes:
    """How many entities there are, and how the codes of those that have one were found."""

    entities: int = 0
    matches: Counter[str] = field(default_factory=Counter)

    def add(self, entities: Iterable[Entity]) -> None:
        """Count entities that a linker has seen."""
        for entity in entities:
            self.entities += 1
            if match := match_of(entity):
                self.matches[match] += 1

    def __str__(self) -> str:
        """`2 of 3 entities have a code: 1 exact, 1 alike`."""
        taken = self.matches.total()
        verb = "has" if 1 in (taken, self.entities) else "have"
        all_ = counted(self.entities, "entity", "entities")
        found = ", ".join(f"{self.matches[m]:,} {s}" for m, s in MATCHES.items() if self.matches[m])
        return f"{taken:,} of {all_} {verb} a code{': ' if found else ''}{found}"


def match_of(entity: Entity) -> str:
    """How the code that a linker gave to an entity was found; empty for one without a code."""
    match entity.fields:
        case {"code": str(), "candidates": [{"match": str(found)}, *_]}:
            return found
    return ""


@dataclass(frozen=True, kw_only=True)
class AnnotatingOptions(RunOptions):
    """How a model is run whose entities get fields."""

    qualifiers: Annotated[
        bool,
        typer.Option(
            "--qualifiers",
            help="Mark entities that are negated, hypothetical, historical or somebody else's, by"
            " English rules.",
        ),
    ] = False
    link: Annotated[
        Path | None,
        typer.Option(
            "--link",
            metavar="VOCABULARY",
            help="Give entities codes from this CSV file; see trigner link.",
        ),
    ] = None
    link_threshold: LinkThreshold = LINK_THRESHOLD

    def __post_init__(self) -> None:
        if self.link is None and self.link_threshold != LINK_THRESHOLD:
            raise InputError("--link-threshold needs --link")

    def load(
        self, model: Path, threshold: str = "0", *, encoding: str | None = None, **further: Any
    ) -> Extractor:
        """As `RunOptions.load`; `encoding` as for `linker`."""
        annotators = []
        if self.link is not None:
            annotators.append(linker(self.link, threshold=self.link_threshold, encoding=encoding))
        return super().load(
            model, threshold, qualifiers=self.qualifiers, annotators=annotators, **further
        )

    def made_with(self) -> dict[str, Any]:
        """What entities and their fields depend on, by option."""
        link = None if self.link is None else [_hash_of(self.link), self.link_threshold]
        return {
            **{"--device": self.device, "--batch-size": self.batch_size},
            **{"--qualifiers": self.qualifiers, "--link": link},
        }


def _hash_of(vocabulary: Path) -> str:
    """Raises InputError for what is no file, or can be read only once: a linker reads it again."""
    if not vocabulary.exists():
        raise InputError("no such file", path=vocabulary)
    if not vocabulary.is_file():
        message = "is not a regular file: with --out, write the vocabulary to one"
        raise InputError(message, path=vocabulary)
    return hash_of_file(vocabulary)


def linker(
    vocabulary: Path,
    *,
    threshold: float,
    candidates: int = 5,
    encoder: str | None = None,
    encoding: str | None = None,
) -> Linker:
    """A linker to the codes of a CSV file; columns of it that nobody reads are noted.

    It is UTF-8, or else in the encoding that documents have (None: there is no option for that).
    """
    from trigner.linking import Linker, read_vocabulary

    try:
        found = read_vocabulary(vocabulary, otherwise=encoding)
    except EncodingError as error:
        if encoding is not None:
            raise
        message = "is not UTF-8: save it in this encoding"
        raise InputError(message, path=vocabulary, line=error.line) from error
    if found.ignored:
        note([f"{vocabulary}: columns ignored: {', '.join(found.ignored)}"])
    vectors = None
    if encoder is not None:
        from trigner.linking import encoder_vectors

        vectors = encoder_vectors(encoder)
    return Linker(found, candidates=candidates, threshold=threshold, vectors=vectors)
