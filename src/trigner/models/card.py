"""The model card: the README.md that the Hub shows, generated from `trigner.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import yaml

from trigner.encoders import ENCODERS
from trigner.machine import counted, mapping, number, text, whole_number
from trigner.models.fetching import HUB_NAME
from trigner.models.folder import Description, Provenance

SLICES = {
    "f1": "all entities",
    "discontinuous_f1": "discontinuous entities",
    "continuous_f1": "continuous entities",
}
"""Name of an F1 score in the provenance -> the entities that it is about."""

LIMITS = """\
- It was trained on one kind of text and is untested on others. It finds only the labels above.
- Entities are found within one sentence; those that span two are missed.
- The scores above hold for the documents named there. Measure on your own text:
  `trigner evaluate --model MODEL --data FOLDER`.
- It is not a medical device: have a person check its output."""


_ON_HUB = {"minilm": "sentence-transformers/all-MiniLM-L6-v2", **ENCODERS}

_LICENCES = {"minilm": "apache-2.0", "bioclinicalbert": "mit", "pubmedbert": "mit"}
"""Short names of encoders: the licences that are stated on the Hub."""


def model_card(
    description: Description, *, name: str | None = None, licence: str | None = None
) -> str:
    """Markdown with YAML front matter, from a description (`model_folder.read_description`).

    `name` is the name to load the model by, `licence` an identifier such as `apache-2.0`, by
    default that of the provenance. What the description does not say is omitted, never guessed.
    """
    provenance = description.provenance
    licence = licence or provenance.licence
    parts = [
        _front_matter(description, provenance, licence),
        f"# {name or 'A trigner model'}\n",
        _purpose(description),
        _use(description, name),
        f"## Labels\n\n{_list(f'`{_plain(label)}`' for label in description.labels)}\n",
        _data(provenance, licence),
        _scores(provenance),
        _confidence(provenance),
        f"## Limits\n\n{LIMITS}\n",
        _versions(description, provenance),
    ]
    return "\n".join(part for part in parts if part)


def _front_matter(description: Description, provenance: Provenance, licence: str | None) -> str:
    values: dict[str, Any] = {
        "library_name": "trigner",
        "pipeline_tag": "token-classification",
        "tags": [
            "trigner",
            "named-entity-recognition",
            "discontinuous-ner",
            "onnx" if description.is_exported else "pytorch",
        ],
    }
    if licence:
        values["license"] = str(licence)
    encoder = _encoder(provenance)
    if encoder and HUB_NAME.fullmatch(encoder):
        values["base_model"] = encoder
    return f"---\n{yaml.safe_dump(values, sort_keys=False, allow_unicode=True)}---\n"


def _purpose(description: Description) -> str:
    precision = _plain("float32" if description.runtime is None else description.runtime.precision)
    kind = (
        f"It runs with ONNX Runtime ({precision}), without PyTorch."
        if description.is_exported
        else f"It needs the package {_plain(description.package)}."
        if description.package != "trigner"
        else "It runs with PyTorch, and can be trained further or exported to ONNX."
    )
    return (
        "Finds named entities in raw text, including discontinuous ones, whose words are not"
        " adjacent. Each entity\nhas the exact character ranges of its fragments and a score."
        f" {kind}\n"
    )


def _use(description: Description, name: str | None) -> str:
    extra = "trigner" if description.is_exported else "'trigner[train]'"
    return f"""## How to use

`pip install {extra}`, then

