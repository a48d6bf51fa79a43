"""The short form of `make fuzz`: the same inputs each time, and those that once were too much."""

from __future__ import annotations

import json
import sys
import threading
import time
from contextlib import closing
from importlib import import_module
from pathlib import Path
from random import Random
from shutil import copytree
from types import SimpleNamespace

import pytest

from trials import counts, fuzz
from trials.mutations import changed_json, mutated
from trials.targets import FILES, MODELS, READ, SYSTEMS, TAGGERS, TARGETS, WRITE, Target
from trigner.corpora.formats import FORMATS, WRITABLE
from trigner.errors import InputError
from trigner.systems.registry import systems

SLOW = {"service": 150, "text": 40, **{f"model-{name}": 25 for name in MODELS}}
SLOW |= {f"decode-{name}": 30 for name in (*TAGGERS, *SYSTEMS)}
INPUTS = 200
"""Of each other target besides its seeds."""


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_errors_of_our_own(name, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzz, "REGRESSIONS", tmp_path / "found")
    monkeypatch.setattr(fuzz, "KEPT", tmp_path / "kept")
    with closing(TARGETS[name](tmp_path)) as target:
        most = len(target.seeds) + SLOW.get(name, INPUTS)
        trial = fuzz.by_messages(name, target, float("inf"), 0, most)
    assert not trial.foreign, f"see {tmp_path / 'found'}: {dict(trial.foreign)}"
    assert trial.inputs == most
    assert name.startswith(("decode", "write", "text", "file-answer")) or trial.refused
    # What is refused at the door tries nothing behind it.
    least = most // 10 if name.startswith(("write", "service")) else 1
    assert trial.inputs - trial.refused >= least


@pytest.mark.parametrize("name", sorted(p.name for p in fuzz.REGRESSIONS.glob("*")))
def test_what_was_too_much_is_no_more(name, tmp_path):
    trial = fuzz.Trial(name, "kept")
    with closing(TARGETS[name](tmp_path)) as target:
        for data in fuzz.kept(fuzz.REGRESSIONS / name):
            trial.run(target, data)
    assert trial.inputs
    assert not trial.foreign


DEFECTS = {
    "file-answers": ("lab.prompting.cache", "TypeError, RecursionError", "TypeError"),
    "file-sentences": ("lab.prompting.sentences", "OverflowError, RecursionError", "OverflowError"),
    "file-job": (
        "pipeline.bulk.output",
        "KeyError, TypeError, RecursionError",
        "KeyError, TypeError",
    ),
    "file-record": (
        "training.records",
        """if not isinstance(content, dict):
            raise ValueError("it is not an object")
        return content""",
        "return dict(content)",
    ),
    "file-checkpoint": ("training.checkpoints", "if name not in files:", "if False:"),
}
"""Of a target: a module, how it is today, and a defect that was there once."""


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_that_is_put_back_is_found(name, tmp_path, monkeypatch):
    module_name, now, before = DEFECTS[name]
    module = import_module(f"trigner.{module_name}")
    source = Path(str(module.__file__)).read_text("utf-8")
    assert source.count(now) == 1
    defective = {"__name__": module.__name__}
    exec(compile(source.replace(now, before), str(module.__file__), "exec"), defective)
    for own, value in defective.items():
        if getattr(value, "__module__", None) == module.__name__:
            monkeypatch.setattr(module, own, value)
    kept = fuzz.REGRESSIONS / name
    if kept.is_dir():
        copytree(kept, tmp_path / "found" / name)
    monkeypatch.setattr(fuzz, "REGRESSIONS", tmp_path / "found")
    monkeypatch.setattr(fuzz, "KEPT", tmp_path / "kept")
    with closing(TARGETS[name](tmp_path / "own")) as target:
        trial = fuzz.by_messages(name, target, float("inf"), 0, 100)
    assert trial.foreign


def test_every_format_and_every_system_is_a_target():
    assert {*READ} == {*FORMATS, "any"}
    assert {*WRITE} == {*WRITABLE}
    assert {*TAGGERS, *SYSTEMS} <= systems().keys()
    own = {name for name, spec in systems().items() if spec.package == "trigner"}
    # What `generative` writes is held to the automaton of `seq2seq`.
    assert own - {"generative"} == {*TAGGERS, *SYSTEMS}
    assert len(FILES) == len({*FILES})


