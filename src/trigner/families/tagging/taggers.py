"""The systems that are tag schemes: one spec each, which `registry.BUILT_IN` names.

A scheme turns mentions into tags and back; a network gives each tag a score.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from trigner.errors import InputError
from trigner.families.tagging.network_settings import (
    GridSettings,
    MacSettings,
    SequenceSettings,
    TaggerSettings,
    ToeSettings,
)
from trigner.families.tagging.task_settings import CorroTask, MultiLabelTask
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
from trigner.systems import BiasedOptimisation, SystemSpec, system_spec

MakeScheme = Callable[[tuple[str, ...]], Scheme]


@dataclass(frozen=True, eq=False, kw_only=True)
class TaggerSpec(SystemSpec):
    """A tag scheme with its network: `module:name` of what builds it (`families.tagging.build`).

    `scheme(labels)` gives the tag scheme over these entity types.
    """

    scheme: MakeScheme
    network: str


def _tagger(
    name: str,
    scheme: MakeScheme,
    network: str,
    settings: type[TaggerSettings],
    **more: Any,
) -> TaggerSpec:
    return TaggerSpec(
        name=name,
        build="trigner.families.tagging.system:build",
        load="trigner.families.tagging.loading:load",
        export="trigner.families.tagging.exporting:export",
        settings=settings,
        round_trip=lambda labels, _: partial(round_trip, scheme(tuple(labels))),
        scheme=scheme,
        network=f"trigner.families.tagging.build:{network}",
        calibration=True,
        init_from=True,
        **more,
    )


_grid = partial(_tagger, triplets=True, grid=True, teachers=True, optimisation=BiasedOptimisation)
"""Of a scheme that tags pairs of words."""

_sequence = partial(_tagger, network="sequence_tagger", settings=SequenceSettings)
"""Of a scheme that tags words."""

_mac = partial(_grid, network="mac_tagger", settings=MacSettings, task=MultiLabelTask)

W2NER = _grid("w2ner", W2ner, "grid_tagger", GridSettings)
TOE = _grid("toe", Toe, "toe_tagger", ToeSettings, task=MultiLabelTask)
MAC = _mac("mac", Mac)
MAC_MINIMAL = _mac("mac_minimal", partial(Mac, full=False))
SPAN_GRID = _grid("span_grid", SpanGrid, "grid_tagger", GridSettings, task=MultiLabelTask)
GAP_GRID = _grid("gap_grid", GapGrid, "grid_tagger", GridSettings, task=MultiLabelTask)
CORRO = _sequence("corro", Corro, task=CorroTask)
BIOHD = _sequence("biohd", Biohd)
BIOHD1234 = _sequence("biohd1234", partial(Biohd, digits=True))
BIO = _sequence("bio", Bio)


def tagger_spec(name: str) -> TaggerSpec:
    """The spec of a tag scheme. Raises InputError for other systems."""
    spec = system_spec(name)
    if not isinstance(spec, TaggerSpec):
        raise InputError(f"the system {name} is not a tag scheme")
    return spec
