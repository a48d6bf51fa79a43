"""A lock keeps a second process out and ends with the first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from trigner.errors import InputError, TrignerError
from trigner.machine.locks import LockedError, locked

HOLDER = """
import sys
from pathlib import Path
from trigner.machine.locks import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_at_a_time_also_when_the_holder_is_killed(tmp_path, refused):
    path = tmp_path / "new" / "x.lock"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        with refused(error=LockedError), locked(path):
            pass
        with refused(), locked(path, busy=InputError("wait for it")):
            pass
        holder.kill()
        holder.wait()
    for _ in range(2):
        with locked(path):
            pass


def test_a_lock_that_is_tried_once_leaves_nothing(tmp_path):
    path = tmp_path / "x.lock"
    with locked(path, remove=True):
        assert path.exists()
    assert not path.exists()


def test_an_error_of_the_block_is_its_own(tmp_path, refused):
    with refused(error=OSError), locked(tmp_path / "x.lock"):
        raise OSError("theirs")
    (tmp_path / "file").write_text("")
    with refused(error=TrignerError), locked(tmp_path / "file" / "x.lock"):
        pass


def test_a_file_that_cannot_be_made_is_not_one_that_is_locked(refused):
    """Not even root makes files there; filelock would wait for one to appear."""
    with refused(error=TrignerError) as raised, locked(Path("/proc/x.lock")):
        pass
    assert not isinstance(raised.value, LockedError)


def test_a_link_is_no_lock(tmp_path, refused):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "x.lock").symlink_to("theirs")
    with refused(), locked(tmp_path / "x.lock"):
        pass
    assert (tmp_path / "theirs").read_text() == "theirs"
