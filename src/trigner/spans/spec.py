"""The row of the span system; what needs PyTorch is named, not imported."""

from __future__ import annotations

from trigner.spans.settings import SpanSettings
from trigner.systems import BiasedOptimisation, SystemSpec

SPEC = SystemSpec(
    name="spans",
    build="trigner.spans.system:build",
    load="trigner.spans.loading:load",
    export="trigner.spans.exporting:export",
    settings=SpanSettings,
    round_trip=lambda labels, settings: settings.format(tuple(labels)).round_trip,
    optimisation=BiasedOptimisation,
    calibration=True,
)
