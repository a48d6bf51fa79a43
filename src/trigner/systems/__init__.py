"""Systems: what each is called, can do and reads, and what training and running see of it."""

from trigner.batches import Prepared
from trigner.systems.network_settings import (
    GridSettings,
    MacSettings,
    SequenceSettings,
    TaggerSettings,
    ToeSettings,
)
from trigner.systems.protocols import (
    CAPABILITY_PROTOCOLS,
    Calibrated,
    Grid,
    GridView,
    Input,
    Losses,
    Prediction,
    Predictor,
    SavedState,
    Student,
    System,
    TakingOver,
)
from trigner.systems.registry import (
    BUILT_IN,
    GROUP,
    checked_predictor,
    checked_system,
    own_systems,
    system_spec,
    systems,
    unusable_systems,
)
from trigner.systems.sections import (
    LARGEST_SEED,
    BiasedOptimisation,
    EncoderOptimisation,
    OptimisationSettings,
    SamplingSettings,
    Section,
)
from trigner.systems.spec import CAPABILITIES, SystemSpec
from trigner.systems.taggers import TaggerSpec, tagger_spec
from trigner.systems.task_settings import CorroTask, MultiLabelTask
from trigner.systems.word_predictor import SMALLEST_SCORE, WordPredictor, check_finite
from trigner.systems.word_settings import EncoderSettings, WordSettings

__all__ = [
    "BUILT_IN",
    "CAPABILITIES",
    "CAPABILITY_PROTOCOLS",
    "GROUP",
    "LARGEST_SEED",
    "SMALLEST_SCORE",
    "BiasedOptimisation",
    "Calibrated",
    "CorroTask",
    "EncoderOptimisation",
    "EncoderSettings",
    "Grid",
    "GridSettings",
    "GridView",
    "Input",
    "Losses",
    "MacSettings",
    "MultiLabelTask",
    "OptimisationSettings",
    "Prediction",
    "Predictor",
    "Prepared",
    "SamplingSettings",
    "SavedState",
    "Section",
    "SequenceSettings",
    "Student",
    "System",
    "SystemSpec",
    "TaggerSettings",
    "TaggerSpec",
    "TakingOver",
    "ToeSettings",
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
