"""Named sets of settings: what each differs in from the defaults.

`clean` is the defaults: the intended behaviour. `best`, used when none is named, leaves the
triplets out and adds what found more (`research/decisions/best.md`). `paper` is what produced the
published numbers (the released code, which differs from the article in points that
`research/decisions/paper-preset.md` lists); `paper-CORPUS` and `paper-CORPUS-disc` are its six
released set-ups. `w2ner` is the baseline that TriG-NER extends, `paper-toe` the released CADEC
setting of TOE (`research/decisions/toe.md`), `paper-mac` MAC's as far as it makes sense on words
(`docs/guides/systems.md`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BIOBERT, BIOCLINICALBERT, PUBMEDBERT = "biobert", "bioclinicalbert", "pubmedbert"

PAPER: dict[str, Any] = {
    "model": {
        "pair_map": "full",
        "empty_word": "batch_minimum",
        "mask_between": False,
        "sequence": {"layer": "none"},
    },
    "triplets": {
        "weight": 1.0,
        "unique_masks": "both",
        "window_from": "anchor",
        "special_positive": "row_or_column",
    },
    "optimisation": {
        "epochs": 60,
        "cell_budget": None,
        "batch_weighting": "equal",
        "encoder_lr": 5e-6,
        "learning_rate": 5e-4,
        "warmup": 0.0,
        "epsilon": 1e-6,
        "epsilon_to": "uncorrected",
        "patience": 10,
    },
}


PAPER_MAC: dict[str, Any] = {
    "system": "mac",
    "encoder": BIOCLINICALBERT,
    "seed": 2333,
    "model": {
        "special_words": False,
        "encoder_layers": 1,
        "embedding_dropout": 0.0,
        "mac": {
            "recurrent": False,
            "size": 768,
            "span_size": 768,
            "span_reach": None,
            "squared_norm": True,
        },
    },
    "task": {"multi_label": "binary", "negative_rate": 0.5},
    "triplets": {"weight": 0.0},
    "optimisation": {
        "epochs": 300,
        "batch_size": 12,
        "cell_budget": None,
        "batch_weighting": "equal",
        "encoder_lr": 1e-5,
        "learning_rate": 1e-5,
        "warmup": 0.0,
        "max_grad_norm": 1e9,
    },
}


PAPER_SHARE14 = {"window": 5, "selection": "negative-centroid", "source": "pair_states"}


def _paper(encoder: str, batch_size: int, **triplets: Any) -> dict[str, Any]:
    return {
        **PAPER,
        "encoder": encoder,
        "triplets": {**PAPER["triplets"], **triplets},
        "optimisation": {**PAPER["optimisation"], "batch_size": batch_size},
    }


PRESETS: Mapping[str, Mapping[str, Any]] = {
    "clean": {},
    "best": {
        "triplets": {"weight": 0.0},
        "sampling": {"coordination": 0.5},
        "optimisation": {"bias_init": True, "beta2": 0.98},
    },
    "paper": PAPER,
    "paper-cadec": _paper(BIOBERT, 12, window=25),
    "paper-cadec-disc": _paper(BIOBERT, 12, window=20, unique_pairs=False),
    "paper-share13": _paper(PUBMEDBERT, 6, window=10),
    "paper-share13-disc": _paper(PUBMEDBERT, 6, window=10),
    "paper-share14": _paper(PUBMEDBERT, 6, **PAPER_SHARE14),
    "paper-share14-disc": _paper(PUBMEDBERT, 6, **PAPER_SHARE14, margin=0.1),
    "w2ner": {
        "model": {"co_predictor": "w2ner", "special_words": False},
        "triplets": {"weight": 0.0},
    },
    "paper-mac": PAPER_MAC,
    "paper-toe": {
        "system": "toe",
        "encoder": BIOBERT,
        "seed": 1898,
        "model": {
            "co_predictor": "w2ner",
            "special_words": False,
            "empty_word": "batch_minimum",
            "mask_between": False,
            "lstm_size": 516,
            "biaffine_size": 516,
            "toe": {"heads": 12, "feed_forward": 3072, "mask_padding": False},
        },
        "triplets": {"weight": 0.0},
        "optimisation": {
            "epochs": 10,
            "batch_size": 16,
            "cell_budget": None,
            "batch_weighting": "equal",
            "encoder_lr": 5e-6,
            "learning_rate": 1e-3,
            "warmup": 0.0,
            "epsilon": 1e-8,
        },
    },
}
"""One line a preset."""

DEFAULT = "best"
"""What a training uses that names no preset."""
