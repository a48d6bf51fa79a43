"""The model that ships with the package, as it is."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import trigner
from trigner.corpora import read, with_types
from trigner.evaluation.scores import score
from trigner.evaluation.signature import sign
from trigner.models.card import model_card
from trigner.models.folder import BUNDLED, check_files, read_description
from trigner.training.settings import flat, resolve

MINI_ADR_TEST = Path(__file__).parents[1] / "data" / "mini-adr" / "test"
SCRIPT = Path(__file__).parents[1] / "scripts" / "bundled_model.py"
SENTENCE = "Patients reported headache and swelling of the face, lips and tongue."

TOLERANCE = 0.005
"""Of F1."""
TIPPED = 2
"""Mentions, on a processor without VNNI: the card is of one with it, and what is rounded otherwise
before 8 bits tips a cell or two."""


def test_the_first_sentence_of_the_readme_is_found_by_the_command_that_it_shows():
    """Whatever sentence that is; its bold parts are the fragments of one entity."""
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    quoted = re.search(r"^> (.+)$", readme, re.MULTILINE)[1]
    sentence, fragments = "", []
    for number, piece in enumerate(quoted.split("**")):
        if number % 2:
            fragments.append((len(sentence), len(sentence) + len(piece)))
        sentence += piece
    shown = re.findall(r'^trigner extract "([^"]+)"$', readme, re.MULTILINE)
    assert shown[0] == sentence
    assert len(fragments) > 1
    assert tuple(fragments) in {entity.fragments for entity in trigner.load()(sentence).entities}


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


OTHERS = tuple(
    f"trigner.{room}."
    for room in (
        *("families.spans", "families.segments", "families.hypergraph", "families.transition"),
        *("families.seq2seq", "families.generative", "lab", "training"),
    )
)


def test_loading_it_imports_no_other_family():
    code = f"import sys, trigner; trigner.load()({SENTENCE!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = [name for name in done.stdout.split() if name.startswith("trigner.")]
    assert "trigner.families.tagging.predictor" in imported
    assert not [name for name in imported if name.startswith(OTHERS)]


def has_vnni():
    """Whether the processor multiplies 8 bits as that of the card; yes where that is not told."""
    told = Path("/proc/cpuinfo")
    return not told.exists() or "vnni" in told.read_text("utf-8")


def test_it_scores_as_its_card_says():
    documents = read(MINI_ADR_TEST).documents
    extract = trigner.load(device="cpu")
    gold = with_types(documents, extract.labels)
    found = score(gold, list(extract.documents(gold))).slices.as_json()
    told = read_description(BUNDLED).provenance.model_extra["mini-adr test"]["scores"]
    for name in ("overall", "discontinuous"):
        assert found[name]["gold"] == told[name]["gold"]
        for count in ("correct", "predicted"):
            assert abs(found[name][count] - told[name][count]) <= TIPPED
        if has_vnni():
            assert found[name]["f1"] == pytest.approx(told[name]["f1"], abs=TOLERANCE)
    card = (BUNDLED / "README.md").read_text(encoding="utf-8")
    for part in ("mini-adr test", "spl-adr test"):
        own = read_description(BUNDLED).provenance.model_extra[part]["scores"]["overall"]
        assert f"| {100 * own['precision']:.2f} | {100 * own['recall']:.2f} |" in card


def test_its_card_is_made_of_any_models_card():
    card = model_card(read_description(BUNDLED))
    assert [text for text in script().TEXTS if text not in card] == []


def script():
    """The module that makes the model."""
    spec = importlib.util.spec_from_file_location("bundled_model", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_new_one_takes_its_place_whole(tmp_path, monkeypatch, refused):
    put = script().put_in_place
    place, new = tmp_path / "bundled", tmp_path / "int8"
    new.mkdir()
    (new / "a").write_text("one")
    put(new, place)
    assert (place / "a").read_text() == "one"
    (tmp_path / "bundled.new").mkdir()
    (tmp_path / "bundled.new" / "b").write_text("of a copy that was ended")
    (new / "a").write_text("two")
    put(new, place)
    assert {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")} == {
        *("bundled", "bundled/a", "int8", "int8/a"),
    }
    assert (place / "a").read_text() == "two"

    def full(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    with refused(error=OSError):
        put(new, place)
    assert (place / "a").read_text() == "two"


def test_its_provenance_names_data_command_settings_licence_and_hashes():
    description = read_description(BUNDLED)
    provenance = description.provenance
    assert "SPL-ADR-200db" in provenance.data
    assert provenance.licence == script().LICENCE
    make, target, *corpora = provenance.recipe.split()
    assert (make, target) == ("make", "bundled-model")
    makefile = (SCRIPT.parents[1] / "Makefile").read_text("utf-8")
    assert corpora
    assert all(f"\n{own.partition('=')[0]} ?=" in makefile for own in corpora)
    settings = flat(provenance.settings)
    assert {"preset", "encoder", "seed", "optimisation.epochs", "model.lstm_size"} <= {*settings}
    assert {*description.files} == {"model.onnx", "tokenizer.json"}
    check_files(BUNDLED, description, description.files)
    others = {path.name for path in BUNDLED.iterdir()} - {*description.files}
    assert others == {"trigner.json", "README.md"}
    for part in (provenance.train, provenance.dev):
        assert part.signature.startswith("data:")


def test_its_settings_are_those_that_its_recipe_trains_with():
    """Of settings that are younger than the model, nothing is known; its batches were weighted in
    a way that is gone."""
    told = flat(read_description(BUNDLED).provenance.settings)
    assert told.pop("optimisation.batch_weighting") == "random"
    now = flat(resolve(file=script().SETTINGS).as_json())
    assert {name: own for name, own in now.items() if own != told.get(name, own)} == {}
    assert {*told} <= {*now}
    stated = flat(yaml.safe_load(script().SETTINGS.read_text("utf-8")))
    assert stated.items() <= told.items()


def test_the_first_page_says_what_it_reaches():
    told = read_description(BUNDLED).provenance.model_extra
    parts = [told[name]["scores"] for name in ("spl-adr test", "psytar test")]
    overall, discontinuous = (
        " and ".join(f"{100 * part[which]['f1']:.1f}" for part in parts)
        for which in ("overall", "discontinuous")
    )
    page = " ".join((SCRIPT.parents[1] / "docs/index.md").read_text("utf-8").split())
    assert f"it reaches F1 {overall}, of discontinuous entities {discontinuous};" in page


def test_its_scores_are_on_the_corpus_that_ships():
    told = read_description(BUNDLED).provenance.model_extra["mini-adr test"]["signature"]
    own = with_types(read(MINI_ADR_TEST).documents, trigner.load().labels)
    assert sign(own).partition("|")[0] == told.partition("|")[0]


WITHOUT_A_STOP = " ".join(["severe pain and cramping in my hands after the second tablet"] * 1_091)
PROSE = "\n\n".join(path.read_text() for path in sorted(MINI_ADR_TEST.parent.glob("*/*.txt")))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
@pytest.mark.parametrize("text", [WITHOUT_A_STOP, PROSE], ids=["without a stop", "prose"])
@pytest.mark.slow
def test_a_long_text_takes_little_memory(text, tmp_path):
    """One sentence for all that cuts texts, and many lengths; peaks are the whole process's.

    What a process takes before it reads anything differs by tens of megabytes from one machine to
    the next; by how much the peak grows once a third was read does not (some 15 MB; 125 MB where
    ONNX Runtime keeps a block of memory for each shape of a batch).
    """
    given = tmp_path / "text"
    given.write_text(text)
    code = (
        "import re, sys, trigner\n"
        "from pathlib import Path\n"
        "extractor, text = trigner.load(threads=1), Path(sys.argv[1]).read_text()\n"
        "def peak():\n"
        "    status = Path('/proc/self/status').read_text()\n"
        "    return int(re.search(r'VmHWM:\\s*(\\d+) kB', status)[1]) / 1024\n"
        "extractor(text[: len(text) // 3])\n"
        "third = peak()\n"
        "print(len(extractor(text).entities), third, peak())"
    )
    command = [sys.executable, "-c", code, str(given)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    entities, third, whole = done.stdout.split()
    assert int(entities) > 100  # it was read to its end
    assert float(whole) - float(third) < 60
    assert float(whole) < 400
