"""The row of system `transition`."""

from __future__ import annotations

from functools import partial

from trigner.families.transition.oracle import round_trip
from trigner.families.transition.settings import TransitionSettings
from trigner.systems import SystemSpec

SPEC = SystemSpec(
    name="transition",
    build="trigner.families.transition.system:build",
    load="trigner.families.transition.loading:load",
    settings=TransitionSettings,
    round_trip=lambda labels, settings: partial(
        round_trip, tuple(labels), settings.rules(tuple(labels))
    ),
    calibration=True,
    reasons={
        "export": "each action depends on those before it: beside a graph of the encoder the parser"
        " would have to be written a second time; run its PyTorch model"
    },
)
