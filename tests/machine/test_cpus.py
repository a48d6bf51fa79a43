from __future__ import annotations

import os

import pytest

from trigner.machine import cpus


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine of 8 CPUs with an affinity, a quota and a variable."""

    def of(*, affinity=8, quota="max 100000", variable=None):
        monkeypatch.setattr(os, "cpu_count", lambda: 8)
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(affinity)), raising=False)
        file = tmp_path / "cpu.max"
        file.write_text(quota)
        monkeypatch.setattr(cpus, "_QUOTA", file)
        monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
        if variable is not None:
            monkeypatch.setenv("OMP_NUM_THREADS", variable)
        return cpus.available_cpus(), cpus.threads_for_models()

    return of


def test_all_of_them(machine):
    assert machine() == (8, None)  # what runs the model decides, and may bind its threads


@pytest.mark.parametrize(
    ("quota", "available"),
    [("150000 100000", 2), ("10000 100000", 1), ("900000 100000", 8), ("", 8), ("junk", 8)],
)
def test_a_containers_quota(machine, quota, available):
    assert machine(quota=quota)[0] == available


def test_an_affinity(machine):
    assert machine(affinity=3) == (3, 3)
    assert machine(affinity=3, quota="100000 100000") == (1, 1)


@pytest.mark.parametrize(
    ("variable", "threads"),
    [("5", 5), ("4,2", 4), ("0", 3), ("9" * 11, 3), ("9" * 5000, 3), ("many", 3), ("", 3)],
)
def test_the_variable_of_openmp(machine, variable, threads):
    assert machine(affinity=3, variable=variable)[1] == threads


def test_machines_without_affinities(machine, monkeypatch):
    machine()
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cpus.available_cpus() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cpus.available_cpus() == 1


@pytest.fixture
def unset(monkeypatch):
    """No variable says how threads wait."""
    for name in cpus.WAITING:
        monkeypatch.setenv(name, "")  # so that what is set below goes afterwards
        monkeypatch.delenv(name)


def test_threads_sleep_while_they_wait_for_few_cpus(machine, unset):
    machine(affinity=cpus.FEW_CPUS + 1)
    cpus.sleep_while_waiting()
    assert "OMP_WAIT_POLICY" not in os.environ
    machine(affinity=cpus.FEW_CPUS)
    cpus.sleep_while_waiting()
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"


@pytest.mark.parametrize("name", cpus.WAITING)
def test_how_threads_wait_is_left_to_who_said_it(machine, unset, monkeypatch, name):
    machine(affinity=1)
    monkeypatch.setenv(name, "active")
    cpus.sleep_while_waiting()
    assert {n: os.environ[n] for n in cpus.WAITING if n in os.environ} == {name: "active"}
