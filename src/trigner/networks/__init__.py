"""Arrays -> scores. Needs torch and transformers (extra `train`)."""

from trigner.networks.model import Model, create, load, save, weights_hash
from trigner.networks.settings import NetworkSettings
from trigner.networks.tagger import GridScores, GridTagger

__all__ = [
    "GridScores",
    "GridTagger",
    "Model",
    "NetworkSettings",
    "create",
    "load",
    "save",
    "weights_hash",
]
