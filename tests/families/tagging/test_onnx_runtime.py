from __future__ import annotations

import importlib
import os
import subprocess
import sys

import onnxruntime
import pytest

import trigner
from tiny_models import TEXT
from trigner.families.tagging import onnx_runtime
from trigner.mentions import Document
from trigner.models.folder import GRAPH
from trigner.text.segmentation import segment


def test_what_is_no_graph(tmp_path, refused):
    (tmp_path / "model.onnx").write_bytes(b"nothing of the kind")
    with refused():
        onnx_runtime.onnx_scorer(tmp_path / "model.onnx", ["CPUExecutionProvider"])
    (tmp_path / "model.onnx").write_bytes(b"\x08\x01")  # a version and no graph
    with refused():
        onnx_runtime.onnx_scorer(tmp_path / "model.onnx", ["CPUExecutionProvider"])


def test_devices(monkeypatch, refused):
    available = ["CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: available)
    assert onnx_runtime.providers("cpu") == ["CPUExecutionProvider"]
    assert onnx_runtime.providers("auto") == ["CPUExecutionProvider"]
    with refused():
        onnx_runtime.providers("cuda:1")
    for name in ("mps", "warp", "cuda:x"):
        with refused():
            onnx_runtime.providers(name)
    available.insert(0, "CUDAExecutionProvider")
    (cuda, options), cpu = onnx_runtime.providers("cuda:1")
    assert (cuda, options, cpu) == ("CUDAExecutionProvider", {"device_id": "1"}, available[1])
    assert onnx_runtime.providers("auto")[0][0] == "CUDAExecutionProvider"


def test_a_missing_provider_is_reported_when_loading(exported_model, monkeypatch, refused):
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    with refused():
        trigner.load(exported_model, device="cuda")


@pytest.mark.parametrize("first", ["trigner", "trigner.families.tagging.onnx_runtime"])
def test_nothing_is_reported_and_nothing_written(tmp_path, first):
    """ONNX Runtime would keep a device's number and a queue of reports on the disk."""
    environment = {k: v for k, v in os.environ.items() if "TELEMETRY" not in k}
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME"):
        (tmp_path / name).mkdir()
        environment[name] = str(tmp_path / name)
    code = f"import {first}, trigner; trigner.load()('Pain in both hips.')"
    subprocess.run([sys.executable, "-B", "-c", code], env=environment, check=True)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_extraction_needs_neither_torch_nor_transformers(exported_model):
    code = f"""
import sys
for name in ("torch", "transformers", "safetensors", "onnx", "onnxscript"):
    sys.modules[name] = None
import trigner
print(trigner.load({str(exported_model)!r})("my left leg hurt").text)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "my left leg hurt", done.stderr


@pytest.mark.parametrize("package", ["spans", "segments", "hypergraph"])
def test_the_graph_of_another_system_is_refused(exported_model, tiny, package, refused):
    runtime = importlib.import_module(f"trigner.families.{package}.onnx_runtime")
    scorer = runtime.onnx_scorer(exported_model / GRAPH, ["CPUExecutionProvider"])
    inputs = tiny().inputs
    with refused():
        scorer(inputs.collate(inputs.prepare(segment(Document("d", TEXT)).sentences).inputs))
