from __future__ import annotations

import errno
import json
import pickle
import shutil
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from transformers import TrainerCallback
from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

import trigner
from trigner.errors import TrignerError
from trigner.evaluation.scores import score
from trigner.families.tagging.model import load
from trigner.families.tagging.objective import Objective
from trigner.mentions import Document, Entity
from trigner.models.folder import fingerprint, read_description
from trigner.training.best_epoch import KeepBest
from trigner.training.progress import ShowProgress
from trigner.training.run import train
from trigner.training.selected_model import finished, scored
from trigner.training.settings import flat, resolve
from trigner.training.trainer import FIGURES, SystemTrainer

SMALL = [
    "model.lstm_size=8",
    "model.distance_size=3",
    "model.region_size=3",
    "model.channels=4",
    "model.pair_size=6",
    "model.grid_size=5",
    "optimisation.epochs=3",
    "optimisation.batch_size=2",
]
QUIET = Console(quiet=True)


def document(number, text, *fragments):
    surfaces = [" ".join(text[a:b] for a, b in own) for own in fragments]
    entities = (Entity("ADR", own, s) for own, s in zip(fragments, surfaces, strict=True))
    return Document(f"d{number}", text, tuple(entities))


DOCUMENTS = [
    document(1, "my left leg hurt.", ((3, 11), (12, 16))),
    document(2, "numb left and right arm.", ((0, 9), (20, 23)), ((0, 4), (14, 23))),
    document(3, "no pain."),
    document(4, "pain after the tablet. my arm felt numb.", ((0, 4),), ((26, 29), (35, 39))),
]


def run(encoder, out, *assignments, preset=None, small=SMALL, device="cpu", **options):
    settings = resolve(
        preset=preset,
        assignments=[*small, *assignments],
        optional=[assignment.partition("=")[0] for assignment in small],
        options={"encoder": encoder and str(encoder)},
        init_from=options.get("init_from"),
    )
    return train(settings, DOCUMENTS, DOCUMENTS[:2], out, device=device, console=QUIET, **options)


def reads(system, assignment):
    known = flat(resolve(options={"system": system}).as_json())
    return assignment.partition("=")[0] in known


def weights(trained):
    return load(trained.best.folder).tagger.parameters()


@pytest.mark.parametrize(
    "assignments",
    [
        (),
        (
            "triplets.weight=1",
            "triplets.source=pair_states",
            "triplets.selection=hn",
            "model.pair_map=full",
        ),
        (
            "triplets.weight=1",
            "triplets.source=projection",
            "optimisation.precision=bfloat16",
        ),
        ("system=mac",),
        ("system=mac", "triplets.weight=0.1", "optimisation.bias_init=false"),
        ("model.special_words=false", "sampling.coordination=0"),
        ("optimisation.cell_budget=none", "optimisation.precision=bfloat16"),
        ("system=corro", "task.partial_labels=hard", "optimisation.precision=bfloat16"),
        ("system=biohd1234", "model.sequence.transitions=true"),
        ("system=bio", "model.sequence.layer=bilstm", "model.special_words=true"),
        ("triplets.weight=0.1", "optimisation.precision=bfloat16"),
        ("system=biohd", "model.sequence.transitions=true"),
    ],
)
def test_a_training_leaves_a_model_and_nothing_unfinished(encoder, tmp_path, assignments):
    trained = run(encoder, tmp_path / "m", *assignments)
    assert trained.epochs == 3
    left = {path.name for path in (tmp_path / "m").iterdir()}
    assert left == {
        "encoder",
        "logs",
        "model.safetensors",
        "run.json",
        "tokenizer.json",
        "trigner.json",
    }
    provenance = json.loads((tmp_path / "m" / "trigner.json").read_text())["provenance"]
    assert provenance["train"]["documents"] == 4
    assert provenance["train"]["mentions"] == 5
    assert provenance["settings"]["encoder"] == str(encoder)
    assert provenance["dev"]["scores"]["f1"] == trained.best.scores.overall.f1
    assert trained.best.scores.overall.gold == 3


