"""The short form of `make fuzz`: the same inputs each time, and those that once were too much."""

from __future__ import annotations

import json
from contextlib import closing
from random import Random

import pytest

from trials import fuzz
from trials.mutations import changed_json, mutated
from trials.targets import FILES, MODELS, READ, SYSTEMS, TAGGERS, TARGETS, WRITE, Target
from trigner.corpora import FORMATS
from trigner.errors import InputError
from trigner.systems import systems

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
    assert name.startswith(("decode", "write", "service", "text", "file-answer")) or trial.refused


@pytest.mark.parametrize("name", sorted(p.name for p in fuzz.REGRESSIONS.glob("*")))
def test_what_was_too_much_is_no_more(name, tmp_path):
    trial = fuzz.Trial(name, "kept")
    with closing(TARGETS[name](tmp_path)) as target:
        for data in fuzz.kept(fuzz.REGRESSIONS / name):
            trial.run(target, data)
    assert trial.inputs
    assert not trial.foreign


def test_every_format_and_every_system_is_a_target():
    assert {*READ} == {*FORMATS, "any"}
    assert {*WRITE} == {name for name, known in FORMATS.items() if known.write is not None}
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
    assert "4 inputs of own (random, 0 s, 1 refused), 2 foreign exceptions" in trial.told()
    assert "KeyError" in capsys.readouterr().err


def test_an_input_without_end_is_ended(monkeypatch):
    monkeypatch.setattr("trials.targets.LONGEST", 1)

    def check(_):
        while True:
            pass

    trial = fuzz.Trial("own", "random")
    monkeypatch.setattr(fuzz, "keep", lambda *_: None)
    trial.run(Target([], check), b"")
    assert next(iter(trial.foreign)).startswith("TimeoutError")


def test_mutations_change_what_they_are_given():
    random = Random(1)
    data = json.dumps({"text": "my leg", "entities": [{"label": "X", "fragments": [[0, 2]]}]})
    changed = {mutated(data.encode(), random) for _ in range(300)}
    assert len(changed) > 200
    valid = [own for own in changed if changed_json(own, random) is not None]
    assert len(valid) > 60
    assert any(mutated(b"", random) for _ in range(50))
