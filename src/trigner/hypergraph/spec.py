"""The row of system `hypergraph`."""

from __future__ import annotations

from functools import partial

from trigner.hypergraph.reading import round_trip
from trigner.hypergraph.settings import HypergraphSettings
from trigner.systems import SystemSpec

SPEC = SystemSpec(
    name="hypergraph",
    build="trigner.hypergraph.system:build",
    load="trigner.hypergraph.loading:load",
    export="trigner.hypergraph.exporting:export",
    settings=HypergraphSettings,
    round_trip=lambda labels, settings: partial(
        round_trip, tuple(labels), settings.structure(), settings.reading_of_gold()
    ),
    calibration=True,
)
