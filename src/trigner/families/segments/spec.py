"""The row of system `segments`."""

from __future__ import annotations

from trigner.families.segments.settings import SegmentSettings
from trigner.systems import SystemSpec

SPEC = SystemSpec(
    name="segments",
    build="trigner.families.segments.system:build",
    load="trigner.families.segments.loading:load",
    export="trigner.families.segments.exporting:export",
    settings=SegmentSettings,
    round_trip=lambda labels, settings: settings.format(tuple(labels)).round_trip,
    calibration=True,
)
