"""What every system of the package can do from the command line, from training to serving.

One tag scheme stands for all of them: they share everything but the scheme and its network.
"""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from starlette.testclient import TestClient

import trigner
from model_changes import accept_files
from tiny_encoders import tiny_encoder
from tiny_language_models import tiny_language_model
from trigner.corpora import read, write
from trigner.errors import InputError
from trigner.evaluation import ceiling
from trigner.families.tagging.taggers import TaggerSpec
from trigner.mentions import Document, Entity
from trigner.models.folder import read_description
from trigner.serving.app import create_app
from trigner.systems.registry import system_spec, systems
from trigner.training.best_epoch import KeepBest
from trigner.training.checkpoints import CHECKPOINTS, last_checkpoint
from trigner.training.progress import ShowProgress

SPANS = {
    "my left leg and arm hurt. then the pain left.": [
        *(((3, 11), (20, 24)), ((3, 7), (16, 24)), ((35, 39),)),
    ],
    "no tablet then. felt numb after the second tablet.": [((21, 25),)],
}
"""Texts in the tiny encoders' words, and their mentions: what every system learns by heart."""
TEXT = " ".join(SPANS)

SYSTEMS = [n for n, s in systems().items() if n == "w2ner" or not isinstance(s, TaggerSpec)]
SMALL: dict[str, list[str]] = {
    "w2ner": [
        *("model.lstm_size=8", "model.distance_size=3", "model.region_size=3", "model.channels=4"),
        *("model.pair_size=6", "model.grid_size=5"),
    ],
    "transition": ["model.lstm_size=8", "model.hidden_size=8", "model.action_size=4"],
    "hypergraph": ["model.lstm_size=8", "model.hidden_size=8", "model.start_rank=4"],
    "spans": [
        *("model.lstm_size=8", "model.width_size=3", "model.hidden_size=6"),
        "model.output_dropout=0",
    ],
    "segments": [
        *("model.lstm_size=8", "model.width_size=3", "model.hidden_size=6"),
        "model.combination_size=5",
    ],
    "seq2seq": [
        *("model.lstm_size=8", "model.decoder_layers=2", "model.decoder_heads=2"),
        *("model.decoder_feed_forward=12", "model.beam_size=2"),
    ],
    "generative": ["model.lora_rank=4", "model.length_base=12", "model.length_ratio=0"],
}
"""One line a system: settings that make its network small."""

WITH_CONTEXT = " with context"
IN_CONTEXT = ("w2ner", "spans", "segments", "hypergraph", "transition")
VARIANTS = [*SYSTEMS, *(name + WITH_CONTEXT for name in IN_CONTEXT)]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A corpus in two parts: both texts fifteen times, and once."""
    folder = tmp_path_factory.mktemp("corpus")
    for part, copies in {"train": 15, "dev": 1}.items():
        documents = [
            Document(f"{number}{copy}", text, tuple(entity(text, own) for own in spans))
            for copy in range(copies)
            for number, (text, spans) in enumerate(SPANS.items())
        ]
        write(documents, folder / part, format="brat")
    return folder


def entity(text, fragments):
    return Entity("ADR", fragments, " ".join(text[start:end] for start, end in fragments))


@pytest.fixture(scope="module", params=VARIANTS)
def training(request, tmp_path_factory):
    """The name of a system, its encoder and the settings of its training."""
    name = request.param.removesuffix(WITH_CONTEXT)
    folder = tmp_path_factory.mktemp(name)
    settings = [*SMALL.get(name, []), "optimisation.epochs=12", "optimisation.batch_size=4"]
    settings.append("optimisation.learning_rate=0.02")
    if request.param != name:
        settings.append("model.context_words=6")
    if name == "generative":
        encoder = tiny_language_model(folder / "encoder", "llama", positions=8000)
    else:
        encoder = tiny_encoder(folder / "encoder", "bert", head=False)
        settings.append("optimisation.encoder_lr=0.005")
    return name, encoder, [part for setting in settings for part in ("--set", setting)]


@pytest.fixture(scope="module")
def first(training, data, tmp_path_factory):
    """The folder of a model trained through the command line, and what was printed."""
    folder = tmp_path_factory.mktemp(training[0]) / "model"
    result = train(training, data, folder)
    assert result.exit_code == 0, result.output
    return folder, result.output


@pytest.fixture
def trained(training, first):
    """The name of a system and the folder of its model."""
    return training[0], first[0]


def train(training, data, out, *options):
    """Train with the command line; the last epoch's model is kept, which has seen every update."""
    from typer.testing import CliRunner

    from trigner.cli.app import app

    def keep_always(self, args, state, control, metrics=None, **_):
        self._save(round(state.epoch), metrics)

    name, encoder, settings = training
    arguments = [
        *("train", "--system", name, "--encoder", str(encoder), "--device", "cpu"),
        *("--train", str(data / "train"), "--dev", str(data / "dev")),
        *("--out", str(out), *settings, *options),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeepBest, "on_evaluate", keep_always)
        return CliRunner().invoke(app, arguments)


