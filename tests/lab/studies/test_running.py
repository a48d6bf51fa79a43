from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from filelock import FileLock
from rich.console import Console

from trigner.lab.studies.changes import Changes
from trigner.lab.studies.context import StudyContext
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import read_results, run_name
from trigner.lab.studies.running import run_job, trial_job
from trigner.machine.locks import LockedError
from trigner.training.progress import ShowProgress

QUIET = Console(quiet=True)


@pytest.fixture
def run(declare, encoder):
    return runs(declare(), protocol("full"), Changes(encoder=str(encoder)))[1]


@pytest.fixture
def context(declare, tmp_path):
    folders = (tmp_path / "work", tmp_path / "results")
    return StudyContext(declare(), protocol("full"), *folders, device="cpu")


def interrupt_after(epochs):
    told = []

    def interrupt(self, args, state, control, **_):
        told.append(state.epoch)
        if len(told) == epochs:
            raise KeyboardInterrupt

    patch = pytest.MonkeyPatch()
    patch.setattr(ShowProgress, "on_evaluate", interrupt)
    return patch


def work_folder(run, corpus, context):
    return context.work / "small" / run_name(run.system, run.identity, corpus.hashes)


def test_a_run_leaves_scores_of_both_models_and_what_they_found(run, corpus, context, encoder):
    result = run_job(run, corpus, context, QUIET)
    assert set(result.chosen) == {"overall", "discontinuous"}
    assert len(result.curve) == result.epochs == 2
    best = max(epoch["eval_f1"] for epoch in result.curve)
    assert result.chosen["overall"].score("dev", "overall").f1 == best
    assert "|settings:" in result.signature
    assert str(encoder) not in result.path.read_text()
    found = result.predictions()
    for name, chosen in result.chosen.items():
        counts = chosen.score("test", "overall")
        summed = found[name].counts.slices["overall"].sum(axis=0).tolist()
        assert summed == [counts.correct, counts.predicted, counts.gold]
    folder = work_folder(run, corpus, context)
    assert list(folder.glob("logs/events*"))
    assert not list(folder.rglob("*.safetensors"))
    # There already, under whatever name: nothing is trained.
    shutil.rmtree(folder)
    again = run_job(replace(run, system="another"), corpus, context, QUIET)
    assert again == result
    assert not folder.exists()


def test_an_interrupted_run_goes_on_and_says_so(run, corpus, context):
    whole = run_job(run, corpus, replace(context, results=context.work / "r"), QUIET)
    patch = interrupt_after(2)
    with pytest.raises(KeyboardInterrupt):
        run_job(run, corpus, context, QUIET)
    patch.undo()
    assert read_results(context.results, "small") == []
    result = run_job(run, corpus, context, QUIET)
    assert result.notes == ("interrupted: the seconds count from the last resumption",)
    assert result.chosen == whole.chosen
    assert [e["eval_f1"] for e in result.curve] == [e["eval_f1"] for e in whole.curve]


def test_a_working_folder_that_cannot_be_gone_on_with(run, corpus, context, refused):
    patch = interrupt_after(2)
    with pytest.raises(KeyboardInterrupt):
        run_job(run, corpus, context, QUIET)
    patch.undo()
    folder = work_folder(run, corpus, context)
    (checkpoint,) = folder.glob("checkpoints/checkpoint-*")
    whole = (checkpoint / "optimizer.pt").read_bytes()
    (checkpoint / "optimizer.pt").write_bytes(whole[:100])
    with refused():
        run_job(run, corpus, context, QUIET)
    (checkpoint / "optimizer.pt").write_bytes(whole)
    record = folder / "study.json"
    told = json.loads(record.read_text())
    told["versions"]["torch"] = "1.0"
    record.write_text(json.dumps(told))
    with refused():
        run_job(run, corpus, context, QUIET)
    record.unlink()
    with refused():
        run_job(run, corpus, context, QUIET)
    shutil.rmtree(folder)
    assert run_job(run, corpus, context, QUIET).notes == ()


def test_a_run_that_another_process_is_at(run, corpus, context):
    folder = work_folder(run, corpus, context)
    folder.parent.mkdir(parents=True)
    with FileLock(f"{folder}.lock"), pytest.raises(LockedError):
        run_job(run, corpus, context, QUIET)
    assert run_job(run, corpus, context, QUIET).epochs == 2


