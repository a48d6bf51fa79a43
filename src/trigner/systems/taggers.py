"""The systems that are tag schemes: one row each.

A scheme turns mentions into tags and back; a network gives each tag a score. Both stand in the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from trigner.schemes import (
    Bio,
    Biohd,
    Corro,
    GapGrid,
    Mac,
    Scheme,
    SpanGrid,
    Toe,
    W2ner,
    round_trip,
)
from trigner.systems.network_settings import NetworkSettings, ToeNetworkSettings
from trigner.systems.spec import SystemSpec

MakeScheme = Callable[[tuple[str, ...]], Scheme]


@dataclass(frozen=True, eq=False, kw_only=True)
class TaggerSpec(SystemSpec):
    """A tag scheme with its network: `module:name` of what builds it (`networks.build`).

    `scheme(labels)` gives the tag scheme over these entity types.
    """

    scheme: MakeScheme
    network: str


SHARED = ("encoder", "sampling", "optimisation")
MULTI_LABEL = ("triplets", "task.multi_label", "task.first_group", "task.negative_rate")
PAIR_NETWORK = (
    "co_predictor",
    "lstm_size",
    "distance_size",
    "region_size",
    "channels",
    "dilations",
    "chained",
    "normalised",
    "mask_between",
    "pair_map",
    "pair_size",
    "biaffine_size",
    "grid_size",
    "feature_dropout",
)
"""Settings of the network over word pairs that a network over words does not have."""


def _of_model(*names: str) -> tuple[str, ...]:
    return tuple(f"model.{name}" for name in names)


def _tagger(
    name: str,
    about: str,
    scheme: MakeScheme,
    network: str,
    *,
    reads: tuple[str, ...],
    ignores: tuple[str, ...],
    defaults: Mapping[str, Any] | None = None,
    settings: type[NetworkSettings] = NetworkSettings,
    idle: Mapping[tuple[str, Any], tuple[str, ...]] | None = None,
    grid: bool,
) -> TaggerSpec:
    return TaggerSpec(
        name=name,
        about=about,
        build="trigner.tagging.system:build",
        load="trigner.tagging.loading:load",
        export="trigner.tagging.exporting:export",
        settings=settings,
        round_trip=lambda labels, _: partial(round_trip, scheme(tuple(labels))),
        scheme=scheme,
        network=f"trigner.networks.build:{network}",
        reads=(*SHARED, *(("optimisation.distillation",) if grid else ()), *reads),
        ignores=ignores,
        idle={
            ("model.co_predictor", "w2ner"): _of_model("pair_map", "pair_size"),
            ("model.co_predictor", "trigner"): _of_model("biaffine_size"),
            ("model.pair_map", "folded"): _of_model("pair_size"),
            **(idle or {}),
        },
        defaults=defaults or {},
        calibration=True,
        grid=grid,
        init_from=True,
    )


def _sequence(
    name: str, about: str, scheme: MakeScheme, *, reads: tuple[str, ...] = ()
) -> TaggerSpec:
    # The BiLSTM is one of its layers, and so is the size of its states.
    pairs = [name for name in PAIR_NETWORK if name != "lstm_size"]
    return _tagger(
        name,
        about,
        scheme,
        "sequence_tagger",
        reads=reads,
        ignores=(*_of_model("mac", "toe", *pairs), "optimisation.bias_init"),
        # A linear layer over the encoder alone, as Corro publishes, finds less (`docs/schemes.md`).
        defaults={"model": {"special_words": False, "sequence": {"layer": "bilstm"}}},
        idle={
            ("model.sequence.layer", "bilstm"): _of_model("sequence.hidden_size", "output_dropout"),
            ("model.sequence.layer", "hidden"): _of_model("lstm_size"),
            ("model.sequence.layer", "none"): _of_model(
                "sequence.hidden_size", "output_dropout", "lstm_size"
            ),
        },
        grid=False,
    )


_MAC = partial(
    _tagger,
    network="mac_tagger",
    reads=MULTI_LABEL,
    ignores=_of_model("sequence", "toe", *(n for n in PAIR_NETWORK if n != "lstm_size")),
    defaults={"model": {"embedding_dropout": 0.2}},
    idle={("model.mac.recurrent", False): _of_model("lstm_size")},
    grid=True,
)

TAGGERS: dict[str, SystemSpec] = {
    row.name: row
    for row in (
        _tagger(
            "w2ner",
            "a grid of word pairs: next-neighbouring words, and typed tail-head words"
            " (Li et al., AAAI 2022); with triplets TriG-NER (Cabral et al., WWW 2025)",
            W2ner,
            "grid_tagger",
            reads=("triplets", "task.tag_weight", "optimisation.rescoring"),
            ignores=_of_model("mac", "sequence", "toe"),
            grid=True,
        ),
        _tagger(
            "toe",
            "a grid of word pairs with tags that know of each other (TOE, Liu et al., 2022)",
            Toe,
            "toe_tagger",
            reads=(*MULTI_LABEL, "optimisation.rescoring"),
            ignores=_of_model("mac", "sequence"),
            defaults={"model": {"dilations": (1, 2), "chained": False}},
            settings=ToeNetworkSettings,
            idle={("model.toe.rounds", 1): _of_model("toe.dropout", "toe.mask_padding")},
            grid=True,
        ),
        _MAC(
            "mac",
            "segments and their links, mentions as maximal cliques (Wang et al., ACL 2021)",
            Mac,
        ),
        _MAC(
            "mac_minimal",
            "mac with the links of neighbouring segments only",
            partial(Mac, full=False),
        ),
        _tagger(
            "span_grid",
            "segments and the gaps between them, mentions as paths (Mao et al., 2024)",
            SpanGrid,
            "grid_tagger",
            reads=(*MULTI_LABEL, "optimisation.rescoring"),
            ignores=_of_model("mac", "sequence", "toe"),
            grid=True,
        ),
        _tagger(
            "gap_grid",
            "fragments, gaps and the ends of entities, mentions as paths (after GapDNER, 2025)",
            GapGrid,
            "grid_tagger",
            reads=(*MULTI_LABEL, "optimisation.rescoring"),
            ignores=_of_model("mac", "sequence", "toe"),
            grid=True,
        ),
        _sequence(
            "corro",
            "tags with component types, found exactly (Corro, EMNLP 2024)",
            Corro,
            reads=("task.partial_labels",),
        ),
        _sequence("biohd", "BIO tags for shared heads and for parts (Tang et al., 2013)", Biohd),
        _sequence(
            "biohd1234",
            "BIOHD with digits that say which segment a part belongs to",
            partial(Biohd, digits=True),
        ),
        _sequence("bio", "plain BIO tags: no discontinuous mention at all", Bio),
    )
}
"""The systems of this package that are tag schemes."""