@pytest.mark.parametrize(
    ("precision", "time", "told"), [("float32", 2, 0), ("bfloat16", 2, 1), ("bfloat16", 0.5, 0)]
)
def test_a_precision_that_is_slow_on_this_cpu_is_told(
    encoder, tmp_path, monkeypatch, precision, time, told
):
    monkeypatch.setattr("trigner.encoders.devices.bfloat16_time", lambda: time)
    shown = StringIO()
    monkeypatch.setitem(globals(), "QUIET", Console(file=shown, width=1000))
    run(encoder, tmp_path / "m", f"optimisation.precision={precision}")
    assert [line for line in shown.getvalue().splitlines() if "in bfloat16" in line] == told * [
        "note: a product of matrices takes 2.0 times as long in bfloat16 as in float32 on this"
        " CPU; training is faster with optimisation.precision=float32"
    ]


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_epochs_are_scored_as_they_are_trained_and_the_checkpoint_in_full_precision(
    encoder, tmp_path, monkeypatch, precision
):
    mixed = []
    counted = SimpleNamespace(f1=0.5, precision=0.5, recall=0.5)

    def scored(dev, found, *args, **kwargs):
        mixed.append(torch.is_autocast_enabled("cpu"))
        if mixed[-1]:
            return SimpleNamespace(overall=counted, discontinuous=counted)
        return score(dev, found, *args, **kwargs)

    monkeypatch.setattr("trigner.training.prepared.score", scored)
    monkeypatch.setattr("trigner.training.selected_model.score", scored)
    trained = run(encoder, tmp_path / "m", f"optimisation.precision={precision}")
    assert mixed == [precision == "bfloat16"] * 3 + [False]
    reported = read_description(tmp_path / "m").provenance.dev.scores
    assert reported["f1"] == trained.best.scores.overall.f1 != 0.5


def test_the_optimiser_is_what_the_settings_say(encoder, tmp_path, monkeypatch):
    made = []
    real = torch.optim.AdamW
    monkeypatch.setattr(
        "torch.optim.AdamW", lambda *args, **options: made.append(options) or real(*args, **options)
    )
    run(encoder, tmp_path / "m", "optimisation.beta2=0.9", "optimisation.epsilon=1e-6")
    assert made == [{"betas": (0.9, 0.9), "eps": 1e-6, "fused": True}]


