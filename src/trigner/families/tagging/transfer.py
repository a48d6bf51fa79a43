"""A model's weights for other entity types: all but those of tags that its types do not have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor

from trigner.families.tagging.build import build_tagger
from trigner.families.tagging.model import Model
from trigner.families.tagging.taggers import tagger_spec
from trigner.schemes import Scheme, SequenceScheme, arc_names, origins, typed_names

Origins = Sequence[Sequence[int]]


def for_labels(model: Model, labels: tuple[str, ...]) -> tuple[Model, int]:
    """The model with these types in place of its own, and how many tags it has taken over.

    Tags of the same name keep their weights. Those of a new type begin with the mean over the old
    types, afresh where the old types have nothing alike: a transition between two types, of a model
    that has one. The encoder is shared with the model, which must not be used any more.
    """
    make = tagger_spec(model.system).scheme
    scheme, before = make(labels), model.scheme.labels
    old_tags, new_tags = typed_names(make, before), typed_names(make, labels)
    tags = origins(old_tags, new_tags)
    tagger = build_tagger(model.tagger.encoder.model, model.settings, scheme, model.system)
    names = {id(own): name for name, own in tagger.named_parameters()}
    state = model.tagger.state_dict()
    for old, new in zip(model.tagger.tag_weights(), tagger.tag_weights(), strict=True):
        own = tags[new.start :][: new.weights.shape[new.axis]]
        if new.of == "arcs":
            own = origins(typed_names(make, before, _arcs), typed_names(make, labels, _arcs))
        places = [[place - old.start for place in those] for those in own]
        taken = _taken(old.weights.detach(), new.weights.detach(), places, new.axis)
        state[names[id(new.weights)]] = taken
    tagger.load_state_dict(state, strict=True)
    tagger.eval()
    return replace(model, tagger=tagger, scheme=scheme), len({*old_tags} & {*new_tags})


def _arcs(scheme: Scheme) -> tuple[str, ...]:
    return arc_names(cast(SequenceScheme, scheme).grammar)


def _taken(old: Tensor, fresh: Tensor, places: Origins, axis: int) -> Tensor:
    """Slices along an axis: the mean of the old ones at their places; the fresh one without any."""
    slices = [
        old.index_select(axis, torch.tensor(own)).mean(axis, keepdim=True)
        if own
        else fresh.narrow(axis, number, 1)
        for number, own in enumerate(places)
    ]
    return torch.cat(slices, axis)
