"""Arrays -> scores. Needs torch and transformers (extra `train`)."""

from trigner.networks.devices import choose_device
from trigner.networks.model import Model, create, load
from trigner.networks.tagger import PairTagger, Tagger, TagScores
from trigner.systems import NetworkSettings

__all__ = [
    "Model",
    "NetworkSettings",
    "PairTagger",
    "TagScores",
    "Tagger",
    "choose_device",
    "create",
    "load",
]
