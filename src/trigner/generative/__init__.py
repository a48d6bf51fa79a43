"""Mentions written as text by a language model that is tuned for it, constrained to the words."""

from trigner.generative.settings import GenerativeSettings
from trigner.generative.spelling import Speller, Spelling
from trigner.generative.writing import Writing

__all__ = ["GenerativeSettings", "Speller", "Spelling", "Writing"]
