"""The row of system `hypergraph`."""

from __future__ import annotations

from functools import partial

from trigner.families.hypergraph.reading import round_trip
from trigner.families.hypergraph.settings import HypergraphSettings
from trigner.systems import SystemSpec

SPEC = SystemSpec(
    name="hypergraph",
    build="trigner.families.hypergraph.system:build",
    load="trigner.families.hypergraph.loading:load",
    export="trigner.families.hypergraph.exporting:export",
    settings=HypergraphSettings,
    round_trip=lambda labels, settings: partial(
        round_trip, tuple(labels), settings.structure(), settings.reading_of_gold()
    ),
    calibration=True,
)
