"""Settings and documents -> a trained model. Needs torch and transformers (extra `train`)."""

from trigner.training.checkpoint import Checkpoint
from trigner.training.presets import PRESETS
from trigner.training.run import Trained, train
from trigner.training.settings import Settings, resolve

__all__ = ["PRESETS", "Checkpoint", "Settings", "Trained", "resolve", "train"]
