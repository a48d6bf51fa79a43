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
from trigner.cli.info import everything, summary
from trigner.corpora.jsonl import as_json_line
from trigner.models.card import model_card
from trigner.models.folder import DESCRIPTION, HASH, hash_of_description, read_description
from trigner.pipeline.loading import spec_of

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
            found = trigner.load(own, device="cpu", threads=threads)(TEXT)
        as_json_line(found).encode()
        if path.name == DESCRIPTION:
            show(own)

    return Target([whole, _released(whole)] if path.name == DESCRIPTION else [whole], check)


def show(model: Path) -> None:
    """All that is shown of a model, by `trigner info` and on its card."""
    description = read_description(model)
    spec = spec_of(model, description)
    shown = [*summary(model, description, spec).items(), description.about]
    shown += [everything(description), model_card(description, name="a/b"), description.as_json()]
    json.dumps(shown, ensure_ascii=False, allow_nan=False).encode()


def _released(description: bytes) -> bytes:
    """The description as that of a release, with all that provenance may tell."""
    rates = {"precision": 0.5, "recall": 0.5, "f1": 0.5}
    provenance = {
        "settings": {"encoder": "minilm", "preset": "best"},
        "dev": {"documents": 3, "epoch": 1, "scores": {**rates, "discontinuous_f1": 0.5}},
        "test": {
            "documents": 3,
            "scores": {"overall": {**rates, "gold": 4}, "discontinuous": {**rates, "gold": 1}},
            "calibration_error": 0.1,
            "signature": "data:0",
        },
        "calibration": {
            "temperature": 1.5,
            "predictions": 9,
            "error_before": 0.2,
            "error_after": 0.1,
        },
    }
    return json.dumps({**json.loads(description), "provenance": provenance}).encode()


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
