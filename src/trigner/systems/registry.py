"""All systems: those of the package and those that installed packages add.

A package adds one through the entry-point group `trigner.systems`: the entry point's name is the
system's, its object a `SystemSpec`. `examples/own-system` is such a package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import Any

from pydantic import BaseModel, ValidationError

from trigner.errors import InputError
from trigner.systems.protocols import CAPABILITY_PROTOCOLS, Predictor, System
from trigner.systems.spec import SystemSpec
from trigner.systems.taggers import TAGGERS, TaggerSpec

GROUP = "trigner.systems"

OWN: tuple[str, ...] = (
    "trigner.transition.spec:SPEC",
    "trigner.spans.spec:SPEC",
    "trigner.seq2seq.spec:SPEC",
    "trigner.hypergraph.spec:SPEC",
    "trigner.segments.spec:SPEC",
    "trigner.generative.spec:SPEC",
)
"""The rows of this package besides the tag schemes, as `module:name`: each in its system's room,
which stands above this one."""


def systems() -> dict[str, SystemSpec]:
    """Every system that can be used, by name."""
    return {name: found for name, found in _all().items() if isinstance(found, SystemSpec)}


def own_systems() -> dict[str, SystemSpec]:
    """The systems of this package alone: no code of others runs."""
    return {**TAGGERS, **{spec.name: spec for spec in map(resolve_name, OWN)}}


def unusable_systems() -> dict[str, str]:
    """Systems that are installed and cannot be used, each with the reason."""
    return {name: found for name, found in _all().items() if isinstance(found, str)}


def system_spec(name: str) -> SystemSpec:
    """The row of a system.

    Raises InputError when there is none of this name, when two packages add one of the same name,
    and when the package that adds it cannot be imported.
    """
    found = _all().get(name)
    if isinstance(found, SystemSpec):
        return found
    raise InputError(found or f"unknown system {name!r}; known are: {', '.join(systems())}")


def tagger_spec(name: str) -> TaggerSpec:
    """The row of a tag scheme. Raises InputError for other systems."""
    spec = system_spec(name)
    if not isinstance(spec, TaggerSpec):
        raise InputError(f"the system {name} is not a tag scheme")
    return spec


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


@cache
def _all() -> Mapping[str, SystemSpec | str]:
    """Each system's row, or why it cannot be used."""
    found: dict[str, SystemSpec | str] = {**own_systems()}
    for point in entry_points(group=GROUP):
        package = point.dist.name if point.dist is not None else "an unknown package"
        known = found.get(point.name)
        if known is not None:
            other = known.package if isinstance(known, SystemSpec) else "another package"
            found[point.name] = (
                f"two packages add a system called {point.name!r}: {other} and {package};"
                " uninstall one of them"
            )
            continue
        try:
            spec = point.load()
        except Exception as error:  # the code of others fails in any way
            found[point.name] = (
                f"the system {point.name!r} of the package {package} cannot be imported:"
                f" {type(error).__name__}: {error}"
            )
            continue
        if isinstance(spec, SystemSpec) and (fault := _fault(spec)):
            found[point.name] = f"the system {point.name!r} of the package {package} {fault}"
        elif isinstance(spec, SystemSpec):
            found[point.name] = replace(spec, name=point.name, package=package)
        else:
            found[point.name] = (
                f"the package {package} declares {point.value!r} as the system {point.name!r},"
                f" which is a {type(spec).__name__}, not a SystemSpec"
            )
    return found


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