def test_epochs_by_the_number_of_sentences(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("trigner.systems.sections.AUTO_UPDATES", 5)
    monkeypatch.setattr("trigner.systems.sections.FEWEST_EPOCHS", 1)
    trained = run(encoder, tmp_path / "run", "optimisation.epochs=auto", preset="clean")
    # Four sentences in batches of two: two updates an epoch.
    assert (trained.epochs, len(trained.history)) == (3, 3)


def test_the_w2ner_preset_trains(encoder, tmp_path):
    trained = run(encoder, tmp_path / "m", preset="w2ner")
    assert load(trained.best.folder).inputs.offset == 0


def test_equal_seeds_give_equal_models(encoder, tmp_path):
    for name in ("a", "b"):
        run(encoder, tmp_path / name)
    run(encoder, tmp_path / "c", "seed=5")
    a, b, c = (load_file(tmp_path / name / "model.safetensors") for name in "abc")
    assert all(a[name].equal(b[name]) for name in a)
    assert not all(a[name].equal(c[name]) for name in a)


@pytest.mark.parametrize(
    "chosen",
    [
        ("system=w2ner",),
        ("system=corro",),
        ("triplets.weight=1", "triplets.source=projection"),
    ],
)
def test_an_interrupted_training_goes_on_where_it_was(
    encoder, tmp_path, monkeypatch, chosen, refused
):
    def keep_always(self, args, state, control, metrics=None, **_):
        self._save(0, metrics)

    # Every epoch's model is kept: the comparison sees the whole of the training.
    monkeypatch.setattr(KeepBest, "on_evaluate", keep_always)
    run(encoder, tmp_path / "whole", *chosen)

    told = []

    def interrupt(self, args, state, control, **_):
        told.append(state.epoch)
        if len(told) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_evaluate", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(encoder, tmp_path / "parts", *chosen)
    assert (tmp_path / "parts" / "checkpoints").is_dir()
    with refused():
        run(encoder, tmp_path / "parts", *chosen, "optimisation.warmup=0", resume=True)
    with refused():
        run(encoder, tmp_path / "parts", *chosen, preset="clean", resume=True)
    trained = run(encoder, tmp_path / "parts", *chosen, resume=True)
    assert trained.epochs == 3
    before = (tmp_path / "parts" / "model.safetensors").stat().st_mtime_ns
    assert run(encoder, tmp_path / "parts", *chosen, resume=True).epochs == 3  # nothing left to do
    assert (tmp_path / "parts" / "model.safetensors").stat().st_mtime_ns == before
    whole, parts = (load_file(tmp_path / n / "model.safetensors") for n in ("whole", "parts"))
    assert all(whole[name].equal(parts[name]) for name in whole)


def dev_scores(monkeypatch, *found):
    """Lets the epochs that are scored have these F1."""
    coming = iter(found)
    monkeypatch.setattr(
        "trigner.training.trainer.figures", lambda _: dict.fromkeys(FIGURES, next(coming))
    )


@pytest.mark.parametrize(("found", "best"), [((0.3, 0.2), 2), ((0.2, 0.3), 3)])
def test_dev_is_scored_after_every_second_epoch_and_the_last(
    encoder, tmp_path, monkeypatch, found, best
):
    dev_scores(monkeypatch, *found)
    shown = StringIO()
    monkeypatch.setitem(globals(), "QUIET", Console(file=shown, width=120))
    trained = run(encoder, tmp_path / "m", "optimisation.dev_every=2")
    assert (trained.best.epoch, trained.epochs) == (best, 3)
    assert [(own["epoch"], own["eval_f1"]) for own in trained.history] == list(enumerate(found, 2))
    lines = [line for line in shown.getvalue().splitlines() if "dev F1" in line]
    assert [line.partition("  ")[0] for line in lines] == ["epoch 2 of 3", "epoch 3 of 3"]
    logged = EventAccumulator(str(tmp_path / "m" / "logs")).Reload().Scalars("eval/f1")
    assert [event.value for event in logged] == pytest.approx(found)
    again = run(encoder, tmp_path / "m", "optimisation.dev_every=2", resume=True)
    assert (again.epochs, again.history) == (3, trained.history)


@pytest.mark.parametrize("killed_in", [2, 3])
def test_a_killed_training_goes_on_after_an_epoch_that_was_not_scored(
    encoder, tmp_path, monkeypatch, killed_in
):
    """And after one that was: a checkpoint is kept of each."""
    chosen = ("optimisation.dev_every=2",)
    whole = run(encoder, tmp_path / "whole", *chosen)

    def interrupt(self, args, state, control, **_):
        if state.epoch > killed_in - 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_step_end", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(encoder, tmp_path / "parts", *chosen)
    (checkpoint,) = (tmp_path / "parts" / "checkpoints").iterdir()
    state = json.loads((checkpoint / "trainer_state.json").read_text())
    assert state["epoch"] == killed_in - 1
    resumed = run(encoder, tmp_path / "parts", *chosen, resume=True)
    assert (resumed.history, resumed.epochs) == (whole.history, 3)
    assert resumed.best.epoch == whole.best.epoch
    for one, other in zip(weights(whole), weights(resumed), strict=True):
        assert one.equal(other)


def test_a_training_that_patience_ended_is_not_gone_on_with(encoder, tmp_path, monkeypatch):
    """Killed while its model is scored: what is left to do is that."""
    chosen = ("optimisation.patience=1", "optimisation.epochs=4")
    found = (0.5, 0.4, 0.3, 0.9)
    dev_scores(monkeypatch, *found)
    whole = run(encoder, tmp_path / "whole", *chosen)
    assert (whole.epochs, whole.best.epoch) == (3, 1)
    dev_scores(monkeypatch, *found)
    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.run.finished", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(encoder, tmp_path / "parts", *chosen)
    resumed = run(encoder, tmp_path / "parts", *chosen, resume=True)
    assert (resumed.epochs, resumed.best.epoch) == (3, 1)
    assert resumed.history == whole.history


def test_a_training_that_was_killed_while_it_removed_its_checkpoints_is_done(encoder, tmp_path):
    whole = run(encoder, tmp_path / "m")
    left = tmp_path / "m" / "checkpoints" / "checkpoint-9"
    left.mkdir(parents=True)
    (left / "hashes.json").write_text('{"model.safetensors": ""}')
    (left / "trainer_state.json").write_text("{}")
    again = run(encoder, tmp_path / "m", resume=True)
    assert (again.epochs, again.history) == (whole.epochs, whole.history)
    assert not (tmp_path / "m" / "checkpoints").exists()


def test_documents_in_another_order_are_another_training(encoder, tmp_path, refused):
    settings = resolve(assignments=SMALL, options={"encoder": str(encoder)})
    arguments = (DOCUMENTS[:2], tmp_path / "m")
    train(settings, DOCUMENTS, *arguments, console=QUIET)
    with refused():
        train(settings, DOCUMENTS[::-1], *arguments, console=QUIET, resume=True)


@pytest.mark.parametrize("dev", [[], DOCUMENTS[2:3]])
def test_dev_documents_that_cannot_choose_an_epoch(encoder, tmp_path, dev, refused):
    settings = resolve(assignments=SMALL, options={"encoder": str(encoder)})
    with refused():
        train(settings, DOCUMENTS, dev, tmp_path / "m", console=QUIET)
    assert not (tmp_path / "m").exists()


def test_what_diverges_in_an_epoch_that_is_not_scored_is_in_no_checkpoint(
    encoder, tmp_path, refused
):
    changes = ("optimisation.learning_rate=1e38", "optimisation.warmup=0")
    with refused(error=TrignerError):
        run(encoder, tmp_path / "m", *changes, "optimisation.dev_every=3")
    assert not list((tmp_path / "m").glob("checkpoints/*/trainer_state.json"))


def test_a_damaged_checkpoint_is_not_gone_on_from(encoder, tmp_path, monkeypatch, refused):
    def interrupt(self, args, state, control, **_):
        if state.epoch > 1:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_evaluate", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(encoder, tmp_path / "m")
    (checkpoint,) = (tmp_path / "m" / "checkpoints").iterdir()
    files = sorted(path for path in checkpoint.iterdir() if path.name != "hashes.json")
    assert {"model.safetensors", "optimizer.pt", "trainer_state.json"} <= {f.name for f in files}
    for path in files:
        content = path.read_bytes()
        half = len(content) // 2
        path.write_bytes(content[:half] + bytes([content[half] ^ 1]) + content[half + 1 :])
        with refused() as raised:
            run(encoder, tmp_path / "m", resume=True)
        assert raised.value.path == path
        path.write_bytes(content)
    assert run(encoder, tmp_path / "m", resume=True).epochs == 3


def test_a_damaged_checkpoint_without_hashes_is_not_gone_on_from(
    encoder, tmp_path, monkeypatch, refused
):
    def interrupt(self, args, state, control, **_):
        if state.epoch > 1:
            raise KeyboardInterrupt

    out = tmp_path / "m"
    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_evaluate", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(encoder, out)
    (checkpoint,) = (out / "checkpoints").iterdir()
    (checkpoint / "hashes.json").unlink()
    damages = {
        "model.safetensors": (b"junk",),
        "optimizer.pt": (b"junk", pickle.dumps(print), pickle.dumps({})),
        "scheduler.pt": (b"junk",),
        "rng_state.pth": (b"junk", pickle.dumps([])),
    }
    for name, contents in damages.items():
        whole = (checkpoint / name).read_bytes()
        for content in contents:
            (checkpoint / name).write_bytes(content)
            with refused() as raised:
                run(encoder, out, resume=True)
            assert raised.value.path == checkpoint
        (checkpoint / name).write_bytes(whole)
    added = checkpoint.with_name("checkpoint-99")
    added.mkdir()
    state = json.loads((checkpoint / "trainer_state.json").read_text())
    (added / "trainer_state.json").write_text(json.dumps({**state, "global_step": 99}))
    with refused() as raised:
        run(encoder, out, resume=True)
    assert raised.value.path == added
    shutil.rmtree(added)

    def fails(self, args, state, control, **_):
        raise KeyError("of the training itself")

    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_evaluate", fails)
        with refused(error=KeyError):
            run(encoder, out, resume=True)
    assert run(encoder, out, resume=True).epochs == 3


def test_a_checkpoint_without_its_state_is_not_whole(encoder, tmp_path, monkeypatch):
    def killed(self, *_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SystemTrainer, "_save_optimizer_and_scheduler", killed)
        with pytest.raises(KeyboardInterrupt):
            run(encoder, tmp_path / "out")
    assert list((tmp_path / "out" / "checkpoints").iterdir())
    assert run(encoder, tmp_path / "out", resume=True).epochs == 3


def test_sentences_are_seen_as_often_as_is_asked(encoder, tmp_path):
    trained = run(encoder, tmp_path / "all", "optimisation.epochs=1")
    more = run(
        encoder,
        tmp_path / "more",
        "optimisation.epochs=1",
        "sampling.discontinuous=4",
        "sampling.empty=0",
    )
    pairs = zip(weights(trained), weights(more), strict=True)
    assert not all(one.equal(other) for one, other in pairs)


def test_a_full_disk_leaves_no_model_and_says_so(encoder, tmp_path, monkeypatch, refused):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("trigner.families.core.folder.save_file", full)
    with refused(error=TrignerError):
        run(encoder, tmp_path / "m")
    assert not (tmp_path / "m" / "trigner.json").exists()
    assert not list((tmp_path / "m").rglob("*.partial"))


def test_patience_stops_after_more_than_that_many_epochs(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr("trigner.training.trainer.figures", lambda _: dict.fromkeys(FIGURES, 0.5))
    trained = run(
        encoder,
        tmp_path / "m",
        "optimisation.epochs=9",
        "optimisation.patience=2",
        "optimisation.learning_rate=1e-12",
        "optimisation.encoder_lr=0",
    )
    assert trained.epochs == 4


def test_training_goes_on_while_nothing_is_found(encoder, tmp_path):
    changes = ("optimisation.learning_rate=1e-12", "optimisation.encoder_lr=0")
    epochs = ("optimisation.epochs=4", "optimisation.patience=1")
    assert run(encoder, tmp_path / "m", *epochs, *changes).epochs == 4


def test_a_loss_that_is_nan_ends_the_training_and_names_the_update(encoder, tmp_path, refused):
    with refused(error=TrignerError):
        run(encoder, tmp_path / "m", "optimisation.learning_rate=1e38", "optimisation.warmup=0")
    assert not (tmp_path / "m" / "trigner.json").exists()
    assert not list((tmp_path / "m").glob("checkpoints/*"))


def test_weights_that_are_nan_are_never_saved(encoder, tmp_path, monkeypatch, refused):
    forward = Objective.forward

    def finite_with_a_gradient_that_is_none(self, *args, **inputs):
        losses = forward(self, *args, **inputs)
        return replace(losses, total=losses.total + (0 * losses.total).sqrt())

    monkeypatch.setattr(Objective, "forward", finite_with_a_gradient_that_is_none)
    changes = ("optimisation.batch_size=12", "optimisation.precision=bfloat16")
    with refused(error=TrignerError):
        run(encoder, tmp_path / "m", *changes)
    assert not (tmp_path / "m" / "trigner.json").exists()


def test_starting_from_another_model_takes_over_what_it_is_made_of(encoder, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    run(encoder, first)
    quick = ["optimisation.epochs=1"]
    trained = run(None, second, small=quick, init_from=first)
    assert trained.best.description.labels == ("ADR",)
    assert load(second).settings == load(first).settings
    provenance = trained.best.description.provenance
    assert provenance.settings["encoder"] == str(encoder)
    weights = fingerprint(first, described=False)
    assert provenance.init_from == {"model": str(first), "weights": weights}
    assert json.loads((second / "run.json").read_text())["init_from"] == weights


def test_resuming_with_another_start_is_refused(encoder, tmp_path, refused):
    first, second = tmp_path / "first", tmp_path / "second"
    run(encoder, first)
    run(encoder, second, init_from=first)
    assert run(encoder, second, init_from=first, resume=True).epochs == 3
    for other in (None, second):
        with refused():
            run(encoder, second, init_from=other, resume=True)


def test_a_training_counts_the_sentences_that_it_makes(encoder, tmp_path):
    sharing = [document(own, f"{own} pain", ((0, 6),)) for own in "efgh"]
    settings = resolve(assignments=SMALL, options={"encoder": str(encoder)})
    told = StringIO()
    trained = train(
        *(settings, [*DOCUMENTS, *sharing], DOCUMENTS[:2], tmp_path / "m"),
        console=Console(file=told, width=500),
        device="cpu",
    )
    made = trained.data.made
    assert made > 1
    assert f"on 8 sentences with 9 entities, and on {made} sentences generated" in told.getvalue()


TWO_SENTENCES = document(5, "numb arm .\n\nno pain .", ((0, 8),))


@pytest.mark.parametrize(("more", "told"), [((), 1), ((TWO_SENTENCES,), 0)])
def test_context_without_any_is_told(encoder, tmp_path, more, told):
    written = StringIO()
    settings = resolve(
        assignments=[*SMALL, "model.context_words=4", "optimisation.epochs=1"],
        options={"encoder": str(encoder)},
    )
    console = Console(file=written, width=500)
    documents = [*DOCUMENTS, *more]
    train(settings, documents, DOCUMENTS[:2], tmp_path / "m", device="cpu", console=console)
    note = "note: model.context_words has no effect: each document is a single sentence\n"
    assert written.getvalue().count(note) == told


def relabelled(documents, **names):
    """Documents whose entities have other types."""
    return [
        replace(d, entities=tuple(replace(e, label=names[e.label]) for e in d.entities))
        for d in documents
    ]


@pytest.mark.parametrize("system", ["w2ner", "mac", "biohd"])
def test_starting_from_a_model_for_other_types(encoder, tmp_path, system):
    first, second = tmp_path / "first", tmp_path / "second"
    run(encoder, first, f"system={system}", small=[s for s in SMALL if reads(system, s)])
    settings = resolve(assignments=["optimisation.epochs=2"], init_from=first)
    documents = relabelled(DOCUMENTS, ADR="Effect")
    told = StringIO()
    arguments = (settings, documents, documents[:2], second)
    options = {"device": "cpu", "init_from": first}
    trained = train(*arguments, console=Console(file=told, width=80), **options)
    start, begins, note = told.getvalue().splitlines()[:3]
    assert start.startswith(f"starting from {first}: ")
    assert start.endswith(" tags taken over; Effect begins as ADR; left out: ADR")
    assert begins.startswith("training on 4 sentences with 5 entities")
    assert note.startswith("note: no sentences are generated by coordination")
    assert trained.best.description.labels == ("Effect",)
    assert trained.best.description.provenance.init_from["weights"] == fingerprint(
        first, described=False
    )
    assert {e.label for d in trigner.load(second)(["my left leg hurt."]) for e in d.entities} <= {
        "Effect"
    }
    same = StringIO()
    arguments = (settings, DOCUMENTS, DOCUMENTS[:2], tmp_path / "third")
    train(*arguments, console=Console(file=same, width=80), **options)
    assert same.getvalue().startswith(f"starting from {first}: all weights taken over\n")
    kept = [p.clone() for p in weights(trained)]
    again = train(*arguments, console=QUIET, resume=True, **options)
    assert (again.epochs, again.history) == (2, trained.history)
    assert all(a.equal(b) for a, b in zip(weights(again), kept, strict=True))


def test_an_interrupted_training_for_other_types_goes_on_as_if_it_had_not_been(
    encoder, tmp_path, monkeypatch
):
    first = tmp_path / "first"
    run(encoder, first)
    settings = resolve(assignments=["optimisation.epochs=3"], init_from=first)
    documents = relabelled(DOCUMENTS, ADR="Effect")

    def further(name, **options):
        return train(
            *(settings, documents, documents[:2], tmp_path / name),
            **{"device": "cpu", "console": QUIET, "init_from": first, **options},
        )

    whole = further("whole")
    epochs = []

    def stop_in_the_second(*_, **__):
        epochs.append(1)
        if len(epochs) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ShowProgress, "on_evaluate", stop_in_the_second)
        with pytest.raises(KeyboardInterrupt):
            further("halved")
    resumed = further("halved", resume=True)
    assert resumed.history == whole.history
    assert all(a.equal(b) for a, b in zip(weights(resumed), weights(whole), strict=True))


def test_starting_from_a_model_that_does_not_fit(encoder, tmp_path, refused):
    run(encoder, tmp_path / "first")
    for changes in (
        {"small": ["model.chained=false"]},
        {"small": ["system=toe"]},
        {"small": [], "preset": "paper"},
    ):
        with refused():
            run(encoder, tmp_path / "third", init_from=tmp_path / "first", **changes)
    with refused():
        run("minilm", tmp_path / "third", init_from=tmp_path / "first")
    settings = resolve(options={"encoder": str(encoder)})
    with refused():
        train(settings, DOCUMENTS, DOCUMENTS, tmp_path / "m", init_from=tmp_path / "first")
    (tmp_path / "first" / "model.safetensors").unlink()
    with refused():
        run(encoder, tmp_path / "fourth", init_from=tmp_path / "first")
    shutil.rmtree(tmp_path / "first" / "encoder")
    with refused():
        run(encoder, tmp_path / "fourth", init_from=tmp_path / "first")


def test_nothing_to_learn_from(encoder, tmp_path, refused):
    settings = resolve(assignments=SMALL, options={"encoder": str(encoder)})
    with refused():
        train(settings, [document(1, "no pain.")], DOCUMENTS[:1], tmp_path / "m", console=QUIET)


def test_an_encoder_that_is_not_there(tmp_path, refused):
    with refused():
        run(tmp_path / "absent", tmp_path / "m")


def test_a_disk_that_fills_up_at_a_checkpoint_is_told_and_resumable(
    encoder, tmp_path, monkeypatch, refused
):
    def full(*_, **__):
        raise RuntimeError("PytorchStreamWriter failed writing file data/0")

    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.trainer.SystemTrainer._save_checkpoint", full)
        with refused(error=RuntimeError):  # not the disk: not hidden
            run(encoder, tmp_path / "m")
        usage = SimpleNamespace(free=1000)
        patch.setattr("trigner.training.run.shutil.disk_usage", lambda path: usage)
        with refused(error=TrignerError):
            run(encoder, tmp_path / "n")
    assert run(encoder, tmp_path / "n", resume=True).epochs == 3


def test_a_training_that_was_killed_before_its_first_record_is_resumed(
    encoder, tmp_path, monkeypatch
):
    def killed(path, record):
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / f".{path.name}.0123456789abcdef.tmp").write_text("{")
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("trigner.training.run.write_record", killed)
        with pytest.raises(SystemExit):
            run(encoder, tmp_path / "m")
    assert run(encoder, tmp_path / "m", resume=True).epochs == 3
    assert not list((tmp_path / "m").glob(".*")), "what it left is removed"
    assert run(encoder, tmp_path / "n", resume=True).epochs == 3  # not even a folder was there


def test_a_folder_of_something_else_is_not_resumed(encoder, tmp_path, refused):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "model.safetensors").write_text("another's")
    with refused():
        run(encoder, folder, resume=True)
    assert (folder / "model.safetensors").read_text() == "another's"


