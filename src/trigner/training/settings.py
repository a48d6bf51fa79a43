"""All settings of a training, their presets, and one order of precedence.

defaults < preset < file < command line. What is not given on a level overrides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, reduce
from pathlib import Path
from types import NoneType
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    SerializeAsAny,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from trigner.encoders import check_settings
from trigner.errors import InputError, unknown_setting, validation_message
from trigner.mentions import shortened
from trigner.models import DESCRIPTION, read_description
from trigner.pipeline import spec_of
from trigner.systems import (
    BUILT_IN,
    LARGEST_SEED,
    OptimisationSettings,
    SamplingSettings,
    Section,
    SystemSpec,
    own_systems,
    system_spec,
)
from trigner.training.lines import read_yaml, yaml_value
from trigner.training.presets import DEFAULT, PRESETS
from trigner.training.records import differences
from trigner.triplets import TripletSettings

ENCODER = "name on the Hub, folder, or minilm"
SECTIONS = ("model", "task", "triplets", "sampling", "optimisation")
"""What holds settings, of which a system may lack all but the first."""


class Settings(Section):
    """Everything that decides what a training makes of the same data.

    The classes of the sections are those of the system's row (`settings_of`).
    """

    preset: str = Field(
        default="clean",
        description="the named set of settings below all others; best if none is named",
    )
    encoder: str | None = Field(default="minilm", description=ENCODER)
    system: str = Field(default="w2ner", description="system, such as a tag scheme")
    seed: int = Field(default=123, ge=0, le=LARGEST_SEED, description="seed of everything random")
    model: SerializeAsAny[BaseModel] = Section()
    task: SerializeAsAny[BaseModel] | None = None
    triplets: TripletSettings | None = None
    sampling: SerializeAsAny[SamplingSettings] = SamplingSettings()
    optimisation: SerializeAsAny[OptimisationSettings] = OptimisationSettings()

    @model_validator(mode="after")
    def _triplets_have_what_they_need(self) -> Settings:
        if self.triplets and self.triplets.weight and not getattr(self.model, "special_words", 0):
            raise ValueError("triplets need [POS] and [NEG]: model.special_words must be true")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Its class is made for its system and has no name that another process could import.
        return _settings_from, (self.as_json(),)

    def as_json(self) -> dict[str, Any]:
        """The nested settings, without the sections that the system lacks."""
        values = self.model_dump(mode="json")
        return {name: value for name, value in values.items() if value is not None}

    def identity(self) -> dict[str, Any]:
        """The dotted settings that change what a training makes of the same data."""
        return flat({name: value for name, value in self.as_json().items() if name != "preset"})


def flat(settings: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Nested settings by dotted names."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        name = f"{above}{key}"
        found.update(flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value})
    return found


def _settings_from(values: Mapping[str, Any]) -> Settings:
    return settings_of(system_spec(values["system"])).model_validate(values)


@cache
def settings_of(spec: SystemSpec) -> type[Settings]:
    """`Settings` with the sections of a system."""
    fields: dict[str, Any] = {"model": (spec.settings, spec.settings())}
    fields["task"] = (spec.task, spec.task()) if spec.task else (None, None)
    fields["triplets"] = (TripletSettings, TripletSettings()) if spec.triplets else (None, None)
    fields["encoder"] = (None, None)
    if spec.encoder is not None:
        fields["encoder"] = (str, Field(default=spec.encoder, description=ENCODER))
    shared: dict[str, tuple[type[Section] | None, Section]] = {
        "sampling": (spec.sampling, SamplingSettings()),
        "optimisation": (spec.optimisation, OptimisationSettings()),
    }
    for name, (kind, usual) in shared.items():
        fields[name] = (kind, kind()) if kind else (_Unread, Field(default=usual, exclude=True))
    return create_model("Settings", __base__=Settings, **fields)


def _refused(value: object) -> object:
    raise PydanticCustomError("none_required", "")


_Unread = Annotated[Section, BeforeValidator(_refused)]
"""A shared section that training looks at, with its defaults, and the system does not."""


def resolve(
    *,
    preset: str | None = None,
    file: str | Path | None = None,
    assignments: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    init_from: str | Path | None = None,
    optional: Collection[str] = (),
) -> Settings:
    """Settings from all levels.

    `assignments` are `section.key=value` as on the command line, `options` its named options (None:
    not set). Without a preset it is `DEFAULT`. The model settings, encoder and system of the model
    folder `init_from` take the place of the defaults. What a preset says counts as far as the
    system has such settings, and so do assignments and options of `optional` names: those of a
    study that are meant for several systems. Raises InputError naming what is unknown, out of
    range, without effect, or not that model's.
    """
    file = None if file is None else Path(file)
    init_from = None if init_from is None else Path(init_from)
    inherited = {} if init_from is None else _of_model(init_from)
    from_file = {} if file is None else _read(file)
    name = from_file.get("preset", DEFAULT) if preset is None else preset
    if not isinstance(name, str) or name not in PRESETS:
        where = file if preset is None else None
        raise InputError(f"unknown preset {name!r}; known are: {', '.join(PRESETS)}", path=where)
    by_name = [(text.partition("=")[0], _assignment(text)) for text in assignments]
    by_name += [(key, {key: value}) for key, value in (options or {}).items() if value is not None]
    everything = [inherited, PRESETS[name], from_file, *(values for _, values in by_name)]
    spec = system_spec(str(_merged([{"system": "w2ner"}, *everything])["system"]))
    kind = settings_of(spec)
    by_hand = _merged(_fitting(own, kind) if n in optional else own for n, own in by_name)
    given = _merged([from_file, by_hand])
    merged = _merged([inherited, _fitting(PRESETS[name], kind), given, {"preset": name}])
    merged["system"] = spec.name
    try:
        settings = kind.model_validate(merged)
    except ValidationError as error:
        found = _by_setting(error.errors(), kind)
        message = "; ".join(_message(name, own, spec) for name, own in found.items())
        blamed = None if any(_has(by_hand, name) for name in found) else file
        raise InputError(f"settings: {message}", path=blamed) from error
    if spec.name in BUILT_IN:  # a larger one could not be loaded, if it could be trained
        check_settings(settings.model.model_dump(mode="json"), file)
    _refuse_idle_triplets(settings, from_file, file)
    _refuse_idle_triplets(settings, _merged(own for n, own in by_name if n not in optional), None)
    chosen = settings.model_dump(mode="json", include=set(inherited))
    if different := sorted(differences(inherited, chosen)):
        message = f"was trained with different {', '.join(different)}: omit them and their preset"
        raise InputError(message, path=init_from)
    return settings


def _fitting(
    values: Mapping[str, Any], kind: type[BaseModel], above: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Nested values without those that other systems' settings have and this one's lack."""
    found = {}
    for name, value in values.items():
        field = kind.model_fields.get(name)
        section = None if field is None else field.annotation
        lacks = section in (NoneType, Section) or field is None
        if lacks and _systems_with([*above, name]):
            continue
        inside: Any = section
        if isinstance(value, Mapping) and isinstance(inside, type):
            value = _fitting(value, inside, (*above, name))
        found[name] = value
    return found


