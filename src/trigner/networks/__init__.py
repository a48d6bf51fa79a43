"""Arrays -> scores. Needs torch and transformers (extra `train`)."""

from trigner.networks.model import Model, create, load, save, weights_hash
from trigner.networks.settings import NetworkSettings
from trigner.networks.tagger import Tagger, TagScores

__all__ = [
    "Model",
    "NetworkSettings",
    "TagScores",
    "Tagger",
    "create",
    "load",
    "save",
    "weights_hash",
]