@pytest.mark.parametrize("resume", [False, True])
def test_a_link_in_place_of_checkpoints_is_refused(encoder, tmp_path, resume, refused):
    theirs = tmp_path / "theirs" / "checkpoint-1"
    theirs.mkdir(parents=True)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "checkpoints").symlink_to(theirs.parent)
    with refused():
        run(encoder, tmp_path / "m", resume=resume)
    assert [path.name for path in theirs.parent.iterdir()] == ["checkpoint-1"]


def test_a_wrong_resumption_is_refused_before_an_encoder_is_loaded(
    encoder, tmp_path, monkeypatch, refused
):
    run(encoder, tmp_path / "m")

    def create(*_):
        raise AssertionError("an encoder was loaded")

    monkeypatch.setattr("trigner.families.tagging.system.create", create)
    with refused():
        run(encoder, tmp_path / "m", "seed=4", resume=True)


def test_logs_that_cannot_be_written_are_told(encoder, tmp_path, refused):
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "logs").write_text("a file where a folder should be")
    with refused(error=TrignerError):
        run(encoder, tmp_path / "m")


def too_large_for_memory(monkeypatch, limit):
    """An allocator that fails for batches of more word pairs than `limit`."""
    forward = Objective.forward

    def failing(self, **inputs):
        batch, length = inputs["word_subwords"].shape[:2]
        if batch * length**2 > limit:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        return forward(self, **inputs)

    monkeypatch.setattr(Objective, "forward", failing)