def test_what_comes_out_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fuzz, "REGRESSIONS", tmp_path / "found")
    monkeypatch.setattr(fuzz, "KEPT", tmp_path / "kept")

    def check(data):
        if b"x" in data:
            raise InputError(f"no {data!r} here")
        if b"y" in data:
            raise KeyError("y")

    target = Target([b"x", b"y", b"yy", b"z"], check, lambda data, random: data)
    trial = fuzz.by_messages("own", target, float("inf"), 0, 4)
    assert (trial.inputs, trial.refused, trial.foreign.total()) == (4, 1, 2)
    assert list(trial.foreign) == [f"KeyError at test_fuzz.py:{check.__code__.co_firstlineno + 4}"]
    assert fuzz.kept(tmp_path / "found" / "own") == [b"y"]
    assert "4 inputs of own (messages, 0 s, 1 refused), 2 foreign exceptions" in trial.told()
    assert "KeyError" in capsys.readouterr().err


def test_coverage_leads_where_atheris_is(tmp_path, monkeypatch, capsys):
    """With a stand-in for it: what it is told, and what of its inputs comes out."""
    told = {}

    def fuzz_with(seeds):
        for number in range(100):
            data = told["mutate"](seeds[number % len(seeds)], 3, number)
            assert len(data) <= 3
            told["one"](data)

    atheris = SimpleNamespace(
        Mutate=lambda data, most: (data + b"m")[:most],
        Setup=lambda arguments, one, custom_mutator: told.update(
            arguments=arguments, one=one, mutate=custom_mutator
        ),
        Fuzz=lambda: fuzz_with([b"x", b"ok"]),
    )
    monkeypatch.setitem(sys.modules, "atheris", atheris)
    monkeypatch.setattr(fuzz, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(fuzz, "REGRESSIONS", tmp_path / "found")
    monkeypatch.setattr("os._exit", sys.exit)

    def check(data):
        if b"m" in data:
            raise InputError("no m")

    target = Target([b"x", b"ok"], check)
    with pytest.raises(SystemExit) as ended:
        fuzz.by_coverage("own", target, -1, 7)
    assert ended.value.code == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["engine"], found["inputs"], found["refused"]) == ("atheris", 1, 1)
    with pytest.raises(AssertionError, match="ends the process"):
        fuzz.by_coverage("own", target, 1e9, 7)
    assert "-seed=8" in told["arguments"]
    assert told["arguments"][-1] == str(tmp_path / "kept" / "own")
    assert fuzz.kept(tmp_path / "kept" / "own") == [b"ok", b"x"]


def test_an_input_without_end_is_ended(monkeypatch):
    monkeypatch.setattr("trials.targets.LONGEST", 1)

    def check(_):
        while True:
            pass

    trial = fuzz.Trial("own", "messages")
    monkeypatch.setattr(fuzz, "keep", lambda *_: None)
    trial.run(Target([], check), b"")
    assert next(iter(trial.foreign)).startswith("TimeoutError")


ALONE = """
import signal, sys, time
from trials import fuzz, targets

def stuck(data):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
    time.sleep(600)

def told(data):
    if b"x" in data:
        raise KeyError("x")

def dies(data):
    if b"x" in data:
        import os
        os._exit(3)

def slow(data):
    time.sleep(0.01)

CHECKS = {"stuck": stuck, "told": told, "dies": dies, "slow": slow, "slower": slow}
for name, check in CHECKS.items():
    made = targets.Target([b"a", b"x"], check, lambda data, random: data)
    targets.TARGETS[name] = lambda folder, made=made: made
fuzz.REGRESSIONS, fuzz.KEPT = [fuzz.Path(own) for own in sys.argv[1:3]]
del sys.argv[1:3]
fuzz.main()
"""


@pytest.fixture
def fuzzed(tmp_path, monkeypatch, capsys):
    """`make fuzz` of targets of its own: what it prints, its exit status and its file."""
    script, file = tmp_path / "alone.py", tmp_path / "counts.json"
    script.write_text(ALONE)
    found = tmp_path / "found"
    alone = (sys.executable, str(script), str(found), str(tmp_path / "kept"))
    monkeypatch.setattr(fuzz, "COMMAND", alone)
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    monkeypatch.setattr(fuzz, "REGRESSIONS", found)

    def run(*options):
        given = ["fuzz", "--random", "--json", str(file), *options]
        monkeypatch.setattr(sys, "argv", given)
        with pytest.raises(SystemExit) as ended:
            fuzz.main()
        return capsys.readouterr().out, ended.value.code, counts.known(file)

    return run


