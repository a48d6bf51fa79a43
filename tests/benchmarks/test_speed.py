"""Each section of `benchmarks/speed` on very small sizes; ours and straightforward are equal."""

from __future__ import annotations

import ast
import json
from dataclasses import asdict
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import torch
from speed import (
    decoding,
    extraction,
    figures,
    forward,
    gpu,
    growth,
    made_up,
    memory,
    precision,
    preparation,
    report,
    step,
    systems,
)
from speed.straightforward import Straightforward, centroid_loss
from transformers import PreTrainedModel

from tiny_models import TAG_SCHEMES, make_scheme


def tell(what: str) -> None:
    assert what


@pytest.fixture(scope="module")
def encoder(encoder_of):
    return str(encoder_of(positions=90))


def test_the_network_written_plainly_gives_our_scores_and_pair_states(encoder):
    model = made_up.model(encoder, "full")
    batch = step.training_batch(model, made_up.cadec_batch(3, 9))
    candidates = batch.pop("candidates")
    batch = {name: batch[name] for name in step.INPUTS}
    with torch.no_grad():
        ours = model.tagger(**batch)
        logits, pairs = Straightforward(model.tagger).eval()(**batch)
        cells = (candidates.sentences, candidates.rows, candidates.columns)
        states = model.tagger.pair_states(ours, *cells)
    assert forward.difference(ours.logits, logits, batch["lengths"]) < 1e-5
    torch.testing.assert_close(states, pairs[cells], rtol=1e-4, atol=1e-6)


def test_no_candidates_no_loss():
    assert centroid_loss(torch.ones(1, 4, 4, 3), [{}]) == 0


def test_other_scores_are_refused():
    with pytest.raises(SystemExit, match="differ"):
        forward.check_equal(0.1)
    with pytest.raises(SystemExit, match="differ"):
        forward.check_equal(float("nan"))


def test_forward(encoder):
    section = forward.measure([encoder], None, sentences=8, rounds=2, tell=tell)
    assert [f.target for f in section.figures] == ["≤ 1.5 x", "", ""]


def test_on_a_gpu_both_precisions_with_and_without_determinism(encoder):
    section = gpu.measure(encoder, None, sentences=6, size=3, rounds=1, tell=tell, device="cpu")
    steps = ["training step, float32", "training step, bfloat16"]
    assert {figure.what.partition(":")[0] for figure in section.figures} == {
        *("forward pass, float32", "forward pass, bfloat16", "words to mentions, float32"),
        *(f"{own}{how}" for own in steps for how in ("", ", deterministic")),
    }


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_section_of_gpus_says_that_there_is_none(encoder):
    with pytest.raises(SystemExit, match="needs a GPU"):
        gpu.measure(encoder, None, sentences=6, size=3, rounds=1, tell=tell)


def test_training_step(encoder):
    section = step.measure(encoder, size=2, longest=6, rounds=1, tell=tell)
    assert sum(bool(figure.target) for figure in section.figures) == 4 + 4 + 1
    assert any("differ by" in note for note in section.notes)


def test_memory_is_measured_in_a_fresh_process(encoder):
    peak = memory.fresh(work="forward", side="low_rank", encoder=encoder, length=8)
    assert 0 < peak.loaded < peak.peak
    with pytest.raises(RuntimeError, match="failed"):
        memory.fresh(work="forward", side="nothing", encoder=encoder, length=8)


def test_preparation(encoder, monkeypatch):
    work = preparation.one_preparation(encoder, "clean", corpus=None, copies=1)
    assert callable(work())
    peaks = iter([memory.Peak(10.0, 20.0), memory.Peak(10.0, 60.0)] * 2)
    monkeypatch.setattr(memory, "fresh", lambda **_: next(peaks))
    section = preparation.measure(encoder, None, copies=(1, 3), tell=tell)
    assert [figure.reached for figure in section.figures] == [False, False]
    assert section.figures[0].note == "10 and 50 MB"


def test_candidates():
    section = extraction.measure(sentences=8, loops=4, rounds=1, tell=tell)
    assert len(section.figures) == 2 + len(extraction.WINDOWS)
    extraction.same([([(0, 1), (2,)], 5), ([], 3)], extraction.PAPER)


def test_extraction_by_size_of_corpus(encoder):
    section = extraction.corpus_size(encoder, sizes=(2, 4), tell=tell)
    assert [figure.what for figure in section.figures] == ["2 sentences", "4 sentences"]


def test_decoding():
    section = decoding.measure(lengths=(6, 14), recursive=(6,), rounds=1, tell=tell)
    assert any("the bound was hit" in figure.note for figure in section.figures)
    assert any("equal sets" in figure.note for figure in section.figures)


def test_growth(encoder, monkeypatch):
    monkeypatch.setattr(memory, "fresh", lambda **_: memory.Peak(10.0, 20.0))
    section = growth.measure(encoder, lengths=(4, 8), rounds=1, tell=tell)
    assert [figure.value for figure in section.figures[1::2]] == [10.0, 10.0]


def test_ratios_and_targets():
    found = figures.ratios([2.0, 4.0, 9.0], [1.0, 2.0, 3.0])
    assert found.median == 2.0
    assert figures.at_most("a", 2, found).reached
    assert not figures.at_least("a", 3, found).reached
    assert figures.spread([3.0]) == figures.Spread(3.0, 3.0, 3.0)


