from __future__ import annotations

import pytest

from trigner.training.checkpoints import last_checkpoint


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
