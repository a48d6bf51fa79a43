from __future__ import annotations

import json
import threading
from types import SimpleNamespace

import pytest

from trigner.errors import TrignerError
from trigner.training.checkpoints import HashCheckpoints, disk_errors, last_checkpoint, loading


def state(step, **changes):
    """What the Trainer says of its state after so many updates."""
    return json.dumps({"global_step": step, "epoch": 1.0, "log_history": [], **changes})


@pytest.mark.parametrize("broken", [[], [10], [20]])
@pytest.mark.parametrize("written", [None, 0, 1, -1], ids=["none", "opened", "begun", "nearly"])
def test_the_newest_complete_checkpoint(tmp_path, broken, written):
    """A process that is killed leaves no state, an empty one or the beginning of one."""
    folders = {step: tmp_path / "checkpoints" / f"checkpoint-{step}" for step in (5, 10, 20)}
    for step, folder in folders.items():
        folder.mkdir(parents=True)
        if step not in broken:
            (folder / "trainer_state.json").write_text(state(step))
        elif written is not None:
            (folder / "trainer_state.json").write_text(state(step)[:written])
    whole = set(folders) - set(broken)
    assert last_checkpoint(tmp_path / "checkpoints") == folders[max(whole)]
    assert {step for step, folder in folders.items() if folder.exists()} == whole


def test_no_checkpoint(tmp_path):
    assert last_checkpoint(tmp_path / "checkpoints") is None


@pytest.fixture
def hashed(tmp_path):
    """The folder of a checkpoint with hashes."""
    folder = tmp_path / "checkpoints" / "checkpoint-7"
    folder.mkdir(parents=True)
    for name in ("model.safetensors", "optimizer.pt"):
        (folder / name).write_bytes(b"numbers")
    (folder / "trainer_state.json").write_text(state(7))
    args, at = SimpleNamespace(output_dir=folder.parent), SimpleNamespace(global_step=7)
    HashCheckpoints().on_save(args, at, None)
    assert last_checkpoint(folder.parent) == folder
    return folder


@pytest.mark.parametrize(
    "name", ["model.safetensors", "optimizer.pt", "trainer_state.json", "hashes.json"]
)
@pytest.mark.parametrize(
    "content", [b"numberz", b"", b"[]", b"[" * 100_000, b"9" * 5000], ids=lambda c: str(c[:8])
)
def test_a_damaged_checkpoint_is_named(hashed, name, content, refused):
    (hashed / name).write_bytes(content)
    with refused() as raised:
        last_checkpoint(hashed.parent)
    assert raised.value.path == hashed / name


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.pt"])
def test_a_missing_file_of_a_checkpoint_is_named(hashed, name, refused):
    (hashed / name).unlink()
    with refused() as raised:
        last_checkpoint(hashed.parent)
    assert raised.value.path == hashed / name


def test_a_missing_file_is_named_in_its_checkpoint(hashed, refused):
    (hashed / "hashes.json").write_text(json.dumps({"../../elsewhere": "0" * 64}))
    with refused() as raised:
        last_checkpoint(hashed.parent)
    assert raised.value.path == hashed / "elsewhere"


def test_a_checkpoint_that_was_cut_off_before_its_hashes_is_whole(hashed, refused):
    (hashed / "hashes.json").unlink()
    assert last_checkpoint(hashed.parent) == hashed
    (hashed / "trainer_state.json").write_text("[]")
    with refused():
        last_checkpoint(hashed.parent)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{}", "global_step: Field required"),
        (state(8), "global_step: is 8, not that of its folder"),
        (state("7"), "global_step: must be a whole number, got '7'"),
        (state(7, epoch="x"), "epoch: must be a number, got 'x'"),
        (state(7, epoch=float("nan")), "epoch: must be a finite number"),
        (state(7, epoch=-1), "epoch: must be at least 0"),
        (state(7, log_history=None), "log_history: must be a list"),
        (state(7, log_history=[{"eval_f1": "0.5"}]), "log_history.0.eval_f1: must be a number"),
        (state(7, logging_steps=0), "logging_steps: must be above 0"),
        (state(7, best_metric=[]), "best_metric: must be a number"),
        (state(7, best_model_checkpoint=5), "best_model_checkpoint: must be a text"),
        (state(7, colour="red"), "'colour'"),
        ("[" * 100_000, "is damaged"),
    ],
)
def test_a_state_that_is_none_is_named_without_hashes_too(hashed, content, message, refused):
    (hashed / "hashes.json").unlink()
    (hashed / "trainer_state.json").write_text(content)
    with refused() as raised:
        last_checkpoint(hashed.parent)
    assert message in str(raised.value)
    assert raised.value.path == hashed / "trainer_state.json"