def test_an_interrupted_training_ends_with_the_same_weights(
    training, data, trained, tmp_path, monkeypatch
):
    """Interrupted once a checkpoint is there: in the second epoch's evaluation."""
    evaluated = []

    def interrupt(*_, **__):
        evaluated.append(1)
        if len(evaluated) == 2:
            raise KeyboardInterrupt

    folder = tmp_path / "model"
    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_evaluate", interrupt)
        assert train(training, data, folder).exit_code == 130
    assert last_checkpoint(folder / CHECKPOINTS) is not None
    result = train(training, data, folder, "--resume")
    assert result.exit_code == 0, result.output
    one, other = (load_file(each / "model.safetensors") for each in (trained[1], folder))
    assert one.keys() == other.keys()
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


def test_it_is_trained_in_bfloat16(training, data, tmp_path):
    """Dev is scored in the training's precision, too."""
    if "model.context_words=6" in training[2]:
        pytest.skip("context has nothing to do with it")
    more = ("--set", "optimisation.precision=bfloat16", "--set", "optimisation.epochs=1")
    result = train(training, data, tmp_path / "model", *more)
    assert result.exit_code == 0, result.output


def test_a_study_runs_it(training, data, run, tmp_path):
    name, encoder, settings = training
    for part in ("train", "dev", "test"):
        shutil.copytree(data / "dev", tmp_path / "small" / part)
    study = tmp_path / "one.yaml"
    study.write_text(f"title: One\nseeds: [1]\nsystems:\n  own: {{system: {name}}}\n")
    shared = (study, "--data", tmp_path / "small", "--out", tmp_path / "out")
    given = (*shared, "--encoder", encoder, *settings, "--set", "optimisation.epochs=1")
    result = run("study", "run", *given, "--device", "cpu")
    assert result.code == 0, result.err
    result = run("study", "report", *given, "--to", tmp_path / "report")
    assert result.code == 0, result.err
    assert "| own |" in (tmp_path / "report" / "report.md").read_text()


def test_its_model_is_evaluated_and_extracts(trained, data, run, tmp_path):
    name, model = trained
    result = run("evaluate", "--model", model, "--data", data / "dev", "--json")
    assert result.code == 0, result.err
    scores = json.loads(result.out)
    assert scores["overall"]["predicted"] > 0, "nothing is compared below"
    found = tmp_path / "found"
    result = run("extract", data / "dev", "--model", model, "--format", "brat", "--out", found)
    assert result.code == 0, result.err
    again = json.loads(run("score", "--gold", data / "dev", "--pred", found, "--json").out)
    assert again["overall"] == scores["overall"]
    assert name in run("info", model).out


def test_training_prints_the_scores_that_its_model_has(first, data, run):
    """Those of the scores at the temperature that it is kept with, too."""
    folder, printed = first
    evaluated = run("evaluate", "--model", folder, "--data", data / "dev").out
    assert calibration(evaluated)
    assert calibration(printed) == calibration(evaluated)


def calibration(printed):
    return re.findall(r"Calibration error [0-9.]+ %", printed)


