"""Models with random weights that find mentions in nearly any text, in memory and in folders."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

import graphs_made_once  # noqa: F401 - in its place from here on
from tiny_encoders import tiny_encoder
from trigner.batches.collation import collate
from trigner.families.core.folder import saved_network
from trigner.families.tagging import exporting
from trigner.families.tagging.model import Model, create
from trigner.families.tagging.network_settings import TaggerSettings
from trigner.families.tagging.taggers import TaggerSpec, tagger_spec
from trigner.families.tagging.torch_runtime import torch_predictor, torch_scorer
from trigner.models.folder import Description, Provenance, save_model
from trigner.pipeline.extraction import Extractor
from trigner.schemes.scheme import Scheme, TagSpace
from trigner.systems.registry import own_systems

TAG_SCHEMES = tuple(n for n, spec in own_systems().items() if isinstance(spec, TaggerSpec))
"""Names of all tag schemes."""

SIZES = {
    "lstm_size": 8,
    "distance_size": 3,
    "region_size": 3,
    "channels": 4,
    "pair_size": 6,
    "grid_size": 5,
    "biaffine_size": 5,
    "mac": {"size": 12, "span_size": 8, "span_reach": 6, "length_size": 3},
    "toe": {"table_size": 6, "heads": 2, "feed_forward": 7},
}
LAST_LAYERS = {
    "w2ner": ("co_predictor.grid.output",),
    "span_grid": ("co_predictor.grid.output",),
    "gap_grid": ("co_predictor.grid.output",),
    "mac": ("segments.output", "links.output"),
    "mac_minimal": ("segments.output", "links.output"),
    "toe": ("main.grid.output", "auxiliary.grid.output"),
    **dict.fromkeys(("corro", "biohd", "biohd1234", "bio"), ("output",)),
}
"""One line a scheme: layers whose biases are those of its tags, one behind the other."""

TEXT = "my left leg hurt. no pain in arm, numb after the tablet."


def small_settings(scheme: str, **changes: Any) -> TaggerSettings:
    """The settings of a scheme's network with those of `SIZES` that it has, but for `changes`."""
    kind = tagger_spec(scheme).settings
    sizes = {name: size for name, size in SIZES.items() if name in kind.model_fields}
    return kind(**{**sizes, **changes})


def tiny_model(folder: Path, scheme: str = "w2ner", kind: str = "bert", **changes: Any) -> Model:
    """A model around a tiny encoder, of `SIZES` but for `changes`.

    On average no class is ahead of the others; of tags that stand side by side each has its turn.
    """
    torch.manual_seed(1)
    encoder = tiny_encoder(folder, kind, head=False)
    made = create(str(encoder), scheme, ("ADR", "Drug"), small_settings(scheme, **changes))
    batch = collate(made.inputs.tokenizer([TEXT.split()]), padding_id=made.padding_id)
    scores = torch_scorer(made.tagger)(batch).reshape(-1, len(made.scheme.tags))
    several = made.scheme.tag_space is TagSpace.MULTI_LABEL_GRID
    middle = np.quantile(scores, 0.7, axis=0) if several else scores.mean(axis=0)
    middle = middle.round(4)  # where sums are in memory may change their last digits
    layers = [made.tagger.get_submodule(name) for name in LAST_LAYERS[scheme]]
    start = 0
    with torch.no_grad():
        for layer in layers:
            stop = start + len(layer.bias)
            layer.bias -= torch.from_numpy(middle[start:stop])
            start = stop
    return made


def make_scheme(name: str, labels: Sequence[str]) -> Scheme:
    """A tag scheme over entity types."""
    return tagger_spec(name).scheme(tuple(labels))


def extractor(model: Model, **options: Any) -> Extractor:
    """An extractor around a model in memory, on the CPU."""
    return Extractor(torch_predictor(model, torch.device("cpu")), model.scheme.name, **options)


def save(model: Model, folder: Path, **provenance: Any) -> Path:
    """Write a model's folder."""
    state = saved_network(model.tagger, model.tokenizer, model.padding_id)
    description = Description(
        system=model.scheme.name,
        labels=model.scheme.labels,
        model=model.settings.model_dump(mode="json"),
        state=dict(state.state),
        temperature=model.temperature,
        files={},
        provenance=Provenance.model_validate(provenance),
    )
    save_model(folder, description, state.files)
    return folder


def export(model: Model, out: Path, *, int8: bool = False) -> Path:
    """Write a model for ONNX Runtime."""
    with TemporaryDirectory() as folder:
        return exporting.export(save(model, Path(folder) / "model"), out, int8=int8)
