from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from filelock import FileLock
from rich.console import Console

from trigner.errors import InputError
from trigner.studies import Changes, Folders, Options, protocol, runs
from trigner.studies.predictions import read_found
from trigner.studies.results import read_results, run_name
from trigner.studies.running import BusyError, dev_scores, make
from trigner.training.progress import ShowProgress

QUIET = Console(quiet=True)
CPU = Options(device="cpu")


@pytest.fixture
def run(declare, encoder):
    return runs(declare(), protocol("full"), Changes(encoder=str(encoder)))[1]


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path / "work", tmp_path / "results")


def interrupt_after(epochs):
    told = []

    def interrupt(self, args, state, control, **_):
        told.append(state.epoch)
        if len(told) == epochs:
            raise KeyboardInterrupt

    patch = pytest.MonkeyPatch()
    patch.setattr(ShowProgress, "on_evaluate", interrupt)
    return patch


def work_folder(run, corpus, folders):
    return folders.work / "small" / run_name(run.system, run.identity, corpus.hashes)


def test_a_run_leaves_scores_of_both_models_and_what_they_found(run, corpus, folders, encoder):
    result = make(run, corpus, "full", folders, CPU, QUIET)
    assert set(result.chosen) == {"overall", "discontinuous"}
    assert len(result.curve) == result.epochs == 2
    best = max(epoch["eval_f1"] for epoch in result.curve)
    assert result.chosen["overall"].score("dev", "overall").f1 == best
    assert "|settings:" in result.signature
    assert str(encoder) not in result.path.read_text()
    found = read_found(result.path.with_name(result.found))
    for name, chosen in result.chosen.items():
        counts = chosen.score("test", "overall")
        summed = found[name].counts.slices["overall"].sum(axis=0).tolist()
        assert summed == [counts.correct, counts.predicted, counts.gold]
    folder = work_folder(run, corpus, folders)
    assert list(folder.glob("logs/events*"))
    assert not list(folder.rglob("*.safetensors"))
    # There already, under whatever name: nothing is trained.
    shutil.rmtree(folder)
    again = make(replace(run, system="another"), corpus, "full", folders, CPU, QUIET)
    assert again == result
    assert not folder.exists()


def test_an_interrupted_run_goes_on_and_says_so(run, corpus, folders):
    whole = make(run, corpus, "full", replace(folders, results=folders.work / "r"), CPU, QUIET)
    patch = interrupt_after(2)
    with pytest.raises(KeyboardInterrupt):
        make(run, corpus, "full", folders, CPU, QUIET)
    patch.undo()
    assert read_results(folders.results, "small") == []
    result = make(run, corpus, "full", folders, CPU, QUIET)
    assert result.notes == ("interrupted: the seconds are those after the last resumption",)
    assert result.chosen == whole.chosen
    assert [e["eval_f1"] for e in result.curve] == [e["eval_f1"] for e in whole.curve]


def test_a_working_folder_that_cannot_be_gone_on_with(run, corpus, folders):
    patch = interrupt_after(2)
    with pytest.raises(KeyboardInterrupt):
        make(run, corpus, "full", folders, CPU, QUIET)
    patch.undo()
    folder = work_folder(run, corpus, folders)
    (checkpoint,) = folder.glob("checkpoints/checkpoint-*")
    whole = (checkpoint / "optimizer.pt").read_bytes()
    (checkpoint / "optimizer.pt").write_bytes(whole[:100])
    with pytest.raises(InputError, match=r"its checkpoint cannot be gone on with .*delete this"):
        make(run, corpus, "full", folders, CPU, QUIET)
    (checkpoint / "optimizer.pt").write_bytes(whole)
    record = folder / "study.json"
    told = json.loads(record.read_text())
    told["versions"]["torch"] = "1.0"
    record.write_text(json.dumps(told))
    with pytest.raises(InputError, match=r"begun with other versions \(trigner .*torch 1\.0"):
        make(run, corpus, "full", folders, CPU, QUIET)
    record.unlink()
    with pytest.raises(InputError, match="holds a training that is not of a study"):
        make(run, corpus, "full", folders, CPU, QUIET)
    shutil.rmtree(folder)
    assert make(run, corpus, "full", folders, CPU, QUIET).notes == ()


