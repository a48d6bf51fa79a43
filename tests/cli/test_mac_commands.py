"""Every command with the scheme mac, on small models with random weights."""

from __future__ import annotations

import json
import shutil
from math import prod

import pytest
import torch
from starlette.testclient import TestClient

from trigner.batches import collate
from trigner.inference import load
from trigner.inference.torch_runtime import torch_scorer
from trigner.model_folder import read_description
from trigner.networks import NetworkSettings, create, save
from trigner.networks.settings import MacSettings
from trigner.serving import ServiceSettings, create_app
from trigner.training.progress import ShowProgress

SMALL = {"size": 12, "span_size": 8, "span_reach": 6, "length_size": 3}
QUICK = [
    *(part for k, v in SMALL.items() for part in ("--set", f"network.mac.{k}={v}")),
    *("--set", "network.lstm_size=8", "--set", "optimisation.epochs=2", "--device", "cpu"),
]
TEXT = "my left leg hurt. numb left and right arm, no pain after the second tablet"


@pytest.fixture(scope="module")
def mac(tmp_path_factory, encoder):
    """The folder of a model that finds something."""
    torch.manual_seed(1)
    network = NetworkSettings(lstm_size=8, mac=MacSettings(**SMALL))
    made = create(str(encoder), "mac", ("ADR", "Drug"), network)
    batch = collate(made.word_pieces([TEXT.split()]), padding_id=made.padding_id)
    logits = torch.from_numpy(torch_scorer(made.tagger)(batch)).flatten(0, 2)
    high = logits.kthvalue(int(0.8 * len(logits)), dim=0).values
    with torch.no_grad():
        for part, own in zip(
            (made.tagger.segments, made.tagger.links), made.scheme.groups, strict=True
        ):
            part.output.bias -= high[own.start : own.stop]
    folder = tmp_path_factory.mktemp("mac")
    save(made, folder)
    return folder


def found(folder):
    return [(e.label, e.fragments) for e in load(folder, device="cpu")(TEXT).entities]


def test_train_and_resume(run, gold, encoder, tmp_path, monkeypatch):
    dev = shutil.copytree(gold, tmp_path / "dev")
    arguments = ["train", "--train", gold, "--dev", dev, "--out", tmp_path / "m", *QUICK]
    arguments += ["--encoder", encoder, "--scheme", "mac", "--set", "triplets.source=grid"]

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_evaluate", interrupt)
        assert run(*arguments).code != 0
    resumed = run(*arguments, "--resume")
    assert resumed.code == 0, resumed.err
    told = json.loads(run("info", tmp_path / "m", "--json").out)
    assert told["scheme"] == "mac"
    assert told["provenance"]["train"]["unusable"] == {}
    assert told["provenance"]["settings"]["network"]["mac"]["span_reach"] == 6


def test_extract_and_score_agree_with_evaluate(run, mac, gold, tmp_path):
    scores = json.loads(run("evaluate", "--model", mac, "--data", gold, "--json").out)
    assert scores["overall"]["predicted"] > 0
    assert scores["unreachable_by"] == {"mac": 0}
    out = tmp_path / "found"
    assert run("extract", gold, "--model", mac, "--format", "brat", "--out", out).code == 0
    scored = json.loads(run("score", "--gold", gold, "--pred", out, "--json").out)
    assert scored["overall"] == scores["overall"]
    best = json.loads(run("find-threshold", "--model", mac, "--data", gold, "--json").out)
    assert best["all types"]["f1"] >= scores["overall"]["f1"]


def test_export_in_both_precisions(run, mac, tmp_path):
    assert found(mac)
    assert run("export", "--model", mac, "--out", tmp_path / "float32").code == 0
    assert found(tmp_path / "float32") == found(mac)
    assert run("export", "--model", mac, "--out", tmp_path / "int8", "--int8").code == 0
    assert len(set(found(tmp_path / "int8")) & set(found(mac))) > len(found(mac)) / 2


def test_serve(mac):
    description = read_description(mac)
    extract = load(mac, device="cpu")
    with TestClient(create_app(extract, ServiceSettings(), description=description)) as client:
        answer = client.post("/v1/extract", json={"text": TEXT}).json()
        assert [e["label"] for e in answer["entities"]] == [label for label, _ in found(mac)]
        grid = client.post("/v1/grid", json={"text": TEXT, "at": 0}).json()
    assert grid["tags"] == list(extract.scheme.tags)
    assert all(0 <= share <= 1 for line in grid["probabilities"] for c in line for share in c)


def test_a_score_is_the_product_of_its_evidence(mac):
    extract = load(mac, device="cpu")
    batch = collate(extract.word_pieces([TEXT.split()]), padding_id=extract.padding_id)
    (logits,) = extract.scorer(batch)
    mentions = extract.scheme.decode(logits).mentions
    assert mentions
    for scored in mentions:
        cells = extract.scheme.evidence(scored.mention, logits)
        shares = (torch.sigmoid(torch.tensor(logits[cell])).item() for cell in cells)
        assert prod(shares) == pytest.approx(scored.score, rel=1e-4)


def test_the_ceiling(run, gold):
    told = json.loads(run("ceiling", "--data", gold, "--json").out)
    assert told["mac"] == told["w2ner"]
    assert told["mac"]["lost"] == 0
    assert "mac_minimal" in told
