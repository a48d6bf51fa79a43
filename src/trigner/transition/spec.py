"""The row of system `transition`."""

from __future__ import annotations

from functools import partial

from trigner.systems import SystemSpec
from trigner.transition.oracle import round_trip
from trigner.transition.settings import TransitionSettings

SPEC = SystemSpec(
    name="transition",
    build="trigner.transition.system:build",
    load="trigner.transition.loading:load",
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
