"""All systems: those of the package and those that installed packages add.

A package adds one through the entry-point group `trigner.systems`: the entry point's name is the
system's, its object a `SystemSpec`. `examples/own-system` is such a package.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pkgutil import resolve_name
from typing import Any

from pydantic import BaseModel, ValidationError

from trigner.errors import InputError
from trigner.systems.protocols import CAPABILITY_PROTOCOLS, Predictor, System
from trigner.systems.spec import SystemSpec

GROUP = "trigner.systems"


@dataclass(frozen=True, slots=True)
class Row:
    """A system of this package, before anything of it is imported.

    `spec` is where its `SystemSpec` is, as `module:name`; `about` says in a line what it is.
    """

    spec: str
    about: str


BUILT_IN: Mapping[str, Row] = {
    "w2ner": Row(
        "trigner.families.tagging.taggers:W2NER",
        "a grid of word pairs: next-neighbouring words, and typed tail-head words (Li et al., AAAI"
        " 2022); with triplets TriG-NER (Cabral et al., WWW 2025)",
    ),
    "toe": Row(
        "trigner.families.tagging.taggers:TOE",
        "a grid of word pairs with tags that know of each other (TOE, Liu et al., 2022)",
    ),
    "mac": Row(
        "trigner.families.tagging.taggers:MAC",
        "segments and their links, mentions as maximal cliques (Wang et al., ACL 2021)",
    ),
    "mac_minimal": Row(
        "trigner.families.tagging.taggers:MAC_MINIMAL",
        "mac with the links of neighbouring segments only",
    ),
    "span_grid": Row(
        "trigner.families.tagging.taggers:SPAN_GRID",
        "segments and the gaps between them, mentions as paths (Mao et al., 2024)",
    ),
    "gap_grid": Row(
        "trigner.families.tagging.taggers:GAP_GRID",
        "fragments, gaps and the ends of entities, mentions as paths (after GapDNER, 2025)",
    ),
    "corro": Row(
        "trigner.families.tagging.taggers:CORRO",
        "tags with component types, found exactly (Corro, EMNLP 2024)",
    ),
    "biohd": Row(
        "trigner.families.tagging.taggers:BIOHD",
        "BIO tags for shared heads and for parts (Tang et al., 2013)",
    ),
    "biohd1234": Row(
        "trigner.families.tagging.taggers:BIOHD1234",
        "BIOHD with digits that say which segment a part belongs to",
    ),
    "bio": Row(
        "trigner.families.tagging.taggers:BIO",
        "plain BIO tags: no discontinuous mention at all",
    ),
    "transition": Row(
        "trigner.families.transition.spec:SPEC",
        "a shift-reduce parser that merges and shares parts of mentions on a stack (Dai et al., ACL"
        " 2020)",
    ),
    "spans": Row(
        "trigner.families.spans.spec:SPEC",
        "fragments and relations between them, mentions as maximal cliques (SODNER, Li et al., ACL"
        " 2021)",
    ),
    "seq2seq": Row(
        "trigner.families.seq2seq.spec:SPEC",
        "pointers into the sentence and types, written by a decoder (BARTNER, Yan et al., ACL"
        " 2021); any encoder-decoder, or an encoder with a fresh decoder",
    ),
    "hypergraph": Row(
        "trigner.families.hypergraph.spec:SPEC",
        "a hypergraph of segments and gaps that mentions are paths of, summed over exactly (Muis"
        " and Lu, EMNLP 2016; Wang and Lu, EMNLP 2018)",
    ),
    "segments": Row(
        "trigner.families.segments.spec:SPEC",
        "segments, summed over exactly, then which combinations of them are mentions (Wang and Lu,"
        " EMNLP 2019)",
    ),
    "generative": Row(
        "trigner.families.generative.spec:SPEC",
        "mentions as text that a causal or encoder-decoder language model writes, constrained to"
        " the sentence's words; tuned with LoRA, a soft prompt or whole",
    ),
}
"""The systems of this package. Each is in its family's room, which stands above this one and is
imported when its system is asked for."""


def systems() -> dict[str, SystemSpec]:
    """Every system that can be used, by name. All of them are imported."""
    return {name: found for name, found in _all().items() if isinstance(found, SystemSpec)}


def own_systems() -> dict[str, SystemSpec]:
    """The systems of this package alone, imported: no code of others runs."""
    return {name: _own(name) for name in BUILT_IN}


def unusable_systems() -> dict[str, str]:
    """Systems that are installed and cannot be used, each with the reason."""
    return {name: found for name, found in _all().items() if isinstance(found, str)}


def system_spec(name: str) -> SystemSpec:
    """The spec of a system. No other system is imported, if there is one of this name.

    Raises InputError when there is none, when two packages add one of the same name, and when the
    package that adds it cannot be imported.
    """
    found = _found(name)
    if isinstance(found, SystemSpec):
        return found
    raise InputError(found or f"unknown system {name!r}; known are: {', '.join(systems())}")


def checked_system(spec: SystemSpec, system: Any) -> System:
    """What a row's `build` gave. Raises InputError naming the method that it lacks."""
    return _checked(spec, system, "system", System)  # type: ignore[no-any-return]