def test_a_run_that_another_process_is_at(run, corpus, folders):
    folder = work_folder(run, corpus, folders)
    folder.parent.mkdir(parents=True)
    with FileLock(f"{folder}.lock"), pytest.raises(BusyError):
        make(run, corpus, "full", folders, CPU, QUIET)
    assert make(run, corpus, "full", folders, CPU, QUIET).epochs == 2


def test_models_are_kept_when_asked_for(run, corpus, folders):
    make(run, corpus, "full", folders, replace(CPU, keep_models=True), QUIET)
    folder = work_folder(run, corpus, folders)
    assert (folder / "model.safetensors").is_file()
    assert (folder / "discontinuous" / "model.safetensors").is_file()


def test_a_trial_tells_dev_scores_and_never_looks_at_test(run, corpus, folders):
    no_test = replace(corpus, test=())
    scores = dev_scores(run, no_test, folders, CPU, QUIET)
    assert set(scores) == {"overall", "discontinuous"}
    assert not folders.results.exists()


def test_the_adapted_encoder_is_shared(declare, encoder, corpus, folders):
    study = declare(
        "title: a\nseeds: [1, 2]\n"
        "base:\n  adapt: true\n  adapt.epochs: 1\n  optimisation.epochs: 1\n"
        "  network: {lstm_size: 8, channels: 4, pair_size: 6, grid_size: 5}\n"
    )
    one, two = runs(study, protocol("full"), Changes(encoder=str(encoder)))
    first = make(one, corpus, "full", folders, CPU, QUIET)
    (adapted,) = (folders.work / "small").glob("encoder-*/adaptation.json")
    before = adapted.stat().st_mtime_ns
    make(two, corpus, "full", folders, CPU, QUIET)
    assert adapted.stat().st_mtime_ns == before
    assert first.settings["adaptation"]["epochs"] == 1
    assert first.settings["encoder"].startswith(f"{encoder.name}#")


def test_an_adaptation_that_cannot_be_gone_on_with(declare, encoder, corpus, folders, monkeypatch):
    study = declare(
        "title: a\nseeds: [1]\nbase:\n  adapt: true\n  adapt.epochs: 2\n"
        "  optimisation.epochs: 1\n"
        "  network: {lstm_size: 8, channels: 4, pair_size: 6, grid_size: 5}\n"
    )
    (run,) = runs(study, protocol("full"), Changes(encoder=str(encoder)))

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.adaptation.write", killed)
        with pytest.raises(KeyboardInterrupt):
            make(run, corpus, "full", folders, CPU, QUIET)
    (state,) = (folders.work / "small").glob("encoder-*/checkpoints/checkpoint-2*/optimizer.pt")
    folder = state.parents[2]
    whole = state.read_bytes()
    state.write_bytes(b"x")
    told = rf"{folder.name}: its checkpoint cannot be gone on with .*: delete this folder"
    with pytest.raises(InputError, match=told):
        make(run, corpus, "full", folders, CPU, QUIET)
    state.write_bytes(whole)
    record = folder.with_name(f"{folder.name}.json")
    kept = json.loads(record.read_text())
    record.write_text(json.dumps({**kept, "versions": {"torch": "1.0"}}))
    with pytest.raises(InputError, match=r"begun with other versions \(torch 1\.0\)"):
        make(run, corpus, "full", folders, CPU, QUIET)
    shutil.rmtree(folder)  # as told: what was noted of it goes, too
    assert make(run, corpus, "full", folders, CPU, QUIET).epochs == 1
    assert json.loads(record.read_text())["versions"] == kept["versions"]
