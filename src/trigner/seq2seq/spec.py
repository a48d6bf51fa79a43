"""The row of the system `seq2seq`."""

from __future__ import annotations

from trigner.seq2seq.format import Format
from trigner.seq2seq.settings import Seq2SeqSettings
from trigner.systems import SystemSpec

SPEC = SystemSpec(
    name="seq2seq",
    about="pointers into the sentence and types, written by a decoder (BARTNER, Yan et al., ACL"
    " 2021); any encoder-decoder, or an encoder with a fresh decoder",
    build="trigner.seq2seq.system:build",
    load="trigner.seq2seq.loading:load",
    settings=Seq2SeqSettings,
    # Of a fresh decoder; with a tagger's 3e-3 one run had a dev F1 of 6 after two epochs.
    defaults={"optimisation": {"learning_rate": 1e-3}},
    ignores=("model.empty_word", "optimisation.bias_init"),
    idle={
        ("model.beam_size", 1): ("model.length_penalty",),
        ("model.recurrent", False): ("model.lstm_size",),
        ("model.state_share", 0): ("model.encoder_mlp",),
    },
    round_trip=lambda labels, settings: Format.of(labels, settings).round_trip,
    calibration=True,
    init_from=True,
    reasons={
        "export": "its decoder runs once for each token that it writes, with a search in between,"
        " and one ONNX graph holds no such loop; run its PyTorch model"
    },
)