def test_batches_are_halved_when_out_of_memory(encoder, tmp_path, monkeypatch):
    four = "optimisation.batch_size=4"
    expected = run(encoder, tmp_path / "b", four, "optimisation.cell_budget=288")
    too_large_for_memory(monkeypatch, 288)
    console = Console(file=StringIO(), width=200)
    settings = resolve(assignments=[*SMALL, four], options={"encoder": str(encoder)})
    trained = train(settings, DOCUMENTS, DOCUMENTS[:2], tmp_path / "a", console=console)
    told = console.file.getvalue()
    # Four sentences of up to 12 words, special words included, have 576 word pairs.
    assert told.count("out of memory") == 1
    assert "starting again with cell_budget=288" in told
    used = trained.best.description.provenance.settings["optimisation"]
    assert used["cell_budget"] == 288
    assert trained.data.signature == expected.data.signature
    found = load(trained.best.folder).tagger.state_dict()
    for name, value in load(expected.best.folder).tagger.state_dict().items():
        assert found[name].equal(value), name
    again = train(settings, DOCUMENTS, DOCUMENTS[:2], tmp_path / "a", resume=True, console=QUIET)
    assert again.best.scores == trained.best.scores


def test_one_sentence_that_memory_cannot_hold(encoder, tmp_path, monkeypatch, refused):
    too_large_for_memory(monkeypatch, 10)
    with refused(error=TrignerError):
        run(encoder, tmp_path / "m")