def test_what_cannot_be_loaded_is_named_and_memory_is_another_thing(tmp_path, refused):
    with refused() as raised, loading(tmp_path, "weights"):
        raise KeyError("a")
    assert raised.value.path == tmp_path
    with pytest.raises(MemoryError), loading(tmp_path, "weights"):
        raise MemoryError


@pytest.mark.parametrize("name", ["checkpoint-mine", "checkpoint-\u0667", "checkpoint-"])
def test_folders_that_are_no_checkpoints_are_left_alone(hashed, name):
    (hashed.parent / name).mkdir()
    assert last_checkpoint(hashed.parent) == hashed
    assert (hashed.parent / name).is_dir()


def test_the_main_process_adds_hashes_when_all_have_written(tmp_path):
    folder = tmp_path / "checkpoint-7"
    folder.mkdir()

    def saved(is_main):
        processes = SimpleNamespace(
            wait=lambda: (folder / "rng_state_1.pth").write_bytes(b"numbers"), is_main=is_main
        )
        args, at = SimpleNamespace(output_dir=tmp_path), SimpleNamespace(global_step=7)
        HashCheckpoints(processes).on_save(args, at, None)
        return (folder / "hashes.json").is_file()

    assert not saved(is_main=False)
    (folder / "rng_state_1.pth").unlink()
    assert saved(is_main=True)
    assert list(json.loads((folder / "hashes.json").read_text())) == ["rng_state_1.pth"]


@pytest.mark.parametrize("error", [OSError("4 bytes"), RuntimeError("4 bytes")])
def test_a_full_disk_is_told_by_whatever_error_it_shows_itself(
    tmp_path, monkeypatch, error, refused
):
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=4))
    with refused(error=TrignerError), disk_errors(tmp_path):
        raise error
    monkeypatch.setattr("shutil.disk_usage", lambda path: SimpleNamespace(free=2**40))
    with refused(error=Exception), disk_errors(tmp_path):
        raise error


def test_threads_that_cannot_write_are_not_shown_beside_the_error(tmp_path, monkeypatch, refused):
    shown = []
    hook = shown.append
    monkeypatch.setattr(threading, "excepthook", hook)

    def fails(error):
        def raising():
            raise error

        thread = threading.Thread(target=raising)
        thread.start()
        thread.join()

    with disk_errors(tmp_path):
        fails(OSError("in a training that goes on"))
    assert threading.excepthook is hook
    with refused(error=ValueError), disk_errors(tmp_path):
        raise ValueError("something else")
    assert threading.excepthook is hook
    with refused(error=TrignerError), disk_errors(tmp_path):
        raise OSError("no space")
    fails(OSError("no space, seen late"))
    assert shown == []
    fails(ValueError("not of the disk"))
    assert [failed.exc_type for failed in shown] == [ValueError]


@pytest.mark.parametrize("name", ["checkpoints", "checkpoints/checkpoint-9"])
def test_links_are_refused_and_nothing_is_removed(tmp_path, name, refused):
    theirs = tmp_path / "theirs" / "checkpoint-8"
    theirs.mkdir(parents=True)
    (theirs / "file").write_text("theirs")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(theirs.parent)
    with refused():
        last_checkpoint(tmp_path / "checkpoints")
    assert (theirs / "file").read_text() == "theirs"