def checked_predictor(spec: SystemSpec, predictor: Any) -> Predictor:
    """What a row's `load` gave. Raises InputError naming the method that it lacks.

    The methods are those of `Predictor` and of the capabilities that the row declares.
    """
    more = [CAPABILITY_PROTOCOLS[c] for c in spec.capabilities if c in CAPABILITY_PROTOCOLS]
    return _checked(spec, predictor, "predictor", Predictor, *more)  # type: ignore[no-any-return]


def _checked(spec: SystemSpec, made: Any, what: str, *protocols: type[Any]) -> Any:
    wanted = [name for own in protocols for name in vars(own) if not name.startswith("_")]
    if missing := [name for name in wanted if not hasattr(made, name)]:
        raise InputError(
            f"the {what} {type(made).__name__} of the system {spec.name} (package {spec.package})"
            f" lacks {', '.join(missing)}"
        )
    return made


def _all() -> dict[str, SystemSpec | str | None]:
    """Each system's spec, or why it cannot be used."""
    return {name: _found(name) for name in dict.fromkeys([*BUILT_IN, *_added()])}


@cache
def _found(name: str) -> SystemSpec | str | None:
    """A system's spec, why it cannot be used, or None where there is no such system."""
    points = _added().get(name, ())
    packages = [*(["trigner"] if name in BUILT_IN else []), *map(_package, points)]
    if len(packages) > 1:
        return (
            f"two packages add a system called {name!r}: {packages[0]} and {packages[1]};"
            " uninstall one of them"
        )
    if name in BUILT_IN:
        return _own(name)
    return _of_package(points[0]) if points else None


@cache
def _own(name: str) -> SystemSpec:
    row = BUILT_IN[name]
    spec: SystemSpec = resolve_name(row.spec)
    return replace(spec, about=row.about)


@cache
def _added() -> Mapping[str, Sequence[EntryPoint]]:
    """What installed packages add, by the system's name."""
    found: defaultdict[str, list[EntryPoint]] = defaultdict(list)
    for point in entry_points(group=GROUP):
        found[point.name].append(point)
    return dict(found)


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "an unknown package"


def _of_package(point: EntryPoint) -> SystemSpec | str:
    """The spec that an entry point names, or why it cannot be used."""
    package = _package(point)
    called = f"the system {point.name!r} of the package {package}"
    try:
        spec = point.load()
    except Exception as error:  # the code of others fails in any way
        return f"{called} cannot be imported: {type(error).__name__}: {error}"
    if not isinstance(spec, SystemSpec):
        return (
            f"the package {package} declares {point.value!r} as the system {point.name!r},"
            f" which is a {type(spec).__name__}, not a SystemSpec"
        )
    if fault := _fault(spec):
        return f"{called} {fault}"
    return replace(spec, name=point.name, package=package)


def _fault(spec: SystemSpec) -> str | None:
    """What keeps a row from being used, or None."""
    settings: Any = spec.settings
    if not (isinstance(settings, type) and issubclass(settings, BaseModel)):
        return "has settings that are not a pydantic model"
    try:
        settings()
    except ValidationError:
        return "has settings without a default: give each field one"
    except Exception as error:  # the code of others fails in any way
        return f"has settings that cannot be made by default: {type(error).__name__}: {error}"
    return None