def test_a_target_that_no_signal_reaches_is_ended_and_its_input_kept(fuzzed, monkeypatch, tmp_path):
    monkeypatch.setattr("trials.targets.LONGEST", 2)
    monkeypatch.setattr(fuzz, "READY", 8)
    begun = time.monotonic()
    out, code, found = fuzzed("--target", "stuck", "--seconds", "1")
    assert time.monotonic() - begun < 60
    assert "stuck: the process did not end within 13 seconds" in out
    assert (code, found["stuck"]["messages"]["foreign"]) == (1, 1)
    assert fuzz.kept(tmp_path / "found" / "stuck") == [b"a"]


def test_counts_of_targets_at_once_are_summed_by_target(fuzzed, tmp_path):
    for name in ("told", "dies"):
        out, code, found = fuzzed("--target", name, "--seconds", "0")
        assert code == 1
        assert fuzz.kept(tmp_path / "found" / name) == [b"x"]
    assert found["told"]["messages"] == {"inputs": 2, "refused": 0, "seconds": 0, "foreign": 1}
    assert "dies: the process died with 3" in out
    assert found["dies"]["messages"]["foreign"] == 1
    _, code, one = fuzzed("--target", "slow", "slower", "--seconds", "1", "--jobs", "2")
    assert (code, {*one}) == (0, {"told", "dies", "slow", "slower"})
    _, _, two = fuzzed("--target", "slow", "--seconds", "1")
    assert two["slow"]["messages"]["inputs"] > one["slow"]["messages"]["inputs"] > 2
    assert two["slow"]["messages"]["seconds"] > one["slow"]["messages"]["seconds"]
    assert two["told"] == one["told"]


def test_so_many_targets_run_at_once_as_asked(fuzzed, monkeypatch):
    both = threading.Barrier(2, timeout=30)

    def started(name, given, engine):
        both.wait()  # raises where they come one behind the other
        return {"target": name, "engine": engine, "inputs": 1, "foreign": {}}

    monkeypatch.setattr(fuzz, "started", started)
    assert fuzzed("--target", "a", "b", "--jobs", "2")[1] == 0


def test_runs_led_otherwise_stand_apart(tmp_path):
    file = tmp_path / "counts.json"
    end = {"target": "text", "engine": "messages", "inputs": 5, "seconds": 1.6, "refused": 2}
    counts.add(file, [end, {**end, "foreign": {"KeyError at a.py:1": 2, "x": 1}}])
    counts.add(file, [{**end, "engine": "atheris", "inputs": 7}])
    found = counts.known(file)
    assert found == {
        "text": {
            "messages": {"inputs": 10, "refused": 4, "seconds": 4, "foreign": 3},
            "atheris": {"inputs": 7, "refused": 2, "seconds": 2, "foreign": 0},
        }
    }
    assert {*json.loads(file.read_text())["not_yet_run"]} == {*TARGETS} - {"text"}
    assert "| texts | as of readers | 1 | 17 | 0.00 | 3 |" in counts.table(found)
    assert "messages 10, by coverage (`atheris`) 7. Not yet run: `read-brat`" in counts.table(found)


def test_the_page_has_the_counts_of_its_file():
    found = counts.known()
    page = counts.FILE.with_suffix(".md").read_text("utf-8")
    assert counts.table(found) in page, "python -m trials.counts prints what should stand there"
    assert counts.FILE.read_text("utf-8") == counts.told(found)
    not_yet_run = json.loads(counts.FILE.read_text("utf-8"))["not_yet_run"]
    assert sorted([*found, *not_yet_run]) == sorted(TARGETS)
    assert all(name.startswith(tuple(counts.GROUPS)) for name in found)


def test_mutations_change_what_they_are_given():
    random = Random(1)
    data = json.dumps({"text": "my leg", "entities": [{"label": "X", "fragments": [[0, 2]]}]})
    changed = {mutated(data.encode(), random) for _ in range(300)}
    assert len(changed) > 200
    valid = [own for own in changed if changed_json(own, random) is not None]
    assert len(valid) > 60
    assert any(mutated(b"", random) for _ in range(50))
