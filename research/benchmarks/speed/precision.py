"""Inference by precision (float32 PyTorch, float32 and int8 ONNX) and the cold start."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from speed import made_up
from speed.figures import Figure, Section, Tell, at_least, in_turns, ratios, seconds, spread
from tiny_models import save
from trigner.batches.collation import Batch
from trigner.corpora import read
from trigner.evaluation.scores import score
from trigner.families.tagging.exporting import export
from trigner.families.tagging.model import load as load_model
from trigner.families.tagging.predictor import Scorer, TagPredictor
from trigner.families.tagging.torch_runtime import torch_scorer
from trigner.pipeline.extraction import Extractor
from trigner.pipeline.loading import load

F1_LIMIT, COLD_LIMIT = 0.3, 1.5
SENTENCE = "Since Tuesday I have pain and cramping in my hands and lower legs."

# The command line with PyTorch out of reach.
COLD = (
    "import sys; sys.modules.update(torch=None, transformers=None); "
    "from trigner.cli import main; main()"
)


def measure(
    encoder: str,
    corpus: Path | None,
    trained: Path | None,
    *,
    sentences: int,
    rounds: int,
    tell: Tell,
) -> Section:
    """Sentences a second, int8's cost in F1, and seconds from the command to its answer.

    `trained` is a model folder to state int8's cost with, on `corpus`.
    """
    chosen, source = made_up.sample_sentences(corpus, sentences)
    section = Section(
        "Inference by precision, cold start",
        notes=[
            f"{source}; the same batches in turns, forward pass alone. Cold start: "
            "`trigner extract` on one sentence with PyTorch out of reach, from the start of the "
            "process to its end."
        ],
    )
    with TemporaryDirectory() as folder:
        source_folder = trained or save(made_up.model(encoder), Path(folder) / "model")
        model = load_model(source_folder)
        tell("export")
        folders = {
            name: export(source_folder, Path(folder) / name, int8=name == "int8 ONNX")
            for name in ("float32 ONNX", "int8 ONNX")
        }
        extractors = {name: load(exported, device="cpu") for name, exported in folders.items()}
        scorers: dict[str, Scorer] = {"float32 PyTorch": torch_scorer(model.tagger)}
        for name, extractor in extractors.items():
            assert isinstance(extractor.predictor, TagPredictor)
            scorers[name] = extractor.predictor.scorer
        batches = made_up.extraction_batches(model, chosen)
        tell("inference by precision")
        section.figures.extend(_speed(scorers, batches, len(chosen), rounds))
        tell("int8's cost in F1")
        section.figures.append(_cost(trained, corpus, extractors["int8 ONNX"]))
        tell("cold start")
        section.figures.append(_cold_start(folders["float32 ONNX"], rounds))
    return section


def _speed(
    scorers: dict[str, Scorer], batches: list[Batch], count: int, rounds: int
) -> list[Figure]:
    works = {name: partial(_scores, scorer, batches) for name, scorer in scorers.items()}
    taken = in_turns(works, rounds)
    reference = "float32 PyTorch"
    expected = _scores(scorers[reference], batches[-1:])
    figures = [
        at_least(
            "int8 ONNX to float32 PyTorch, sentences a second",
            2,
            ratios(taken[reference], taken["int8 ONNX"]),
        )
    ]
    for name, found in taken.items():
        rate = spread([count / t for t in found])
        apart = _difference(_scores(scorers[name], batches[-1:]), expected, batches[-1])
        figures.append(
            Figure(
                name,
                f"{rate.median:.0f} sentences a second ({rate.low:.0f} to {rate.high:.0f})",
                value=rate.median,
                note=f"{ratios(taken[reference], found).times()} PyTorch's; a score differs by at "
                f"most {apart:.1e}",
            )
        )
    return figures


def _scores(scorer: Scorer, batches: list[Batch]) -> list[np.ndarray]:
    return [scorer(batch) for batch in batches]


def _difference(found: list[np.ndarray], expected: list[np.ndarray], batch: Batch) -> float:
    """Largest at the cells of the sentences' own words."""
    pairs = zip(found[0], expected[0], batch.lengths, strict=True)
    return float(max(np.abs(one[:n, :n] - other[:n, :n]).max() for one, other, n in pairs))


def _cost(trained: Path | None, corpus: Path | None, int8: Extractor) -> Figure:
    what, target = "int8 ONNX, loss of F1", f"≤ {F1_LIMIT:g}"
    if trained is None or corpus is None:
        return Figure(what, "not measured", target, note="needs MODEL=folder and CORPUS=folder")
    documents = read(corpus).documents
    f1 = [
        100 * score(documents, list(extractor.documents(documents))).overall.f1
        for extractor in (load(trained, device="cpu"), int8)
    ]
    lost = f1[0] - f1[1]
    return Figure(
        what,
        f"{lost:.2f}",
        target,
        lost <= F1_LIMIT,
        lost,
        f"{f1[0]:.2f} with PyTorch, {f1[1]:.2f} with int8 ONNX, {corpus.parent.name}/{corpus.name}",
    )


def _cold_start(folder: Path, rounds: int) -> Figure:
    command = [sys.executable, "-c", COLD, "extract", SENTENCE, "--model", str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}

    def start() -> None:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the cold start failed:\n{done.stderr}")

    start()
    taken = spread([seconds(start) for _ in range(rounds)])
    return Figure(
        "cold start of `trigner extract`, torch-free",
        f"{taken.median:.2f} s ({taken.low:.2f} to {taken.high:.2f})",
        f"≤ {COLD_LIMIT:g} s",
        taken.median <= COLD_LIMIT,
        taken.median,
    )
