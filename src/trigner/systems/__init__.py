"""Systems: what each is called, can do and reads, and what training and running see of it."""

from trigner.batches import Prepared
from trigner.systems.network_settings import NetworkSettings, WordSettings
from trigner.systems.protocols import Input, Losses, Prediction, Predictor, SavedState, System
from trigner.systems.registry import (
    GROUP,
    checked_predictor,
    checked_system,
    system_spec,
    systems,
    tagger_spec,
    unusable_systems,
)
from trigner.systems.spec import CAPABILITIES, SystemSpec
from trigner.systems.taggers import TaggerSpec

__all__ = [
    "CAPABILITIES",
    "GROUP",
    "Input",
    "Losses",
    "NetworkSettings",
    "Prediction",
    "Predictor",
    "Prepared",
    "SavedState",
    "System",
    "SystemSpec",
    "TaggerSpec",
    "WordSettings",
    "checked_predictor",
    "checked_system",
    "system_spec",
    "systems",
    "tagger_spec",
    "unusable_systems",
]
