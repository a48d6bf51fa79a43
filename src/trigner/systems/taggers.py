"""The systems that are tag schemes: one row each.

A scheme turns mentions into tags and back; a network gives each tag a score. Both stand in the row.
"""

from __future__ import annotations

from collections.abc import Callable
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
from trigner.systems.network_settings import (
    GridSettings,
    MacSettings,
    SequenceSettings,
    TaggerSettings,
    ToeSettings,
)
from trigner.systems.sections import BiasedOptimisation
from trigner.systems.spec import SystemSpec
from trigner.systems.task_settings import CorroTask, MultiLabelTask

MakeScheme = Callable[[tuple[str, ...]], Scheme]


@dataclass(frozen=True, eq=False, kw_only=True)
class TaggerSpec(SystemSpec):
    """A tag scheme with its network: `module:name` of what builds it (`networks.build`).

    `scheme(labels)` gives the tag scheme over these entity types.
    """

    scheme: MakeScheme
    network: str


def _tagger(
    name: str,
    about: str,
    scheme: MakeScheme,
    network: str,
    settings: type[TaggerSettings],
    **more: Any,
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
        calibration=True,
        init_from=True,
        **more,
    )


_grid = partial(_tagger, triplets=True, grid=True, teachers=True, optimisation=BiasedOptimisation)
"""Of a scheme that tags pairs of words."""

_sequence = partial(_tagger, network="sequence_tagger", settings=SequenceSettings)
"""Of a scheme that tags words."""

_mac = partial(_grid, network="mac_tagger", settings=MacSettings, task=MultiLabelTask)

TAGGERS: dict[str, SystemSpec] = {
    row.name: row
    for row in (
        _grid(
            "w2ner",
            "a grid of word pairs: next-neighbouring words, and typed tail-head words"
            " (Li et al., AAAI 2022); with triplets TriG-NER (Cabral et al., WWW 2025)",
            W2ner,
            "grid_tagger",
            GridSettings,
        ),
        _grid(
            "toe",
            "a grid of word pairs with tags that know of each other (TOE, Liu et al., 2022)",
            Toe,
            "toe_tagger",
            ToeSettings,
            task=MultiLabelTask,
        ),
        _mac(
            "mac",
            "segments and their links, mentions as maximal cliques (Wang et al., ACL 2021)",
            Mac,
        ),
        _mac(
            "mac_minimal",
            "mac with the links of neighbouring segments only",
            partial(Mac, full=False),
        ),
        _grid(
            "span_grid",
            "segments and the gaps between them, mentions as paths (Mao et al., 2024)",
            SpanGrid,
            "grid_tagger",
            GridSettings,
            task=MultiLabelTask,
        ),
        _grid(
            "gap_grid",
            "fragments, gaps and the ends of entities, mentions as paths (after GapDNER, 2025)",
            GapGrid,
            "grid_tagger",
            GridSettings,
            task=MultiLabelTask,
        ),
        _sequence(
            "corro",
            "tags with component types, found exactly (Corro, EMNLP 2024)",
            Corro,
            task=CorroTask,
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
