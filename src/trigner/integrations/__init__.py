"""Adapters to other libraries: the Hugging Face Hub, and spaCy (`integrations.spacy`)."""

from __future__ import annotations

from trigner.integrations.card import model_card
from trigner.integrations.hub import from_pretrained, push_to_hub, save_pretrained

__all__ = ["from_pretrained", "model_card", "push_to_hub", "save_pretrained"]
