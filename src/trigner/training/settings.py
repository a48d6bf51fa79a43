"""All settings of a training, their presets, and one order of precedence.

defaults < preset < file < command line. What is not given on a level overrides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, reduce
from pathlib import Path
from typing import Any

from pydantic import (
    BaseModel,
    Field,
    SerializeAsAny,
    ValidationError,
    create_model,
    model_validator,
)

from trigner.errors import InputError, unknown_setting, validation_message
from trigner.inference import spec_of
from trigner.mentions import shortened
from trigner.model_folder import DESCRIPTION, read_description
from trigner.networks import check_settings
from trigner.systems import NetworkSettings, SystemSpec, own_systems, system_spec
from trigner.tagging.settings import TaskSettings
from trigner.training.lines import read_yaml, yaml_value
from trigner.training.presets import DEFAULT, PRESETS
from trigner.training.records import differences
from trigner.training.sections import (
    LARGEST_SEED,
    OptimisationSettings,
    SamplingSettings,
    Section,
)
from trigner.triplets import TripletSettings


class Settings(Section):
    """Everything that decides what a training makes of the same data.

    `model` are the system's own settings: their class is that of its row (`settings_of`).
    """

    preset: str = Field(
        default="clean",
        description="the named set of settings below all others; best if none is named",
    )
    encoder: str = Field(default="minilm", description="name on the Hub, folder, or minilm")
    system: str = Field(default="w2ner", description="system, such as a tag scheme")
    seed: int = Field(default=123, ge=0, le=LARGEST_SEED, description="seed of everything random")
    model: SerializeAsAny[BaseModel] = NetworkSettings()
    task: TaskSettings = TaskSettings()
    triplets: TripletSettings = TripletSettings()
    sampling: SamplingSettings = SamplingSettings()
    optimisation: OptimisationSettings = OptimisationSettings()

    @model_validator(mode="after")
    def _triplets_have_what_they_need(self) -> Settings:
        if self.triplets.weight == 0:
            return self
        if not system_spec(self.system).triplets:
            raise ValueError(
                f"the system {self.system} has no word pairs: triplets.weight must be 0"
            )
        if not getattr(self.model, "special_words", False):
            raise ValueError("triplets need [POS] and [NEG]: model.special_words must be true")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # Its class is made for its system and has no name that another process could import.
        return _settings_from, (self.model_dump(mode="json"),)

    def identity(self) -> dict[str, Any]:
        """The dotted settings that change what a training makes of the same data."""
        spec = system_spec(self.system)
        values = flat(self.model_dump(mode="json", exclude={"preset"}))
        return {n: v for n, v in values.items() if n == "system" or spec.reads_setting(n)}


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
    """`Settings` whose section `model` is that of a system.

    Raises InputError when the system's row names a setting that there is not: what is misspelt in
    `reads` would be missing in the identity of a study's runs.
    """
    own: Any = (spec.settings, spec.settings())
    made = create_model("Settings", __base__=Settings, model=own)
    if unknown := spec.unknown_settings(made):
        raise InputError(
            f"the system {spec.name} of the package {spec.package} names settings that do not"
            f" exist: {', '.join(unknown)}"
        )
    return made


def resolve(
    *,
    preset: str | None = None,
    file: str | Path | None = None,
    assignments: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    init_from: str | Path | None = None,
    shared: Sequence[str] = (),
    own: Collection[str] | None = None,
) -> Settings:
    """Settings from all levels.

    `assignments` are `section.key=value` as on the command line, `options` its named options (None:
    not given). Without a preset it is `DEFAULT`. What the system needs stands above the defaults
    and below the preset; the model settings, encoder and system of the model folder `init_from`
    take the place of the defaults. `shared` are assignments below the others for several systems:
    what one of them does not read is no error. `own` are the dotted names that this system must
    read (None: all that were given); with it the preset is for several systems, too. Raises
    InputError naming what is unknown, out of range, without effect, or not that model's.
    """
    file = None if file is None else Path(file)
    init_from = None if init_from is None else Path(init_from)
    inherited = {} if init_from is None else _of_model(init_from)
    from_file = {} if file is None else _read(file)
    named = {key: value for key, value in (options or {}).items() if value is not None}
    common = _merged(map(_assignment, shared))
    name = from_file.get("preset", DEFAULT) if preset is None else preset
    if not isinstance(name, str) or name not in PRESETS:
        where = file if preset is None else None
        raise InputError(f"unknown preset {name!r}; known are: {', '.join(PRESETS)}", path=where)
    by_hand = _merged([*map(_assignment, assignments), named])
    given = _merged([from_file, by_hand])
    levels: list[Mapping[str, Any]] = [PRESETS[name], common]
    system = {"system": Settings.model_fields["system"].default}
    spec = system_spec(str(_merged([system, inherited, *levels, given])["system"]))
    if own is not None:
        levels = [_that_it_has(level, spec) for level in levels]
    without = {} if spec.triplets else {"triplets": {"weight": 0.0}}
    merged = _merged([without, spec.defaults, inherited, *levels, given, {"preset": name}])
    try:
        settings = settings_of(spec).model_validate(merged)
    except ValidationError as error:
        found = _by_setting(error.errors(), settings_of(spec))
        message = "; ".join(_message(name, own, spec) for name, own in found.items())
        blamed = None if any(_has(by_hand, name) for name in found) else file
        raise InputError(f"settings: {message}", path=blamed) from error
    if spec.name in own_systems():  # a larger one could not be loaded, if it could be trained
        check_settings(settings.model.model_dump(mode="json"), file)
    settings = _without_unread(settings, spec)
    must_read = flat(given).keys() if own is None else own
    if idle := _idle(given, must_read, settings, spec):
        what, why = idle
        raise InputError(f"{what} changes nothing{why}", path=None if _has(by_hand, what) else file)
    chosen = settings.model_dump(mode="json", include=set(inherited))
    if different := sorted(differences(inherited, chosen)):
        message = f"was trained with different {', '.join(different)}: omit them and their preset"
        raise InputError(message, path=init_from)
    return settings


def _that_it_has(values: Mapping[str, Any], spec: SystemSpec) -> dict[str, Any]:
    """Values for several systems without those that others' settings have and this one's lack."""
    others = {name for own in own_systems().values() for name in own.settings.model_fields}
    foreign = others - set(spec.settings.model_fields)
    found = {name: own for name, own in values.items() if spec.triplets or name != "triplets"}
    if isinstance(model := values.get("model"), Mapping):
        found["model"] = {name: own for name, own in model.items() if name not in foreign}
    return found


def _without_unread(settings: Settings, spec: SystemSpec) -> Settings:
    """Sections of which the system reads nothing, as by default: training looks at them too."""
    read = {name.partition(".")[0] for name in spec.reads}
    unread = {
        name: type(getattr(settings, name))()
        for name in ("task", "sampling", "optimisation")
        if name not in read
    }
    return settings.model_copy(update=unread)


def _has(values: Mapping[str, Any], name: str) -> bool:
    """Whether a dotted setting, or one of a section, is among nested values."""
    return any(not name or f"{own}.".startswith(f"{name}.") for own in flat(values))


def _idle(
    given: Mapping[str, Any], must_read: Collection[str], settings: Settings, spec: SystemSpec
) -> tuple[str, str] | None:
    """What was asked for and changes nothing, and why."""
    triplets = given.get("triplets", {})
    if triplets and "weight" not in triplets and not settings.triplets.weight:
        return f"triplets.{next(iter(triplets))}", (
            f": the preset {settings.preset} with the system {spec.name} trains without triplets;"
            " set triplets.weight too, or --preset clean (with a system of word pairs)"
        )
    defaults = _merged([spec.defaults, {"triplets": {"weight": 0}}])
    usual = flat(settings_of(spec).model_validate(defaults).model_dump())
    values = flat(settings.model_dump())
    for name in must_read:
        if name not in (*_ABOUT_ALL, "triplets.weight") and not spec.reads_setting(name):
            return name, f": the system {spec.name} does not read it"
        beside = spec.idle_beside(name, values)
        if beside is not None and values.get(name) != usual.get(name):
            other, value = beside
            return name, f" where {other}={'none' if value is None else str(value).lower()}"
    return None


_ABOUT_ALL = ("preset", "system", "seed")


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
    if error["type"] in ("model_type", "model_attributes_type"):
        return f"{name}: is a section, not a single setting"
    message = validation_message(*errors)
    return f"{name}: {message}" if name else message


def _systems_with(place: Sequence[Any]) -> str:
    """Which systems have a setting: the first three by name."""
    found = []
    for name, spec in own_systems().items():
        section: Any = settings_of(spec)
        for part in map(str, place):
            field = getattr(section, "model_fields", {}).get(part)
            section = field and field.annotation
        if field:
            found.append(name)
    more = [f"{len(found) - 3} more"] if len(found) > 3 else []
    return ", ".join([*found[:3], *more])


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
    sections = {n for n, own in Settings.model_fields.items() if isinstance(own.default, BaseModel)}
    found = {name: _deep(value) for name, value in read_yaml(file).data.items()}
    return {n: {} if n in sections and own is None else own for n, own in found.items()}


def _deep(value: Any) -> Any:
    return (
        {str(k): _deep(v) for k, v in value.items()} if isinstance(value, dict) else _value(value)
    )
