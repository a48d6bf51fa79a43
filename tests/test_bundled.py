"""The model that ships with the package, as it is."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import trigner
from trigner.corpora import read, with_types
from trigner.evaluation import score
from trigner.integrations import model_card
from trigner.model_folder import BUNDLED, read_description

MINI_ADR_TEST = Path(__file__).parents[1] / "data" / "mini-adr" / "test"
SCRIPT = Path(__file__).parents[1] / "scripts" / "bundled_model.py"
SENTENCE = "Patients reported headache and swelling of the face, lips and tongue."

TOLERANCE = 0.005
"""Of F1: another processor rounds 8-bit products otherwise, which tips a cell or two."""


def test_it_is_small_enough_to_ship():
    assert sum(path.stat().st_size for path in BUNDLED.iterdir()) <= 30_000_000
    assert read_description(BUNDLED).runtime.precision == "int8"


def test_it_is_the_default_and_needs_no_torch():
    code = (
        "import sys, trigner\n"
        f"found = trigner.load()({SENTENCE!r}).entities\n"
        "assert 'torch' not in sys.modules\n"
        "print(*(e.text for e in found), sep='|')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = done.stdout.strip().split("|")
    assert {"headache", "swelling of the face"} < set(found)
    assert any("swelling" in text and "tongue" in text for text in found)


def test_it_scores_as_its_card_says():
    documents = read(MINI_ADR_TEST).documents
    extract = trigner.load(device="cpu")
    gold = with_types(documents, extract.labels)
    found = score(gold, list(extract.documents(gold))).slices.as_json()
    told = read_description(BUNDLED).provenance.model_extra["mini-adr test"]["scores"]
    for name in ("overall", "discontinuous"):
        assert found[name]["gold"] == told[name]["gold"]
        assert found[name]["f1"] == pytest.approx(told[name]["f1"], abs=TOLERANCE)
    card = (BUNDLED / "README.md").read_text(encoding="utf-8")
    for part in ("mini-adr test", "spl-adr test"):
        own = read_description(BUNDLED).provenance.model_extra[part]["scores"]["overall"]
        assert f"| {100 * own['precision']:.2f} | {100 * own['recall']:.2f} |" in card


def test_its_card_is_made_of_any_models_card():
    spec = importlib.util.spec_from_file_location("bundled_model", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    card = model_card(read_description(BUNDLED))
    assert [text for text in script.TEXTS if text not in card] == []
