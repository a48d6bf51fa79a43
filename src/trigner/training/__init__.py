"""Settings and documents -> a trained model. Needs torch and transformers (extra `train`)."""

from trigner.training.presets import PRESETS
from trigner.training.processes import launched
from trigner.training.run import Trained, train
from trigner.training.selected_model import SelectedModel
from trigner.training.settings import Settings, resolve

__all__ = ["PRESETS", "SelectedModel", "Settings", "Trained", "launched", "resolve", "train"]
