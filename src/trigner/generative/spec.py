"""The row of the system `generative`."""

from __future__ import annotations

from collections.abc import Sequence

from trigner.evaluation import RoundTrip
from trigner.generative.settings import GenerativeSettings
from trigner.seq2seq import Format
from trigner.systems import SystemSpec

LORA = ("model.lora_rank", "model.lora_alpha", "model.lora_dropout")
PROMPT = ("model.prompt_size",)


def round_trip(labels: Sequence[str], settings: GenerativeSettings) -> RoundTrip:
    """What goes in and comes back, as if each word and type were one subword."""
    format = Format(
        tuple(labels), length_base=settings.length_base, length_ratio=settings.length_ratio
    )
    return format.round_trip


SPEC = SystemSpec(
    name="generative",
    about="mentions as text that a causal or encoder-decoder language model writes, constrained to"
    " the sentence's words; tuned with LoRA, a soft prompt or whole",
    build="trigner.generative.system:build",
    load="trigner.generative.loading:load",
    settings=GenerativeSettings,
    # The rate is LoRA's; a soft prompt wants some 100 times as much, all weights a tenth. An epoch
    # takes many times as long as with an encoder, and few are needed.
    defaults={
        "encoder": "HuggingFaceTB/SmolLM2-135M",
        "optimisation": {"learning_rate": 2e-4, "epochs": 10},
    },
    ignores=("optimisation.encoder_lr", "optimisation.bias_init"),
    idle={
        ("model.tuning", "lora"): PROMPT,
        ("model.tuning", "prompt"): LORA,
        ("model.tuning", "full"): (*LORA, *PROMPT),
        ("model.beam_size", 1): ("model.length_penalty",),
    },
    round_trip=round_trip,
    calibration=True,
    init_from=True,
    reasons={
        "export": "a language model writes one subword after another, with a search in between, and"
        " one ONNX graph holds no such loop; run its PyTorch model"
    },
)
