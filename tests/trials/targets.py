"""What is fuzzed: for each target valid inputs, how they are changed, and what must hold of any.

An input is bytes. A check may end with a TrignerError, as InputError is; whatever else comes out of
it is a defect, and so is one that takes longer than `LONGEST` seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from random import Random

from trials.mutations import mutated

LONGEST = 20
"""Seconds of one input."""


@dataclass(frozen=True)
class Target:
    """`check` takes an input; `seeds` are inputs, most of them valid. `close` ends it."""

    seeds: Sequence[bytes]
    check: Callable[[bytes], object]
    mutate: Callable[[bytes, Random], bytes] = mutated
    close: Callable[[], object] = bool


Make = Callable[[Path], Target]
"""A target, given a folder of its own."""

READ = (
    *("brat", "grid", "inline", "bigbio", "jsonl", "prodigy", "doccano", "gliner", "conll"),
    *("label-studio", "csv", "parquet", "hf-tokens", "spacy", "cas"),
    *("spans", "cadec", "share13", "share14", "spl-adr", "any"),
)
WRITE = (
    *("brat", "grid", "inline", "bigbio", "jsonl", "prodigy", "doccano", "gliner", "conll"),
    *("label-studio", "csv", "parquet", "hf-tokens", "spacy", "cas"),
)
TAGGERS = (
    *("w2ner", "span_grid", "gap_grid", "mac", "mac_minimal", "toe"),
    *("corro", "biohd", "biohd1234", "bio"),
)
ROWS = ("csv", "jsonl", "parquet")
SYSTEMS = ("spans", "segments", "hypergraph", "transition", "seq2seq")
MODELS = ("description", "exported-description", "configuration", "tokenizer", "weights", "graph")
FILES = (
    *("settings", "assignment", "study", "result", "predictions", "sentences", "answers"),
    *("record", "partial", "checkpoint", "answer", "job", "vocabulary"),
)


def _later(module: str, function: str, *given: str) -> Make:
    """A target of another module, imported when it is made: atheris has to see the imports."""

    def make(folder: Path) -> Target:
        found: Target = getattr(import_module(f"trials.{module}"), function)(*given, folder)
        return found

    return make


TARGETS: dict[str, Make] = {
    **{f"read-{name}": _later("reader_targets", "reader", name) for name in READ},
    **{f"rows-{name}": _later("reader_targets", "rows", name) for name in ROWS},
    **{f"write-{name}": _later("writer_targets", "writer", name) for name in WRITE},
    **{f"decode-{name}": _later("decoder_targets", "tagger", name) for name in TAGGERS},
    **{f"decode-{name}": _later("decoder_targets", "system", name) for name in SYSTEMS},
    **{f"model-{name}": _later("model_targets", "model", name) for name in MODELS},
    **{f"file-{name}": _later("file_targets", "file", name) for name in FILES},
    "service": _later("service_target", "service"),
    "text": _later("model_targets", "text"),
}
"""One row a target."""
