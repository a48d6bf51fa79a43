"""All settings of a training, their presets, and one order of precedence.

defaults < preset < file < command line. What is not given on a level overrides nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from trigner.errors import InputError
from trigner.model_folder import DESCRIPTION, read_description
from trigner.networks import NetworkSettings
from trigner.training.presets import DEFAULT, PRESETS, SCHEME_SETTINGS
from trigner.training.records import differences
from trigner.triplets import TripletSettings

SelectBy = Literal["overall", "discontinuous"]

AUTO_CELLS = 40_000


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class TaskSettings(_Section):
    """The loss of the tags, for schemes that leave a choice."""

    multi_label: Literal["zero_threshold", "binary"] = Field(
        default="zero_threshold", description="loss of a cell that can have several tags"
    )
    first_group: float = Field(
        default=0.5, ge=0, le=1, description="weight of the first of a scheme's two tag groups"
    )
    negative_rate: float = Field(
        default=1.0, gt=0, le=1, description="share of the cells without tags that are learnt from"
    )
    partial_labels: Literal["soft", "hard", "first"] = Field(
        default="soft",
        description="what corro learns of component types: soft or hard EM, or the first is x",
    )
    tag_weight: float = Field(
        default=1.0,
        gt=0,
        description="weight of cells with a tag, where a cell has one tag at most",
    )


class SamplingSettings(_Section):
    """How often an epoch sees a sentence, all others once; sentences made of those there are."""

    discontinuous: float = Field(
        default=1.0, ge=1, description="sentences with a discontinuous mention: times an epoch"
    )
    empty: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="share of the sentences without mentions, drawn anew for each epoch",
    )
    coordination: float = Field(
        default=0.0,
        ge=0,
        description="coordination augmentation: sentences made of mentions that share words, as"
        " share of the sentences with mentions",
    )
    conjunctions: tuple[str, ...] = Field(
        default=("and", "or", "/", "("),
        min_length=1,
        description="what such a sentence puts in before the last member; an opening parenthesis"
        " is closed behind it",
    )


class OptimisationSettings(_Section):
    """Rates, schedule, batches, and when to stop."""

    epochs: int = Field(default=10, ge=1, description="times that training sees its sentences")
    batch_size: int = Field(default=12, ge=1, description="sentences in a batch, at most")
    cell_budget: Annotated[int, Field(ge=1)] | Literal["auto"] | None = Field(
        default="auto",
        description="word pairs in a batch, at most; auto: 40,000, longer sentences alone;"
        " none: random batches, last dropped",
    )
    batch_weighting: Literal["cells", "equal"] = Field(
        default="cells",
        description="what a batch's loss counts: as much as it has word pairs (words where a scheme"
        " scores words; anchors for triplets), so that each counts alike in the corpus; equal: the"
        " mean over each batch, which weighs sentences by those beside them",
    )
    encoder_lr: float = Field(
        default=1e-4, ge=0, description="learning rate of the pretrained encoder"
    )
    learning_rate: float = Field(default=3e-3, gt=0, description="learning rate of everything else")
    weight_decay: float = Field(default=0.0, ge=0, description="AdamW's weight decay")
    warmup: float = Field(default=0.1, ge=0, lt=1, description="share of the updates")
    beta2: float = Field(
        default=0.999, ge=0, lt=1, description="what AdamW's average of squares keeps at an update"
    )
    epsilon: float = Field(default=1e-8, gt=0, description="AdamW's epsilon")
    max_grad_norm: float = Field(default=5.0, gt=0, description="largest norm of the gradient")
    patience: int | None = Field(
        default=None, ge=1, description="stop after more than this many epochs without improvement"
    )
    select_by: SelectBy = Field(default="overall", description="the dev F1 that chooses the epoch")
    bias_init: bool = Field(
        default=False,
        description="initialise the output biases so that the scores of word pairs start at the"
        " share of training cells that have each tag; not with --init-from",
    )
    ema_decay: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="evaluate and save an exponential moving average (EMA) of the weights with"
        " this decay; none: the weights themselves",
    )
    precision: Literal["float32", "bfloat16"] = Field(
        default="float32",
        description="bfloat16: mixed precision in training and in judging its epochs, faster where"
        " the hardware has it",
    )

    @property
    def cells(self) -> int | None:
        """Word pairs in a batch, at most; None: batches are not made by cost."""
        return AUTO_CELLS if self.cell_budget == "auto" else self.cell_budget


class Settings(_Section):
    """Everything that decides what a training makes of the same data."""

    preset: str = Field(
        default="clean",
        description="the named set of settings below all others; best if none is named",
    )
    encoder: str = Field(default="minilm", description="name on the Hub, folder, or minilm")
    scheme: str = Field(default="w2ner", description="tagging scheme")
    seed: int = Field(default=123, ge=0, description="seed of everything random")
    network: NetworkSettings = NetworkSettings()
    task: TaskSettings = TaskSettings()
    triplets: TripletSettings = TripletSettings()
    sampling: SamplingSettings = SamplingSettings()
    optimisation: OptimisationSettings = OptimisationSettings()

    @model_validator(mode="after")
    def _triplets_have_what_they_need(self) -> Settings:
        if self.triplets.weight == 0:
            return self
        if SCHEME_SETTINGS.get(self.scheme, {}).get("triplets", {}).get("weight") == 0:
            raise ValueError(
                f"the scheme {self.scheme} has no word pairs: triplets.weight must be 0"
            )
        if not self.network.special_words:
            raise ValueError("triplets need [POS] and [NEG]: network.special_words must be true")
        return self

    @model_validator(mode="after")
    def _heads_divide_the_states(self) -> Settings:
        size, heads = self.network.lstm_size, self.network.toe.heads
        if self.scheme == "toe" and size % heads:
            raise ValueError(f"network.toe.heads must divide network.lstm_size: {size} / {heads}")
        return self


def resolve(
    *,
    preset: str | None = None,
    file: Path | None = None,
    assignments: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    init_from: Path | None = None,
) -> Settings:
    """Settings from all levels.

    `assignments` are `section.key=value` as on the command line, `options` its named options (None:
    not given). Without a preset it is `DEFAULT`. What the scheme needs stands above the defaults
    and below the preset; the network, encoder and scheme of the model folder `init_from` take the
    place of the defaults. Raises InputError naming what is unknown, out of range, without effect,
    or not that model's.
    """
    inherited = {} if init_from is None else _of_model(init_from)
    from_file = {} if file is None else _read(file)
    named = {key: value for key, value in (options or {}).items() if value is not None}
    name = str(preset or from_file.get("preset") or DEFAULT)
    if name not in PRESETS:
        raise InputError(f"unknown preset {name!r}; known are: {', '.join(PRESETS)}")
    given = _merged([from_file, *map(_assignment, assignments), named])
    merged = _merged([inherited, PRESETS[name], given, {"preset": name}])
    merged = _merge(SCHEME_SETTINGS.get(merged.get("scheme", ""), {}), merged)
    try:
        settings = Settings.model_validate(merged)
    except ValidationError as error:
        raise InputError(f"settings: {'; '.join(map(_told, error.errors()))}", path=file) from error
    idle = given.get("triplets", {})
    if idle and "weight" not in idle and not settings.triplets.weight:
        raise InputError(
            f"triplets.{next(iter(idle))} changes nothing: the preset {name} with the scheme"
            f" {settings.scheme} trains without triplets; give triplets.weight too, or --preset"
            " clean (with a scheme of word pairs)",
            path=file if "triplets" in from_file else None,
        )
    chosen = settings.model_dump(mode="json", include=set(inherited))
    if different := sorted(differences(inherited, chosen)):
        message = f"was trained with other {', '.join(different)}: leave them and their preset out"
        raise InputError(message, path=init_from)
    return settings


def _of_model(folder: Path) -> dict[str, Any]:
    """What a training that starts from this model has to keep."""
    description = read_description(folder)
    try:
        network = NetworkSettings.model_validate(description["network"])
        trained = dict(description["provenance"]).get("settings") or {}
        encoder = {"encoder": trained["encoder"]} if "encoder" in trained else {}
        scheme = str(description["scheme"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"is damaged: {error}", path=folder / DESCRIPTION) from error
    return {"network": network.model_dump(mode="json"), "scheme": scheme, **encoder}


def _told(error: Any) -> str:
    """One of pydantic's errors in words that name what there is."""
    name = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        section: Any = Settings()
        for part in error["loc"][:-1]:
            section = getattr(section, str(part))
        known = type(section).model_fields
        alike = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        hint = f"did you mean {alike[0]}?" if alike else f"known are: {', '.join(known)}"
        return f"{name}: unknown setting; {hint}"
    if error["type"] in ("model_type", "model_attributes_type"):
        return f"{name}: is a section of settings, not one"
    return f"{name}: {error['msg']}" if name else str(error["msg"])


def _merged(levels: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for level in levels:
        merged = _merge(merged, level)
    return merged


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
        raise InputError(f"a preset comes before single settings: give --preset {value}")
    try:
        nested: Any = _value(yaml.safe_load(value))
    except yaml.YAMLError as error:
        raise InputError(f"--set {text!r}: {error}") from error
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
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=file) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", path=file) from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = None if mark is None else mark.line + 1
        raise InputError(
            f"is not YAML: {getattr(error, 'problem', error)}", path=file, line=line
        ) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise InputError("must be a mapping of settings", path=file, line=1)
    return {str(k): _deep(v) for k, v in data.items()}


def _deep(value: Any) -> Any:
    return (
        {str(k): _deep(v) for k, v in value.items()} if isinstance(value, dict) else _value(value)
    )
