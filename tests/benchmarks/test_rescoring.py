"""`benchmarks/rescoring.py` on a small model and documents that it half agrees with."""

from __future__ import annotations

import json

import pytest
import rescoring

from answered_documents import answered, continuous, some_documents
from tiny_models import extractor, save
from trigner.corpora import write
from trigner.evaluation import score
from trigner.inference import load
from trigner.mentions import Document


@pytest.fixture(scope="module")
def parts(tiny, tmp_path_factory):
    """A corpus in which of a model's own mentions the continuous ones are right."""
    extract = extractor(tiny())
    root = tmp_path_factory.mktemp("parts")
    found = {}
    for seed, part in enumerate(("dev", "test", "train")):
        found[part] = answered(extract, some_documents(seed=seed), continuous)
        (root / part).mkdir()
        write(found[part], root / part / "a.jsonl", format="jsonl")
    return root, found


def test_figures_of_a_model_and_its_rescorer(tiny, parts, tmp_path, capsys):
    root, gold = parts
    folder = save(tiny(), tmp_path / "seed-1")
    to = tmp_path / "kept" / "figures.json"
    rescoring.main(["--data", str(root), "--model", str(folder), "--to", str(to)])
    kept = json.loads(to.read_text(encoding="utf-8"))
    assert kept["corpus"] == root.name
    (own,) = kept["models"]
    plain = score(gold["test"], list(load(folder, device="cpu").documents(gold["test"])))
    assert own["without"]["overall"] == plain.overall.as_json()
    assert own["with"]["overall"]["f1"] > own["without"]["overall"]["f1"]
    assert own["dev"]["f1"] > own["dev"]["f1_before"]
    assert own["rescorer"]["weights"]["discontinuous"] < 0
    of_all = kept["differences"]["overall"]
    gained = own["with"]["overall"]["f1"] - own["without"]["overall"]["f1"]
    assert of_all["difference"] == pytest.approx(gained)
    assert of_all["low"] <= of_all["difference"] <= of_all["high"]
    out = capsys.readouterr().out
    assert out.startswith("seed-1: dev ")
    assert f"overall: {100 * of_all['difference']:+.2f} [" in out


def test_a_model_that_none_helps_has_the_same_figures_twice(tiny, tmp_path):
    """Its own answers are all right: nothing is to be gained."""
    folder = save(tiny(), tmp_path / "m")
    documents = [Document("d", "pain in my leg .")]
    own = list(load(folder, device="cpu").documents(documents))
    figures, (without, with_it) = rescoring.measured(folder, own, own)
    assert "rescorer" not in figures
    assert without == with_it
    assert figures["with"] == figures["without"]