def _refuse_idle_triplets(settings: Settings, given: Mapping[str, Any], file: Path | None) -> None:
    """Raises InputError where triplets are described and switched off by a preset."""
    described = given.get("triplets", {})
    if (
        described
        and "weight" not in described
        and settings.triplets
        and not settings.triplets.weight
    ):
        raise InputError(
            f"triplets.{next(iter(described))} changes nothing: the preset {settings.preset} trains"
            " without triplets; set triplets.weight too, or --preset clean",
            path=file,
        )


def _has(values: Mapping[str, Any], name: str) -> bool:
    """Whether a dotted setting, or one of a section, is among nested values."""
    return any(not name or f"{own}.".startswith(f"{name}.") for own in flat(values))


def _of_model(folder: Path) -> dict[str, Any]:
    """What a training that starts from this model has to keep."""
    description = read_description(folder)
    spec = spec_of(folder, description)
    spec.require("init_from")
    try:
        own = spec.settings.model_validate(description.model)
    except ValidationError as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    trained = description.provenance.settings
    encoder = {"encoder": trained["encoder"]} if "encoder" in trained else {}
    return {"model": own.model_dump(mode="json"), "system": spec.name, **encoder}


def _by_setting(errors: Iterable[Any], settings: type[BaseModel]) -> dict[str, list[Any]]:
    """Pydantic's errors by the dotted setting; those of one value are of all kinds it may have."""
    found: dict[str, list[Any]] = {}
    for error in errors:
        section: Any = settings
        parts = []
        for part in map(str, error["loc"]):
            if not hasattr(section, "model_fields"):
                break
            parts.append(part)
            field = section.model_fields.get(part)
            section = field and field.annotation
        found.setdefault(".".join(parts), []).append(error)
    return found


