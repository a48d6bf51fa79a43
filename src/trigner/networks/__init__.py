"""Arrays -> scores. Needs torch and transformers (extra `train`)."""

from trigner.networks.devices import bfloat16_notice, choose_device
from trigner.networks.encoder import Encoder
from trigner.networks.folder import check_init_from, load_network, saved_network
from trigner.networks.loading_checks import check_settings
from trigner.networks.model import Model, create, load
from trigner.networks.pretrained import (
    load_checkpoint,
    load_encoder,
    named,
    quiet,
    refuse_weights,
    tokenizer_for_words,
)
from trigner.networks.tagger import PairTagger, Tagger, TagScores
from trigner.networks.transfer import for_labels
from trigner.networks.word_network import WordNetwork, batch_tensors, evaluating, word_parts
from trigner.networks.word_system import WordSystem, word_inputs

__all__ = [
    "Encoder",
    "Model",
    "PairTagger",
    "TagScores",
    "Tagger",
    "WordNetwork",
    "WordSystem",
    "batch_tensors",
    "bfloat16_notice",
    "check_init_from",
    "check_settings",
    "choose_device",
    "create",
    "evaluating",
    "for_labels",
    "load",
    "load_checkpoint",
    "load_encoder",
    "load_network",
    "named",
    "quiet",
    "refuse_weights",
    "saved_network",
    "tokenizer_for_words",
    "word_inputs",
    "word_parts",
]
