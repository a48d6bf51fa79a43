"""The row of the system `generative`."""

from __future__ import annotations

from collections.abc import Sequence

from trigner.evaluation import RoundTrip
from trigner.families.generative.settings import GenerativeOptimisation, GenerativeSettings
from trigner.families.seq2seq import Format
from trigner.systems import SystemSpec


def round_trip(labels: Sequence[str], settings: GenerativeSettings) -> RoundTrip:
    """What goes in and comes back, as if each word and type were one subword."""
    format = Format(
        tuple(labels), length_base=settings.length_base, length_ratio=settings.length_ratio
    )
    return format.round_trip


SPEC = SystemSpec(
    name="generative",
    build="trigner.families.generative.system:build",
    load="trigner.families.generative.loading:load",
    settings=GenerativeSettings,
    encoder="HuggingFaceTB/SmolLM2-135M",
    optimisation=GenerativeOptimisation,
    round_trip=round_trip,
    calibration=True,
    init_from=True,
    reasons={
        "export": "a language model writes one subword after another, with a search in between, and"
        " one ONNX graph holds no such loop; run its PyTorch model"
    },
)
