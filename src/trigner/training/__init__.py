"""Settings and documents -> a trained model. Needs torch and transformers (extra `train`)."""

from trigner.training.presets import PRESETS
from trigner.training.settings import Settings, resolve
from trigner.training.train import Trained, train

__all__ = ["PRESETS", "Settings", "Trained", "resolve", "train"]