def _message(name: str, errors: Sequence[Any], spec: SystemSpec) -> str:
    """The errors of one setting in words that name what there is."""
    error = errors[0]
    if error["type"] == "extra_forbidden":
        section: Any = settings_of(spec)
        for part in error["loc"][:-1]:
            section = section.model_fields[str(part)].annotation
        known = section.model_fields
        first, dot, rest = str(error["loc"][-1]).partition(".")
        if dot and first in known:
            return f"{name}: unknown setting; sections are nested: write {rest} below {first}"
        if others := _systems_with(error["loc"]):
            return f"{name}: the system {spec.name} has none; it is a setting of {others}"
        return f"{name}: {unknown_setting(str(error['loc'][-1]), known)}"
    if error["type"] == "none_required":
        return f"{name}: the system {spec.name} has none; {_systems_with([name])} have"
    if error["type"] in ("model_type", "model_attributes_type"):
        return f"{name}: is a section, not a single setting"
    message = validation_message(*errors)
    return f"{name}: {message}" if name else message


def _systems_with(place: Sequence[Any]) -> str:
    """Which systems have a setting: the first three by name."""
    found = [name for name, spec in own_systems().items() if _has_place(settings_of(spec), place)]
    more = [f"{len(found) - 3} more"] if len(found) > 3 else []
    return ", ".join([*found[:3], *more])


def _has_place(section: Any, place: Sequence[Any]) -> bool:
    for part in map(str, place):
        field = getattr(section, "model_fields", {}).get(part)
        if field is None or field.annotation in (NoneType, Section):
            return False
        section = field.annotation
    return True


def _merged(levels: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    return reduce(_merge, levels, {})


def _merge(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(under)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _assignment(text: str) -> dict[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError(f"--set takes key=value, for example optimisation.epochs=5; got {text!r}")
    if name == "preset":
        raise InputError(f"--set cannot choose the preset: use --preset {value}")
    try:
        nested: Any = _value(yaml_value(value))
    except InputError as error:
        raise InputError(f"--set {shortened(text)}: {error.message}") from error
    for key in reversed(name.split(".")):
        nested = {key: nested}
    assert isinstance(nested, dict)
    return nested


def _value(value: Any) -> Any:
    # YAML 1.1 reads 1e-4 as a string and "none" as one.
    if isinstance(value, str):
        if value.lower() == "none":
            return None
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _read(file: Path) -> dict[str, Any]:
    # A section whose lines are all comments is none.
    found = {name: _deep(value) for name, value in read_yaml(file).data.items()}
    return {n: {} if n in SECTIONS and own is None else own for n, own in found.items()}


def _deep(value: Any) -> Any:
    return (
        {str(k): _deep(v) for k, v in value.items()} if isinstance(value, dict) else _value(value)
    )
