from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

import trigner
from tiny_models import export, extractor
from trigner.batches.collation import collate
from trigner.errors import TrignerError
from trigner.families.tagging import exporting
from trigner.families.tagging.onnx_runtime import onnx_scorer
from trigner.models.folder import GRAPH, read_description

SENTENCES = [
    ["my", "left", "leg", "hurt"],
    ["pain"],
    ["no", "", "pain", "after", "the", "second", "hurtness", "and", "the", "tablet", ".", "numb"],
]


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("bert", {}),
        ("roberta", {"special_words": False, "co_predictor": "w2ner"}),
        ("bert", {"scheme": "mac"}),
        *(
            pytest.param(kind, changes, marks=pytest.mark.slow)
            for kind, changes in (
                ("mpnet", {}),
                ("bert", {"pair_map": "full", "mask_between": False, "normalised": "column"}),
                ("bert", {"chained": False, "encoder_layers": 1}),
                ("bert", {"scheme": "toe", "co_predictor": "w2ner", "dilations": (1, 2)}),
                ("bert", {"scheme": "corro"}),
            )
        ),
    ],
    ids=str,
)
def test_any_lengths_in_any_batch_score_as_in_pytorch(tiny, tmp_path, same_scores, kind, changes):
    model = tiny(kind=kind, **changes)
    folder = export(model, tmp_path / "out")
    scorer = onnx_scorer(folder / "model.onnx", ["CPUExecutionProvider"])
    same_scores(model, scorer, SENTENCES)
    same_scores(model, scorer, [["left"] * 30, ["arm", "hurt"]])


def test_the_papers_words_without_subwords_export_too(tiny, tmp_path):
    # Their value is the smallest of the batch: equal in equal batches only.
    model = tiny(empty_word="batch_minimum")
    folder = export(model, tmp_path / "out")
    assert read_description(folder).runtime.difference < 1e-4


def test_the_same_entities(tiny, exported_model):
    text = "my left leg hurt. numb left and right arm, no pain after the second tablet"
    before = extractor(tiny())(text)
    after = trigner.load(exported_model)(text)
    assert before.entities
    assert [(e.label, e.fragments) for e in after.entities] == [
        (e.label, e.fragments) for e in before.entities
    ]
    for mine, other in zip(after.entities, before.entities, strict=True):
        assert mine.score == pytest.approx(other.score, abs=1e-4)


def test_the_folder_says_what_it_is(exported_model, in_8_bits):
    names = ["model.onnx", "tokenizer.json", "trigner.json"]
    assert sorted(path.name for path in exported_model.iterdir()) == names
    for folder, precision in ((exported_model, "float32"), (in_8_bits, "int8")):
        description = read_description(folder)
        assert description.labels == ("ADR", "Drug")
        assert description.runtime.precision == precision
        assert description.runtime.special_words == ("[POS]", "[NEG]")
        assert description.runtime.max_subwords == 40


def test_a_graph_that_scores_otherwise_is_not_written(tiny, tmp_path, monkeypatch, refused):
    monkeypatch.setattr(exporting, "largest_difference", lambda *_: np.nan)
    with refused(error=TrignerError):
        export(tiny(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("largest", "expected"), [(0.5, 0.05), (1000.0, 5e-5)])
def test_the_difference_is_relative_to_large_scores(tiny, monkeypatch, largest, expected):
    def scores(batch):
        longest = max(batch.lengths)
        return np.full((len(batch.lengths), longest, longest, 4), largest)

    monkeypatch.setattr(exporting, "torch_scorer", lambda _: scores)
    monkeypatch.setattr(exporting, "onnx_scorer", lambda *_: lambda b: scores(b) + 0.05)
    assert exporting.largest_difference(tiny(), b"") == pytest.approx(expected)


def test_a_file_in_the_way(tiny, exported_model, tmp_path, monkeypatch, refused):
    (tmp_path / "file").write_text("")
    with refused():
        export(tiny(), tmp_path / "file")
    graph = (exported_model / "model.onnx").read_bytes()
    monkeypatch.setattr(exporting, "to_onnx", lambda _: graph)
    with refused(error=TrignerError):
        export(tiny(), tmp_path / "file" / "out")


def test_exported_models_are_not_for_training(exported_model, refused):
    from trigner.families.tagging.model import load

    with refused():
        load(exported_model)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "trigner.json"])
def test_missing_and_foreign_files_are_named(exported_model, tmp_path, name, refused):
    shutil.copytree(exported_model, tmp_path / "model")
    (tmp_path / "model" / name).unlink()
    with refused():
        trigner.load(tmp_path / "model")
    (tmp_path / "model" / name).write_bytes(b"{}")
    with refused():
        trigner.load(tmp_path / "model")


@pytest.mark.parametrize(
    "change",
    [
        {"format": 99},
        {"labels": "ADR"},
        {"runtime": {}},
        {"files": {}},
    ],
)
def test_descriptions_of_another_version(exported_model, tmp_path, change, refused):
    shutil.copytree(exported_model, tmp_path / "model")
    path = tmp_path / "model" / "trigner.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with refused():
        trigner.load(tmp_path / "model")


def test_probes_reach_the_encoders_limit_at_most(tiny):
    model = tiny()
    assert exporting.probes(model.inputs).input_ids.shape[1] <= model.tagger.encoder.max_subwords
    assert collate(model.inputs.tokenizer([["pain"]]), padding_id=0).lengths.tolist() == [3]


def test_an_exported_graph_says_nothing_of_the_machine(exported_model, in_8_bits):
    for folder in (exported_model, in_8_bits):
        graph = (folder / GRAPH).read_bytes()
        assert str(Path(torch.__file__).parent).encode() not in graph
        assert str(Path(__file__).parents[3]).encode() not in graph
        assert b"stack_trace" not in graph
