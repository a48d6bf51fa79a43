"""The language model of a GGUF file as a folder that transformers reads, in float32.

    python research/benchmarks/gguf_weights.py WEIGHTS.gguf FOLDER

`trigner train --system generative --encoder FOLDER` tunes it. Needs
`pip install --no-deps -r requirements-local-llm.txt`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, cast

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast


def unpack(weights: Path, folder: Path) -> None:
    """Weights, configuration and tokenizer of `weights`, written to `folder`."""
    read: dict[str, Any] = {"gguf_file": weights.name, "local_files_only": True}
    model = AutoModelForCausalLM.from_pretrained(
        weights.parent, dtype=torch.float32, trust_remote_code=False, **read
    )
    # As it was read it counts as a model of few bits, which transformers 5 does not save.
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    plain = cast(Any, type(model))(model.config)
    plain.load_state_dict(model.state_dict())
    plain.save_pretrained(folder)
    subwords = AutoTokenizer.from_pretrained(weights.parent, trust_remote_code=False, **read)
    # Its own class, Llama's, transformers 4 does not read from what it saved itself.
    plain_subwords = PreTrainedTokenizerFast(
        tokenizer_object=subwords.backend_tokenizer,
        model_input_names=["input_ids", "attention_mask"],
        **subwords.special_tokens_map,
    )
    plain_subwords.save_pretrained(folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path, metavar="WEIGHTS.gguf")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    unpack(given.weights, given.folder)


if __name__ == "__main__":
    main()
