"""The short form of `make soak`: seconds instead of half an hour."""

from __future__ import annotations

import ast
import http.client
import json
import socket
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

import trial_seed
from serving_process import process
from trials import kills, soak
from used_names import used_names

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "trigner"


def test_the_service_under_load_and_attack(exported_model):
    seen = soak.service(exported_model, 24, clients=50, restarts=2, seed=trial_seed.seed(0))
    assert seen.faults == []
    assert seen.statuses["200"] > 20
    assert seen.hostile.total() > 5
    assert seen.restarts == 2
    assert json.loads(json.dumps(seen.told()))["statuses"] == dict(seen.statuses)


def test_a_killed_training_ends_with_the_weights_of_an_unkilled_one(tmp_path):
    assert kills.training(tmp_path, trial_seed.seed(3), 3).kills >= 1


def test_a_killed_study_has_the_results_of_an_unkilled_one(tmp_path):
    assert kills.study(tmp_path, trial_seed.seed(3), 2).resumed == 3


def soaked(**changes):
    """What clients saw of a good service, but for these changes."""
    good = {"statuses": {"200": 95, "503": 5, soak.AMID: 40}, "megabytes": [100.0] * 200}
    given = {**good, **changes}
    return soak.Soaked(2, **{**given, "statuses": Counter(given["statuses"])})


SHARP = [100.0] * 75 + [106.0] * 25


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"statuses": {"200": 50, "500": 3}}, "3 answers with status 500"),
        ({"hostile": Counter({"500": 1})}, "1 answers with status 500"),
        ({"wrong": 1}, "1 answers unlike those alone"),
        ({"crashes": 1}, "the service ended badly 1 times"),
        (
            {"statuses": {"200": 999, soak.REFUSED: 1}},
            "1 honest requests without an answer",
        ),
        (
            {"statuses": {"200": 88, "429": 11, "503": 1}},
            "12.0% of the honest got another status than 200",
        ),
        ({"megabytes": []}, "memory was not measured"),
        ({"megabytes": [0.0] * 200}, "memory of a process that was no more"),
        ({"megabytes": SHARP}, "memory grew by 6.0%"),
        ({"statuses": {}}, "no answer at all"),
    ],
)
def test_each_fault_is_told(changes, fault):
    assert soaked().faults == []
    assert soaked(**changes).faults == [fault]


def test_a_dead_service_is_no_good_one():
    statuses = {"200": 1, soak.REFUSED: 9999, "429": 5000}
    assert len(soaked(statuses=statuses, megabytes=[0.0] * 200).faults) == 3


def test_of_few_samples_growth_is_not_told():
    few = [100.0] * 60 + [200.0] * 19
    assert soaked(megabytes=few).faults == []
    assert soaked(megabytes=[*few, 200.0]).faults == ["memory grew by 100.0%"]


DYING = """
import itertools, os
from trigner.serving import batching
score, batches = batching.Batcher._score, itertools.count()
batching.Batcher._score = lambda *own: os._exit(3) if next(batches) > 0 else score(*own)
from trigner.cli import main
main()
"""


def test_a_service_that_dies_by_itself_fails_the_soak(exported_model, monkeypatch):
    dying = partial(process, program=("-c", DYING))
    monkeypatch.setattr(soak, "process", dying)
    seen = soak.service(exported_model, 8, clients=4, restarts=1)
    assert seen.crashes == 2
    assert any("badly" in fault for fault in seen.faults)
    assert any("without an answer" in fault for fault in seen.faults)


def test_every_trial_that_kills_hears_of_the_seed():
    """Each of them chooses its moments by `trial_seed`, which `make soak` sets."""
    for name in soak.KILLED:
        path, _, function = name.partition("::")
        tree = ast.parse((ROOT / path).read_text("utf-8"))
        (found,) = [n for n in tree.body if getattr(n, "name", None) == function]
        assert "trial_seed.chosen(" in ast.unparse(found), name
    killing = {
        f"{path.relative_to(ROOT)}::{node.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and "trial_seed.chosen(" in ast.unparse(node)
        if path != Path(__file__)
    }
    assert killing == {*soak.KILLED}


WALL_CLOCK = {
    "lab/prompting/client.py": ["time.time"],  # a server's Retry-After may be a date
    "lab/prompting/cache.py": ["datetime.datetime.now"],  # when an answer was recorded
}
MOMENTS = {
    *("time.time", "time.time_ns", "time.clock_gettime", "time.clock_gettime_ns"),
    *("time.localtime", "time.gmtime", "time.ctime", "time.asctime", "time.strftime"),
    *(f"datetime.datetime.{name}" for name in ("now", "utcnow", "today")),
    "datetime.date.today",
}


def moments(source):
    """The clocks that somebody may set of which code asks, called or handed on."""
    return [name for _, name in used_names(ast.parse(source)) if name in MOMENTS]


def test_a_clock_that_jumps_changes_no_deadline():
    """What passes is measured with clocks that no one sets; moments are written down alone."""
    found = {
        path.relative_to(SOURCE).as_posix(): moments(path.read_text("utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    assert {name: own for name, own in found.items() if own} == WALL_CLOCK


@pytest.mark.parametrize(
    "source",
    [
        "import time\nend = time.time() + 3",
        "from time import time\nend = time() + 3",
        "from time import time_ns as now\nend = now() + 3",
        "import time as clock\ndef wait(now=clock.time): ...",
        "import datetime\nend = datetime.datetime.now()",
        "from datetime import datetime as moment\nend = moment.now().isoformat()",
        "from datetime import date\nend = date.today()",
    ],
)
def test_a_clock_is_found_by_whatever_name(source):
    assert len(moments(source)) == 1
    assert moments("import time\nfrom datetime import time as t\nt(time.monotonic())") == []


JUMPING = """
import itertools, time
real, jumps = time.time, itertools.cycle((0, 86_400, -86_400, 30_000_000))
time.time = lambda: real() + next(jumps)
time.time_ns = lambda: int(time.time() * 1e9)
from trigner.serving import batching
score = batching.Batcher._score
def slow(self, entries):  # sentences of more words than the test's short ones
    time.sleep(3 if max(item.input.size for _, item in entries) > 30 else 0)
    score(self, entries)
batching.Batcher._score = slow
from trigner.cli import main
main()
"""


def test_deadlines_hold_while_the_clock_of_the_day_jumps(exported_model):
    """By days, back and forth, whenever it is asked."""
    options = ("--timeout", "1", "--body-timeout", "1")
    with process(exported_model, *options, program=("-c", JUMPING)) as (running, port):

        def status(text):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            begun = time.monotonic()
            connection.request("POST", "/v1/extract", json.dumps({"text": text}))
            found = connection.getresponse().status
            connection.close()
            return found, time.monotonic() - begun

        assert [status("my leg hurt")[0] for _ in range(8)] == [200] * 8
        late, seconds = status("my leg hurt " * 20)
        assert (late, 0.9 < seconds < 2.9) == (504, True), seconds
        with socket.create_connection(("127.0.0.1", port), timeout=30) as half:
            begun = time.monotonic()
            half.sendall(soak.HEAD.format(50).encode() + b"{")
            answer = half.recv(1000)
            seconds = time.monotonic() - begun
        assert answer.split(b" ")[1] == b"408"
        assert 0.9 < seconds < 10
        assert running.poll() is None