def test_models_are_kept_when_asked_for(run, corpus, context):
    run_job(run, corpus, replace(context, keep_models=True), QUIET)
    folder = work_folder(run, corpus, context)
    assert (folder / "model.safetensors").is_file()
    assert (folder / "discontinuous" / "model.safetensors").is_file()


def test_a_trial_tells_dev_scores_and_never_looks_at_test(run, corpus, context):
    no_test = replace(corpus, test=())
    scores = trial_job(run, no_test, context, QUIET)
    assert set(scores) == {"overall", "discontinuous"}
    assert not context.results.exists()


def test_the_adapted_encoder_is_shared(declare, encoder, corpus, context, refused):
    study = declare(
        "title: a\nseeds: [1, 2, 3]\n"
        "base:\n  adapt: true\n  adapt.epochs: 1\n  optimisation.epochs: 1\n"
        "  model: {lstm_size: 8, channels: 4, pair_size: 6, grid_size: 5}\n"
    )
    one, two, three = runs(study, protocol("full"), Changes(encoder=str(encoder)))
    first = run_job(one, corpus, context, QUIET)
    (adapted,) = (context.work / "small").glob("encoder-*/run.json")
    before = adapted.stat().st_mtime_ns
    versions = adapted.parent.with_name(f"{adapted.parent.name}.json")
    versions.write_text(versions.read_text("utf-8").replace('"trigner":', '"before":'), "utf-8")
    run_job(two, corpus, context, QUIET)
    assert adapted.stat().st_mtime_ns == before
    assert first.settings["adaptation.epochs"] == 1
    assert first.settings["encoder"].startswith(f"{encoder.name}#")
    (adapted.parent / "config.json").unlink()
    with refused():  # half done by others
        run_job(three, corpus, context, QUIET)


def test_a_run_starts_from_another_model(declare, encoder, corpus, context, tmp_path, refused):
    text = (
        "title: a\nseeds: [1]\n"
        "base:\n  optimisation.epochs: 1\n"
        "  model: {lstm_size: 8, channels: 4, pair_size: 6, grid_size: 5}\n"
    )
    full = protocol("full")
    context = replace(context, keep_models=True)
    (run,) = runs(declare(text), full, Changes(encoder=str(encoder)))
    first = run_job(run, corpus, context, QUIET)
    kept = tmp_path / "kept"
    shutil.copytree(work_folder(run, corpus, context), kept)
    declared = declare(
        text + f"  init_from: {kept}\n  optimisation.learning_rate: 1.0e-12\n"
        "  optimisation.encoder_lr: 1.0e-12\n  optimisation.weight_decay: 0\n"
    )
    (run,) = runs(declared, full)
    again = run_job(run, corpus, context, QUIET)
    one, two = ({**own.chosen["overall"].test, "signature": None} for own in (first, again))
    assert one == two
    assert one["overall"]["predicted"]
    assert again.settings["init_from"].startswith("kept#")
    assert str(tmp_path) not in again.path.read_text()
    with refused():
        runs(declared, full, Changes(assignments=["adapt=true"]))


def test_an_adaptation_that_cannot_be_gone_on_with(
    declare, encoder, corpus, context, monkeypatch, refused
):
    study = declare(
        "title: a\nseeds: [1]\nbase:\n  adapt: true\n  adapt.epochs: 2\n"
        "  optimisation.epochs: 1\n"
        "  model: {lstm_size: 8, channels: 4, pair_size: 6, grid_size: 5}\n"
    )
    (run,) = runs(study, protocol("full"), Changes(encoder=str(encoder)))

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.adaptation._write", killed)
        with pytest.raises(KeyboardInterrupt):
            run_job(run, corpus, context, QUIET)
    (state,) = (context.work / "small").glob("encoder-*/checkpoints/checkpoint-2*/optimizer.pt")
    folder = state.parents[2]
    whole = state.read_bytes()
    state.write_bytes(b"x")
    with refused():
        run_job(run, corpus, context, QUIET)
    state.write_bytes(whole)
    record = folder.with_name(f"{folder.name}.json")
    kept = json.loads(record.read_text())
    record.write_text(json.dumps({**kept, "versions": {"torch": "1.0"}}))
    with refused():
        run_job(run, corpus, context, QUIET)
    shutil.rmtree(folder)  # as told: what was noted of it goes, too
    assert run_job(run, corpus, context, QUIET).epochs == 1
    assert json.loads(record.read_text())["versions"] == kept["versions"]
