from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from trigner.errors import InputError, TrignerError
from trigner.training.checkpoints import HashCheckpoints, disk_errors, last_checkpoint


@pytest.mark.parametrize("broken", [[], [10], [20]])
def test_the_newest_complete_checkpoint(tmp_path, broken):
    for step in (5, 10, 20):
        folder = tmp_path / "checkpoints" / f"checkpoint-{step}"
        folder.mkdir(parents=True)
        if step not in broken:
            (folder / "trainer_state.json").write_text("{}")
    expected = max({5, 10, 20} - set(broken))
    assert (
        last_checkpoint(tmp_path / "checkpoints")
        == tmp_path / "checkpoints" / f"checkpoint-{expected}"
    )


def test_no_checkpoint(tmp_path):
    assert last_checkpoint(tmp_path / "checkpoints") is None


@pytest.fixture
def hashed(tmp_path):
    """The folder of a checkpoint with hashes."""
    folder = tmp_path / "checkpoints" / "checkpoint-7"
    folder.mkdir(parents=True)
    for name in ("model.safetensors", "optimizer.pt"):
        (folder / name).write_bytes(b"numbers")
    (folder / "trainer_state.json").write_text("{}")
    args, state = SimpleNamespace(output_dir=folder.parent), SimpleNamespace(global_step=7)
    HashCheckpoints().on_save(args, state, None)
    assert last_checkpoint(folder.parent) == folder
    return folder


@pytest.mark.parametrize(
    "name", ["model.safetensors", "optimizer.pt", "trainer_state.json", "hashes.json"]
)
@pytest.mark.parametrize(
    "content", [b"numberz", b"", b"[]", b"[" * 100_000, b"9" * 5000], ids=lambda c: str(c[:8])
)
def test_a_damaged_checkpoint_is_named(hashed, name, content):
    (hashed / name).write_bytes(content)
    with pytest.raises(InputError, match=r"is damaged.* start the training again") as raised:
        last_checkpoint(hashed.parent)
    assert raised.value.path == hashed / name


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.pt"])
def test_a_missing_file_of_a_checkpoint_is_named(hashed, name):
    (hashed / name).unlink()
    with pytest.raises(InputError, match="is missing") as raised:
        last_checkpoint(hashed.parent)
    assert raised.value.path == hashed / name


def test_a_checkpoint_of_a_former_version_has_no_hashes(hashed):
    (hashed / "hashes.json").unlink()
    assert last_checkpoint(hashed.parent) == hashed
    (hashed / "trainer_state.json").write_text("{")
    with pytest.raises(InputError, match=r"trainer_state\.json: is damaged"):
        last_checkpoint(hashed.parent)


def test_folders_that_are_no_checkpoints_are_left_alone(hashed):
    (hashed.parent / "checkpoint-mine").mkdir()
    assert last_checkpoint(hashed.parent) == hashed
    assert (hashed.parent / "checkpoint-mine").is_dir()


def test_threads_that_cannot_write_are_not_shown_beside_the_error(tmp_path, monkeypatch):
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
    with pytest.raises(ValueError, match="else"), disk_errors(tmp_path):
        raise ValueError("something else")
    assert threading.excepthook is hook
    with pytest.raises(TrignerError, match="cannot write to"), disk_errors(tmp_path):
        raise OSError("no space")
    fails(OSError("no space, seen late"))
    assert shown == []
    fails(ValueError("not of the disk"))
    assert [failed.exc_type for failed in shown] == [ValueError]


@pytest.mark.parametrize("name", ["checkpoints", "checkpoints/checkpoint-9"])
def test_links_are_refused_and_nothing_is_removed(tmp_path, name):
    theirs = tmp_path / "theirs" / "checkpoint-8"
    theirs.mkdir(parents=True)
    (theirs / "file").write_text("theirs")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).symlink_to(theirs.parent)
    with pytest.raises(InputError, match=f"{name}: is a link"):
        last_checkpoint(tmp_path / "checkpoints")
    assert (theirs / "file").read_text() == "theirs"
