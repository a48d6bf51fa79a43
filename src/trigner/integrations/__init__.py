"""Adapters to other libraries: the Hugging Face Hub; in modules of their own, as each needs its
library, `spacy`, `pandas`, `datasets` and `spark`.
"""

from __future__ import annotations

from trigner.integrations.card import model_card
from trigner.integrations.hub import push_to_hub, save_pretrained

__all__ = ["model_card", "push_to_hub", "save_pretrained"]
