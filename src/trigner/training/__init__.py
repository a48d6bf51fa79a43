"""Settings and documents -> a trained model. Needs torch and transformers (extra `train`)."""

from trigner.training.adaptation import AdaptationSettings, adapt
from trigner.training.best_epoch import METRICS
from trigner.training.checkpoints import CHECKPOINTS
from trigner.training.lines import KeyPath, LocatedYaml, read_yaml, yaml_value
from trigner.training.presets import PRESETS
from trigner.training.processes import launched
from trigner.training.records import RUN, differences, read_record, write_record
from trigner.training.run import Trained, train
from trigner.training.selected_model import SelectedModel
from trigner.training.settings import Settings, flat, resolve, settings_of
from trigner.training.trainer import check_trackers

__all__ = [
    "CHECKPOINTS",
    "METRICS",
    "PRESETS",
    "RUN",
    "AdaptationSettings",
    "KeyPath",
    "LocatedYaml",
    "SelectedModel",
    "Settings",
    "Trained",
    "adapt",
    "check_trackers",
    "differences",
    "flat",
    "launched",
    "read_record",
    "read_yaml",
    "resolve",
    "settings_of",
    "train",
    "write_record",
    "yaml_value",
]
