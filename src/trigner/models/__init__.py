"""A model's folder: its description, how it is saved, fetched, checked, uploaded and described."""

from trigner.models.card import model_card
from trigner.models.fetching import fetch
from trigner.models.folder import (
    BUNDLED,
    CONFIG,
    DESCRIPTION,
    GRAPH,
    TOKENIZER,
    WEIGHTS,
    Description,
    DevPart,
    Provenance,
    Runtime,
    TrainingPart,
    check_files,
    describe_again,
    fingerprint,
    hash_of_file,
    need,
    padding_of,
    read_description,
    read_tokenizer,
    save_model,
)
from trigner.models.hub import push_to_hub, save_pretrained

__all__ = [
    "BUNDLED",
    "CONFIG",
    "DESCRIPTION",
    "GRAPH",
    "TOKENIZER",
    "WEIGHTS",
    "Description",
    "DevPart",
    "Provenance",
    "Runtime",
    "TrainingPart",
    "check_files",
    "describe_again",
    "fetch",
    "fingerprint",
    "hash_of_file",
    "model_card",
    "need",
    "padding_of",
    "push_to_hub",
    "read_description",
    "read_tokenizer",
    "save_model",
    "save_pretrained",
]
