"""Models whose description or files are nearly those of one, with hashes that fit; and texts."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import trigner
from model_changes import accept_files
from tiny_models import export, extractor, save, tiny_model
from trials.reader_targets import check_document
from trials.targets import Target
from trigner.model_folder import DESCRIPTION, HASH, hash_of_description

TEXT = "my left leg hurt, no pain in arm"
NAMES = {
    "description": DESCRIPTION,
    "exported-description": DESCRIPTION,
    "configuration": "encoder/config.json",
    "tokenizer": "tokenizer.json",
    "weights": "model.safetensors",
    "graph": "model.onnx",
}
EXPORTED = ("exported-description", "tokenizer", "graph")


def model(kind: str, folder: Path) -> Target:
    """Loading a model of which one file is the input, and using it."""
    made = tiny_model(folder / "encoder")
    own = (export if kind in EXPORTED else save)(made, folder / "model")
    path = own / NAMES[kind]
    whole = path.read_bytes()
    threads = 1 if kind in EXPORTED else None  # those of ONNX Runtime

    def check(data: bytes) -> None:
        path.write_bytes(_with_hash(data) if path.name == DESCRIPTION else data)
        if path.name != DESCRIPTION:
            accept_files(own)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trigner.load(own, device="cpu", threads=threads)(TEXT)

    return Target([whole], check)


def _with_hash(data: bytes) -> bytes:
    """A description with the hash that it should have, where there is an object at all."""
    try:
        content = json.loads(data)
        if isinstance(content, dict):
            content[HASH] = hash_of_description(content)
            return json.dumps(content).encode()
    except (ValueError, RecursionError):
        pass
    return data


def text(folder: Path) -> Target:
    """Any text is extracted from, and entities lie in it."""
    extract = extractor(tiny_model(folder / "encoder"))

    def check(data: bytes) -> None:
        check_document(extract(data[:2000].decode("utf-8", "replace")))

    seeds = (
        TEXT,
        "My leg hurt. No pain:\n\n- arm\n- numb\r\nDr. X 3.5 mg\u2028e\u0301 😵 \ufeff\x00\x1f",
        "pain " * 25,
        "[POS] [NEG] [CLS] [SEP] [PAD] ##arm",
    )
    return Target([own.encode() for own in seeds], check)
