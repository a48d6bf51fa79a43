"""The row of the system `seq2seq`."""

from __future__ import annotations

from trigner.families.seq2seq.format import Format
from trigner.families.seq2seq.settings import Seq2SeqOptimisation, Seq2SeqSettings
from trigner.systems import SystemSpec

SPEC = SystemSpec(
    name="seq2seq",
    build="trigner.families.seq2seq.system:build",
    load="trigner.families.seq2seq.loading:load",
    settings=Seq2SeqSettings,
    optimisation=Seq2SeqOptimisation,
    round_trip=lambda labels, settings: Format.of(labels, settings).round_trip,
    calibration=True,
    init_from=True,
    reasons={
        "export": "its decoder runs once for each token that it writes, with a search in between,"
        " and one ONNX graph holds no such loop; run its PyTorch model"
    },
)
