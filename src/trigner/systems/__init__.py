"""Systems: what each is called, can do and reads, and what training and running see of it."""

from trigner.batches import Prepared
from trigner.systems.network_settings import NetworkSettings, WordSettings
from trigner.systems.protocols import (
    CAPABILITY_PROTOCOLS,
    Calibrated,
    Candidate,
    Grid,
    GridView,
    Input,
    Losses,
    Prediction,
    Predictor,
    Rescoring,
    SavedState,
    Student,
    System,
    TakingOver,
)
from trigner.systems.registry import (
    GROUP,
    checked_predictor,
    checked_system,
    own_systems,
    system_spec,
    systems,
    tagger_spec,
    unusable_systems,
)
from trigner.systems.spec import CAPABILITIES, SystemSpec
from trigner.systems.taggers import TaggerSpec
from trigner.systems.word_predictor import SMALLEST_SCORE, WordPredictor, check_finite

__all__ = [
    "CAPABILITIES",
    "CAPABILITY_PROTOCOLS",
    "GROUP",
    "SMALLEST_SCORE",
    "Calibrated",
    "Candidate",
    "Grid",
    "GridView",
    "Input",
    "Losses",
    "NetworkSettings",
    "Prediction",
    "Predictor",
    "Prepared",
    "Rescoring",
    "SavedState",
    "Student",
    "System",
    "SystemSpec",
    "TaggerSpec",
    "TakingOver",
    "WordPredictor",
    "WordSettings",
    "check_finite",
    "checked_predictor",
    "checked_system",
    "own_systems",
    "system_spec",
    "systems",
    "tagger_spec",
    "unusable_systems",
]
