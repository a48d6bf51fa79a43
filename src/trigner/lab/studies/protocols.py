"""Protocols: settings that all runs of a study share, and how many training documents they see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from trigner.errors import InputError
from trigner.training import read_yaml

SHIPPED = "protocols"
WHOLE = "all"


@dataclass(frozen=True, slots=True)
class Protocol:
    """How every run of a study is made.

    `documents` are the ids of the training documents by corpus, None where all are taken; a corpus
    that is not among them cannot be used. `documents` None: all documents of any corpus.
    """

    name: str
    about: str
    settings: Mapping[str, Any]
    documents: Mapping[str, tuple[str, ...] | None] | None

    def chosen(self, corpus: str) -> frozenset[str] | None:
        """Ids of the training documents of a corpus; None: all. Raises InputError without a list.

        Nobody should be able to choose the documents of a subset after seeing scores.
        """
        if self.documents is None:
            return None
        if corpus not in self.documents:
            known = ", ".join(self.documents)
            raise InputError(
                f"the protocol {self.name!r} has no training documents of {corpus!r}, only of"
                f" {known}: name the corpus with --data NAME=DIR, or use --protocol full"
            )
        ids = self.documents[corpus]
        return None if ids is None else frozenset(ids)


FULL = Protocol("full", "whole corpora", {}, None)


def protocol(name: str) -> Protocol:
    """The protocol of this name. Raises InputError for an unknown one."""
    folder = Path(str(files("trigner.lab.studies").joinpath(SHIPPED)))
    known = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    if name == FULL.name:
        return FULL
    if name not in known:
        raise InputError(f"unknown protocol {name!r}; choose one of full, {', '.join(known)}")
    declared = read_yaml(known[name]).data
    return Protocol(
        name,
        str(declared["about"]),
        dict(declared["settings"]),
        {
            corpus: None if ids == WHOLE else tuple(map(str, ids))
            for corpus, ids in declared["documents"].items()
        },
    )
