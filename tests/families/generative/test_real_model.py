"""A language model that was pretrained: what random ones cannot show."""

from __future__ import annotations

import runpy
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from local_llm_files import local_llm_weights
from tiny_language_models import settings_of
from trigner.families.generative.system import build
from trigner.mentions import Mention, Sentence

ROOT = Path(__file__).resolve().parents[3]
TEXT = "My left leg and right arm hurt since I take the new tablet"
MENTIONS = (Mention((1, 2, 6), "ADR"), Mention((4, 5, 6), "ADR"))
WORDS = tuple(TEXT.split())
SENTENCE = Sentence("d", 0, WORDS, tuple((2 * i, 2 * i + 1) for i in range(len(WORDS))), MENTIONS)


@pytest.fixture(scope="module")
def real_model():
    """Folder of SmolLM2 (135 M), its weights of four bits unpacked: half a gigabyte, not kept."""
    weights = local_llm_weights("gguf")
    with TemporaryDirectory(prefix="smollm2-") as folder:
        runpy.run_path(str(ROOT / "research/benchmarks" / "gguf_weights.py"))["unpack"](
            weights, Path(folder)
        )
        yield Path(folder)


def test_unpacked_weights_are_the_models(real_model):
    tokenizer = AutoTokenizer.from_pretrained(real_model)
    model = AutoModelForCausalLM.from_pretrained(real_model)
    given = tokenizer("The capital of France is", return_tensors="pt")
    written = model.generate(**given, max_new_tokens=3, do_sample=False)
    assert "Paris" in tokenizer.decode(written[0])


def test_it_writes_mentions_after_a_few_updates(real_model):
    torch.manual_seed(1)
    system = build(settings_of(real_model), ("ADR",))
    prepared = system.prepare([SENTENCE]).inputs
    assert system.inexpressible([SENTENCE]) == 0
    system.network.train()
    learnt = [p for p in system.network.parameters() if p.requires_grad]
    assert sum(p.numel() for p in learnt) < 0.05 * sum(
        p.numel() for p in system.network.parameters()
    )
    optimiser = torch.optim.AdamW(learnt, lr=2e-3)
    losses = []
    for _ in range(12):
        optimiser.zero_grad()
        loss = system.loss({}, **system.collate(prepared)).total
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.1 * losses[0]
    (found,) = system.predictor("cpu").predict(prepared)
    assert {scored.mention for scored in found.mentions} == {*MENTIONS}
    assert all(0.3 < scored.score <= 1 for scored in found.mentions)