def test_a_budget_too_small_for_one_sentence(encoder, tmp_path, refused):
    with refused():
        run(encoder, tmp_path / "m", "optimisation.cell_budget=20")


def test_two_epochs_are_kept_when_two_scores_choose(encoder, tmp_path, monkeypatch, refused):
    chosen = iter([(0.1, 0.3), (0.3, 0.2), (0.2, 0.1)])
    evaluate = SystemTrainer.evaluate

    def scored(self, *args, **kwargs):
        overall, discontinuous = next(chosen)
        count = SimpleNamespace(f1=overall, precision=0.0, recall=0.0)
        parted = SimpleNamespace(f1=discontinuous)
        self._score_dev = lambda: SimpleNamespace(overall=count, discontinuous=parted)
        return evaluate(self, *args, **kwargs)

    monkeypatch.setattr(SystemTrainer, "evaluate", scored)
    trained = run(encoder, tmp_path / "m", also_keep=["discontinuous"])
    assert trained.best.epoch == 2
    other = trained.also["discontinuous"]
    assert other.epoch == 1
    assert other.description.provenance.calibration
    assert read_description(tmp_path / "m" / "discontinuous") == other.description
    assert [entry["eval_f1"] for entry in trained.history] == [0.1, 0.3, 0.2]
    again = run(encoder, tmp_path / "m", also_keep=["discontinuous"], resume=True)
    assert (again.history, again.epochs) == (trained.history, 3)
    with refused():
        run(encoder, tmp_path / "m", resume=True)


