"""Every writer on a disk that fills: one error, no traceback, and what was there is as it was."""

from __future__ import annotations

import json
from random import Random

import pytest

from llm_stub import answered, serving
from study_results import STUDY, write_corpus
from tiny_encoders import tiny_encoder
from tiny_models import save
from trials import kills
from trigner.corpora.formats import FORMATS, WRITABLE


@pytest.fixture
def disk(tmp_path):
    """A disk of a megabyte with little room left."""
    try:
        with kills.small_disk(tmp_path / "disk", 1024) as folder:
            yield folder
    except OSError as error:
        pytest.skip(f"no small disk can be mounted here: {error}")


def written_notes(path, *, documents, words):
    """Documents of random letters: what is compressed fills the disk too."""
    letters = Random(5)
    with path.open("w") as file:
        for n in range(documents):
            text = " ".join(f"{letters.randrange(1 << 40):x}" for _ in range(words))
            file.write(json.dumps({"id": str(n), "text": f"my leg hurt. {text}"}) + "\n")
    return path


@pytest.fixture
def notes(tmp_path):
    """Documents of a quarter of a megabyte."""
    return written_notes(tmp_path / "notes.jsonl", documents=200, words=100)


@pytest.mark.parametrize("format", WRITABLE)
def test_conversions_to_a_disk_that_fills(disk, notes, format):
    (disk / "kept").write_text("mine")
    (disk / "filling").write_bytes(bytes(950 * 1024))
    err = kills.filled(["convert", notes, disk / "out", "--to", format], disk)
    assert "No space left on device" in err
    assert FORMATS[format].writes_folder or not (disk / "out").exists()


def test_models_reports_and_exports_to_a_disk_that_fills(disk, tiny, notes, tmp_path):
    saved_model = save(tiny("corro"), tmp_path / "saved")  # its graph is made sooner than others
    encoder = tiny_encoder(tmp_path / "encoder", "bert", head=False)
    corpus = write_corpus(tmp_path / "corpus")
    (disk / "filling").write_bytes(bytes(950 * 1024))
    small = [part for own in kills.SMALL for part in ("--set", own)]
    given = ["--train", corpus / "train", "--encoder", encoder, *small, "--device", "cpu"]
    for command in (
        ["train", *given, "--dev", corpus / "dev", "--out", disk / "model"],
        ["export", "--model", saved_model, "--out", disk / "exported"],
        ["extract", notes, "--model", saved_model, "--format", "html", "--out", disk / "a.html"],
    ):
        err = kills.filled(command, disk)
        assert "No space left on device" in err or "the disk is full" in err, err
    assert not (disk / "exported" / "trigner.json").exists()


def jobs(disk, tmp_path, exported_model, notes, url):
    """Commands that go on where they stopped, each with a folder on the disk."""
    encoder = tiny_encoder(tmp_path / "encoder", "bert", head=True)
    corpus = write_corpus(tmp_path / "small")
    study = tmp_path / "mine.yaml"
    study.write_text(STUDY, "utf-8")
    out = ["--out", disk / "out"]
    trained = ["--encoder", encoder, "--device", "cpu", *out]
    return {
        "annotate": [notes, disk / "out", "--model", exported_model],
        "study": ["run", study, "--data", corpus, "--seeds", "1", *trained],
        "prompt": ["--data", corpus / "test", "--types", "ADR", "--llm", "stub", *out]
        + ["--base-url", url],
        "adapt": ["--text", corpus / "train", "--epochs", "1", *trained],
    }


@pytest.mark.parametrize("name", ["annotate", "study", "prompt", "adapt"])
def test_jobs_to_a_disk_that_fills(disk, exported_model, tmp_path, name):
    if name == "annotate":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra `scale`)")
    notes = written_notes(tmp_path / "few.jsonl", documents=60, words=20)
    (disk / "filling").write_bytes(bytes(1012 * 1024))
    long = json.dumps([{"entity": "leg", "index": [1], "type": "ADR"}] * 2000)
    with serving(lambda prompt: answered(long)) as stub:
        given = jobs(disk, tmp_path, exported_model, notes, stub.base_url)[name]
        err = kills.filled([name, *given], disk)
    assert "No space left on device" in err or "the disk is full" in err, err
    for complete in ("_SUCCESS", "config.json"):
        assert not (disk / "out" / complete).exists()
