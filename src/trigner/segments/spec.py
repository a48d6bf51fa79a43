"""The row of system `segments`."""

from __future__ import annotations

from trigner.segments.settings import SegmentSettings
from trigner.systems import SystemSpec

SPEC = SystemSpec(
    name="segments",
    build="trigner.segments.system:build",
    load="trigner.segments.loading:load",
    export="trigner.segments.exporting:export",
    settings=SegmentSettings,
    round_trip=lambda labels, settings: settings.format(tuple(labels)).round_trip,
    calibration=True,
)