def test_an_epoch_that_two_scores_chose_is_scored_once(encoder, tmp_path):
    trained = run(encoder, tmp_path / "m", also_keep=["overall"])
    assert trained.also["overall"].scores is trained.best.scores
    both = [read_description(folder) for folder in (tmp_path / "m" / "overall", tmp_path / "m")]
    assert both[0] == both[1] == trained.best.description
    weights = tmp_path / "m" / "overall" / "model.safetensors"
    before = weights.stat().st_mtime_ns
    again = run(encoder, tmp_path / "m", also_keep=["overall"], resume=True)
    assert again.also["overall"].scores is again.best.scores
    assert weights.stat().st_mtime_ns == before


def test_trackers_of_the_trainer_are_called(encoder, tmp_path, monkeypatch):
    logged = []

    class Tracker(TrainerCallback):
        def on_log(self, args, state, control, logs=None, **_):
            logged.append((args.run_name, logs))

    monkeypatch.setitem(INTEGRATION_TO_CALLBACK, "mlflow", Tracker)
    run(encoder, tmp_path / "m", report_to=["mlflow", "tensorboard"])
    assert {name for name, _ in logged} == {"m"}
    assert sum("eval_f1" in logs for _, logs in logged) == 3
    assert len(list((tmp_path / "m" / "logs").glob("events*"))) == 1