@pytest.fixture
def small_language_model(monkeypatch):
    """The language model of the benchmark is hardly one."""
    sizes = {"hidden_size": 6, "intermediate_size": 8, "num_hidden_layers": 1, "vocab_size": 4000}
    for name, size in sizes.items():
        monkeypatch.setitem(made_up.LANGUAGE_MODEL, name, size)
    for name in ("num_attention_heads", "num_key_value_heads"):
        monkeypatch.setitem(made_up.LANGUAGE_MODEL, name, 3)
    made_up.language_model.cache_clear()
    yield
    made_up.language_model.cache_clear()


def test_systems(encoder, monkeypatch, small_language_model):
    monkeypatch.setattr(memory, "fresh", lambda **_: memory.Peak(10.0, 20.0))
    section = systems.measure(
        encoder, None, size=2, longest=6, sentences=6, lengths=(8, 16), rounds=1, tell=tell
    )
    names = [figure.what for figure in section.figures]
    assert {"w2ner", "trigner", "toe-triplets", "mac", "corro", "bio", systems.PLAIN} < set(names)
    others = {"transition", "spans", "segments", "seq2seq", "hypergraph", "generative"}
    assert {"gap_grid", *others} < set(names)
    decoded = {name.removeprefix("decoding ") for name in names if name.startswith("decoding ")}
    assert decoded == {*TAG_SCHEMES, *others}
    assert "10 MB in training" in section.figures[0].note


@pytest.mark.parametrize(
    ("ready", "training"), [(systems.one_step, [True, True]), (systems.one_inference, [False])]
)
def test_memory_of_a_system(encoder, ready, training):
    """The work runs the network: twice in training, once for the batch in inference."""
    seen = []

    def note(module, *_):
        if isinstance(module, PreTrainedModel):
            seen.append(module.training)

    work = ready(encoder, "mac", size=2, longest=6)
    with torch.nn.modules.module.register_module_forward_hook(note):
        work()
    assert seen == training


@pytest.mark.parametrize("name", TAG_SCHEMES)
def test_scores_of_annotations_are_decoded_to_them(name):
    sentence = made_up.sentences([9], 1, mentions=1)
    tags = make_scheme(name, ("ADR",))
    (found,) = systems.scores(tags, sentence)
    (mention,) = sentence[0].mentions
    expressible = not tags.encode([mention], 9).lost
    decoded = [scored.mention for scored in tags.decode(found).mentions]
    assert (mention in decoded) == expressible


def test_precision_and_cold_start(encoder, monkeypatch):
    monkeypatch.setattr("trigner.families.onnx.quantization.LARGE", 64)
    section = precision.measure(encoder, None, None, sentences=4, rounds=1, tell=tell)
    asked = [figure for figure in section.figures if figure.target]
    assert [figure.reached is None for figure in asked] == [False, True, False]


def test_no_module_imports_itself_through_others():
    folder = Path(growth.__file__).parent
    imports = {}
    for path in folder.glob("*.py"):
        nodes = [n for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.ImportFrom)]
        imports[path.stem] = {
            name
            for node in nodes
            for name in (
                [alias.name for alias in node.names]
                if node.module == "speed"
                else [(node.module or "").removeprefix("speed.")]
            )
            if (folder / f"{name}.py").exists()
        }
    assert "growth" in imports["tasks"]
    tuple(TopologicalSorter(imports).static_order())  # raises CycleError


def test_the_page_has_what_was_asked_for_in_the_columns_that_are_filled(tmp_path):
    asked = figures.Figure("a", "1.0 x", "≤ 2 x", True)
    other = figures.Figure("b", "3", note="as it was")
    sections = [figures.Section("Speed", [asked, other]), figures.Section("Others", [other])]
    markdown, data = report.write(sections, tmp_path, quick=False)
    text = markdown.read_text()
    row = "| what | measured | target | reached |\n|---|---|---|---|\n| a | 1.0 x | ≤ 2 x | yes |\n"
    assert row in text
    assert "[benchmark.json](benchmark.json)" in text
    assert "as it was" not in text
    assert "Others" not in text
    assert str(Path.home()) not in text + data.read_text()


def test_sections_measured_anew_take_their_place_in_the_stored_report(tmp_path, monkeypatch):
    a, b, c = (figures.Section(name, [figures.Figure("x", "1", value=1.0)]) for name in "abc")
    report.write([a, b], tmp_path, quick=False)
    anew = figures.Section("a", [figures.Figure("x", "2", reached=False)], ["noted"])
    former = report.machine()
    report.update([anew, c], tmp_path)
    monkeypatch.setattr(report, "machine", lambda: {**former, "cores": 77})
    _, data = report.update([b], tmp_path)
    stored = json.loads(data.read_text())
    assert stored["machine"] == former
    assert [s["title"] for s in stored["sections"]] == ["a", "b", "c"]
    assert stored["sections"][0] == asdict(anew)
    assert ["cores 77" in str(own) for own in stored["sections"]] == [False, True, False]
    _, data = report.write([a], tmp_path, quick=False, kept=["c"])
    assert [own["title"] for own in json.loads(data.read_text())["sections"]] == ["a", "c"]
