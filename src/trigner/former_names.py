"""Settings that have changed their names: models and results of former versions still load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FORMER_NAMES: Mapping[str, str] = {
    "network": "model",
    "scheme": "system",
    "optimisation.encoder_rate": "optimisation.encoder_lr",
    "optimisation.clip": "optimisation.max_grad_norm",
    "optimisation.averaging": "optimisation.ema_decay",
    "optimisation.prior": "optimisation.bias_init",
    "sampling.coordinated": "sampling.coordination",
    "adaptation.max_pieces": "adaptation.max_subwords",
}
"""Dotted settings and sections: what they were called, and what they are called now."""


def current_name(name: str) -> str:
    """What a dotted setting is called now."""
    for former, current in FORMER_NAMES.items():
        if name == former or name.startswith(f"{former}."):
            return current + name[len(former) :]
    return name


def renamed(former: str, current: str) -> str:
    """What a message says of a former name: "former was renamed to current"."""
    return f"{former} was renamed to {current}"


def with_current_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings under the names that they have now."""
    return {
        current_name(section): {
            current_name(f"{section}.{key}").partition(".")[2]: own for key, own in value.items()
        }
        if isinstance(value, Mapping)
        else value
        for section, value in settings.items()
    }