```python
import trigner

extract = trigner.load("{name or "folder/of/this/model"}")
for entity in extract("Pain and cramping in my hands and lower legs.").entities:
    print(entity.label, entity.text, entity.fragments, entity.score)
```
"""


def _data(provenance: Provenance, licence: str | None) -> str:
    train = provenance.train
    lines = []
    if provenance.data:
        lines.append(f"Data: {_plain(provenance.data)}")
    sizes = (
        (train.documents, "document"),
        (train.sentences, "sentence"),
        (train.mentions, "mention"),
    )
    counts = [counted(number, kind) for number, kind in sizes if number is not None]
    if counts and train.made:
        counts.append(f"and {counted(train.made, 'sentence')} generated from them")
    if counts:
        lines.append(f"Trained on {', '.join(counts)}")
    lines += [
        f"{counted(count, 'mention')} could not be learned: {_plain(reason)}"
        for reason, count in train.unusable.items()
    ]
    if encoder := _encoder(provenance):
        lines.append(f"Encoder: `{_plain(encoder)}`{_source(encoder)}")
    if preset := text(provenance.settings.get("preset")):
        named = f"preset `{_plain(preset)}` as it was then"
        lines.append(f"Settings: {named}; all of them are in `trigner.json`")
    if provenance.recipe:
        lines.append(f"Made by `{_plain(provenance.recipe)}`")
    lines.append(f"Licence: {_plain(licence)}" if licence else "Licence: not stated")
    return f"## Data and training\n\n{_list(lines)}\n"


def _parts(provenance: Provenance) -> Mapping[str, Any]:
    """What is said of each part of the data; a release may add those that it was tested on."""
    own = provenance.model_dump(mode="json", exclude_none=True, include={"train", "dev"})
    return {**own, **(provenance.model_extra or {})}


def _scores(provenance: Provenance) -> str:
    sections = []
    for part, values in _parts(provenance).items():
        scores = mapping(mapping(values).get("scores"))
        if not scores:
            continue
        documents = whole_number(values.get("documents"))
        about = part if documents is None else f"{counted(documents, 'document')} of {part}"
        table = _by_slice if all(isinstance(v, Mapping) for v in scores.values()) else _by_name
        section = f"## Scores on {_plain(about)}\n\n{table(scores)}\n"
        if (error := number(values.get("calibration_error"))) is not None:
            section += f"\nExpected calibration error: {error:.3f}.\n"
        sections.append(section)
    return "\n".join(sections)


def _by_slice(scores: Mapping[str, Mapping[str, Any]]) -> str:
    """Precision, recall and F1 of each slice (`evaluation.Slices.as_json`)."""
    rows = ["| | P | R | F1 | gold |", "|---|---:|---:|---:|---:|"]
    for name, own in scores.items():
        cells = [_score(own.get(value, "")) for value in ("precision", "recall", "f1")]
        cells = [_plain(name).replace("_", " "), *cells, _plain(own.get("gold", ""))]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _by_name(scores: Mapping[str, Any]) -> str:
    rows = [f"| {SLICES.get(n, _plain(n))} | {_score(value)} |" for n, value in scores.items()]
    return "\n".join(["| F1 unless named otherwise | |", "|---|---:|", *rows])


def _confidence(provenance: Provenance) -> str:
    found = provenance.calibration or {}
    temperature, before, after = (
        number(found.get(name)) for name in ("temperature", "error_before", "error_after")
    )
    predictions = whole_number(found.get("predictions"))
    if temperature is None or before is None or after is None or predictions is None:
        return ""
    return (
        "## Confidence\n\n"
        f"Logits are divided by {temperature:g}, fitted on {predictions}"
        " predictions on dev. Expected calibration error there:"
        f" {before:.3f} before, {after:.3f} after.\n"
    )


def _versions(description: Description, provenance: Provenance) -> str:
    lines = [f"trigner {_plain(description.trigner)}, model format {description.format}"]
    lines += [
        f"Signature of {_plain(part)}: `{_plain(values['signature'])}`"
        for part, values in _parts(provenance).items()
        if "signature" in mapping(values)
    ]
    return f"## Versions\n\n{_list(lines)}\n"


def _encoder(provenance: Provenance) -> str | None:
    """The encoder's name; for a local folder only the last part of its path."""
    encoder = text(provenance.settings.get("encoder"))
    if not encoder:
        return None
    return encoder if HUB_NAME.fullmatch(encoder) else PurePath(encoder.replace("\\", "/")).name


def _source(encoder: str) -> str:
    """Where an encoder comes from and under which licence, as far as that is known."""
    name = _ON_HUB.get(encoder, encoder)
    if not HUB_NAME.fullmatch(name):
        return "; its source and licence are not stated"
    licence = _LICENCES.get(encoder)
    known = f"licence: {licence}" if licence else "its licence is stated there"
    return f", from [{name}](https://huggingface.co/{name}); {known}"


def _list(lines: Iterator[str] | list[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _plain(value: Any) -> str:
    """One line that cannot end a code span or open a table cell or tag."""
    line = " ".join(str(value).split())
    return line.translate({ord("`"): "'", ord("|"): "/", ord("<"): "(", ord(">"): ")"})


def _score(value: Any) -> str:
    rate = number(value)
    return _plain(value) if rate is None else f"{100 * rate:.2f}"