def test_results_do_not_depend_on_batch_mates(trained, data):
    _, model = trained
    documents = read(data / "train").documents
    together = list(trigner.load(model, batch_size=32).documents(documents))
    alone = trigner.load(model, batch_size=1).documents(documents)
    assert any(own.entities for own in together)
    for a, b in zip(together, alone, strict=True):
        assert [(e.label, e.fragments) for e in a.entities] == [
            (e.label, e.fragments) for e in b.entities
        ]
        for one, other in zip(a.entities, b.entities, strict=True):
            assert one.score == pytest.approx(other.score, abs=1e-4)
            assert 0 <= one.score <= 1


def test_a_sentence_of_400_words_is_read(trained):
    _, model = trained
    extract = trigner.load(model)
    run = extract.documents([Document("long", " ".join(["pain and swollen legs"] * 100))])
    (found,) = run
    assert found.id == "long"
    assert run.statistics.sentences == 1


def test_it_is_served(trained):
    name, model = trained
    extract = trigner.load(model)
    with TestClient(create_app(extract, description=read_description(model))) as client:
        assert client.get("/v1/model").json()["system"] == name
        answer = client.post("/v1/extract", json={"text": TEXT}).json()
        texts = [e.text for e in extract(TEXT).entities]
        assert texts
        assert [e["text"] for e in answer["entities"]] == texts


def test_thresholds_are_found(trained, data, run):
    _, model = trained
    result = run("find-threshold", "--model", model, "--data", data / "dev", "--json")
    assert result.code == 0, result.err


def test_its_ceiling_is_measured_on_what_it_can_express(trained):
    name, _ = trained
    spec = system_spec(name)
    if spec.round_trip is None:
        pytest.skip(f"{name} declares no ceiling")
    text = "pain in my left leg and nausea"
    spans = [((0, 4),), ((0, 7), (16, 19)), ((24, 30),)]
    gold = tuple(Entity("ADR", s, " ".join(text[a:b] for a, b in s)) for s in (spans[1], spans[2]))
    found = ceiling([Document("a", text, gold)], spec.round_trip(("ADR",), spec.settings()))
    assert found.overall.f1 == 1


def test_it_is_exported_with_the_same_entities(trained, run, tmp_path):
    name, model = trained
    if "export" not in system_spec(name).capabilities:
        pytest.skip(f"{name} cannot be exported")
    result = run("export", "--model", model, "--out", tmp_path / "onnx")
    assert result.code == 0, result.err
    one, other = (trigner.load(folder)(TEXT).entities for folder in (model, tmp_path / "onnx"))
    assert one
    assert [(e.label, e.fragments) for e in one] == [(e.label, e.fragments) for e in other]


def test_a_model_without_its_weights_is_refused(trained, tmp_path):
    _, model = trained
    copy = tmp_path / "copy"
    copy.mkdir()
    for file in model.iterdir():
        if file.is_file() and file.suffix != ".safetensors":
            (copy / file.name).write_bytes(file.read_bytes())
    with pytest.raises(InputError):
        trigner.load(copy)


@pytest.fixture
def without_numbers(trained, tmp_path):
    """A copy of a model whose weights are all NaN, with hashes that fit."""
    _, model = trained
    copy = shutil.copytree(model, tmp_path / "copy")
    weights = load_file(copy / "model.safetensors")
    for values in weights.values():
        if values.dtype.kind == "f":
            values[...] = np.nan
    save_file(weights, copy / "model.safetensors")
    return accept_files(copy)


def test_weights_that_are_no_numbers_are_refused(without_numbers):
    with pytest.raises(InputError, match=r"model\.safetensors: .* NaN or infinite"):
        trigner.load(without_numbers)


def test_scores_that_are_no_numbers_are_refused(without_numbers, monkeypatch):
    """Numbers may overflow to NaN, whatever the weights are."""
    monkeypatch.setattr("trigner.families.core.folder.check_numbers", lambda *_: None)
    with pytest.raises(InputError, match="scores are NaN or infinite"):
        trigner.load(without_numbers)(TEXT)