def test_a_tracker_without_its_package_is_told(encoder, tmp_path, monkeypatch, refused):
    class Absent(TrainerCallback):
        def __init__(self):
            raise RuntimeError("WandbCallback requires wandb to be installed: pip install wandb")

    monkeypatch.setitem(INTEGRATION_TO_CALLBACK, "wandb", Absent)
    with refused(error=TrignerError):
        run(encoder, tmp_path / "m", report_to=["wandb"])
    with refused():
        run(encoder, tmp_path / "m", report_to=["wanbd"])
    assert not (tmp_path / "m").exists()  # the corrected command can have it


def test_a_finished_model_is_described_by_what_it_finds_on_dev(encoder, tmp_path):
    out, dev = tmp_path / "model", DOCUMENTS[:2]
    trained = run(encoder, out, preset="clean")
    description = read_description(out)
    assert description.temperature == description.provenance.calibration["temperature"]
    overall = score(dev, list(trigner.load(out).documents(dev))).overall
    assert description.provenance.dev.scores["f1"] == overall.f1
    assert trained.best.scores.overall == overall
    assert scored(out, dev, torch.device("cpu")).scores.overall == overall
    # Interrupted before it was done, it is described again from the beginning.
    assert finished(out, dev, torch.device("cpu")).description == description


@pytest.mark.parametrize("wanted", [True, False])
def test_algorithms_are_deterministic_as_the_settings_say(encoder, tmp_path, monkeypatch, wanted):
    asked = []

    @contextmanager
    def noted(seed, device, *, wanted):
        asked.append(wanted)
        yield

    monkeypatch.setattr("trigner.training.run.deterministic", noted)
    run(encoder, tmp_path / "out", f"optimisation.deterministic={wanted}")
    assert asked == [wanted]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.filterwarnings("default")  # of PyTorch's, which differ between GPUs
@pytest.mark.parametrize("device", ["auto", "cuda", "cuda:0"])
def test_a_training_on_a_gpu(encoder, tmp_path, device):
    torch.cuda.reset_peak_memory_stats()
    for name in ("first", "again"):
        assert run(encoder, tmp_path / name, device=device).epochs == 3
    assert torch.cuda.max_memory_allocated() > 0
    first, again = (load_file(tmp_path / name / "model.safetensors") for name in ("first", "again"))
    assert all(first[name].equal(again[name]) for name in first)
    found = list(trigner.load(tmp_path / "first", device=device).documents(DOCUMENTS))
    assert [own.text for own in found] == [own.text for own in DOCUMENTS]


def test_what_cannot_work_is_refused_before_the_first_update(encoder, tmp_path, refused):
    settings = resolve(assignments=SMALL, options={"encoder": str(encoder)})
    with refused():
        train(settings, DOCUMENTS, [DOCUMENTS[0]] * 2, tmp_path / "m", console=QUIET)
    with refused():
        train(settings, DOCUMENTS, DOCUMENTS, tmp_path / "m", console=QUIET, also_keep=["f1"])
    assert not (tmp_path / "m").exists()


def test_documents_may_come_from_iterators_and_paths_be_strings(encoder, tmp_path):
    settings = resolve(
        assignments=[*SMALL, "optimisation.epochs=1"], options={"encoder": str(encoder)}
    )
    folder = str(tmp_path / "m")
    trained = train(settings, iter(DOCUMENTS), iter(DOCUMENTS[:2]), folder, console=QUIET)
    assert (trained.data.documents, trained.epochs) == (len(DOCUMENTS), 1)
    again = resolve(init_from=folder, assignments=["optimisation.epochs=1"])
    train(again, DOCUMENTS, DOCUMENTS, str(tmp_path / "n"), init_from=folder, console=QUIET)
