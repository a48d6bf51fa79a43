"""The row of the span system; what needs PyTorch is named, not imported."""

from __future__ import annotations

from trigner.families.spans.settings import SpanSettings
from trigner.systems import BiasedOptimisation, SystemSpec

SPEC = SystemSpec(
    name="spans",
    build="trigner.families.spans.system:build",
    load="trigner.families.spans.loading:load",
    export="trigner.families.spans.exporting:export",
    settings=SpanSettings,
    round_trip=lambda labels, settings: settings.format(tuple(labels)).round_trip,
    optimisation=BiasedOptimisation,
    calibration=True,
)
