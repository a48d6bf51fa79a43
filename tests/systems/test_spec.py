from __future__ import annotations

from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from trigner.errors import InputError
from trigner.families.tagging import system
from trigner.systems.spec import CAPABILITIES, SystemSpec


def row(**changes):
    own = {"build": lambda *_: None, "load": lambda *_: None, "settings": BaseModel}
    return SystemSpec(**{"name": "own", "about": "for tests", **own, **changes})


HAVING = {
    "ceiling": {"round_trip": SimpleNamespace},
    "calibration": {"calibration": True},
    "export": {"export": "module:export"},
    "grid": {"grid": True},
    "triplets": {"triplets": True},
    "init_from": {"init_from": True},
    "teachers": {"teachers": True},
}


def test_a_row_has_no_capability_of_its_own_accord():
    assert row().capabilities == ()
    assert set(HAVING) == set(CAPABILITIES)


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_a_declared_capability_is_had_and_a_missing_one_is_one_sentence(capability):
    spec = row(**HAVING[capability])
    assert spec.capabilities == (capability,)
    spec.require(capability)
    with pytest.raises(InputError) as raised:
        row().require(capability)
    assert str(raised.value) == f"the system own cannot {CAPABILITIES[capability]}"


def test_a_reason_says_why_a_capability_is_missing():
    with pytest.raises(InputError) as raised:
        row(reasons={"export": "it is a dictionary"}).require("export")
    assert str(raised.value) == "the system own cannot export to ONNX: it is a dictionary"


def test_capabilities_come_in_one_order():
    every = {name: value for change in HAVING.values() for name, value in change.items()}
    assert row(**every).capabilities == tuple(CAPABILITIES)


def test_functions_are_given_or_found_where_they_are():
    def load(folder, description, *, device, threads):
        """Loads nothing."""

    spec = row(build="trigner.families.tagging.system:build", load=load)
    assert spec.implementation("build") is system.build
    assert spec.implementation("load") is load


@pytest.mark.parametrize(
    ("part", "function", "fault"),
    [
        (
            "build",
            lambda settings, labels: None,
            "cannot be called as (settings, labels, init_from): too many positional arguments",
        ),
        (
            "load",
            lambda folder, description, device: None,
            "cannot be called as (folder, description, device=..., threads=...): got an unexpected"
            " keyword argument 'threads'",
        ),
        (
            "export",
            lambda folder, out, int8, overwrite, opset: None,
            "cannot be called as (folder, out, int8=..., overwrite=...): missing a required"
            " argument: 'opset'",
        ),
        ("build", 3, "is a int, not a function"),
    ],
)
def test_a_function_that_takes_other_arguments_is_named(part, function, fault):
    with pytest.raises(InputError) as raised:
        row(package="own-system", **{part: function}).implementation(part)
    where = f"the {part} function of the system own (package own-system)"
    assert str(raised.value) == f"{where} {fault}"


@pytest.mark.parametrize(
    "where",
    [
        "no_such_module:build",
        "trigner.families.tagging.system:nothing",
        "trigner: of, not",
    ],
)
def test_a_function_that_cannot_be_imported_names_the_package(where, refused):
    with refused() as raised:
        row(build=where, package="own-system").implementation("build")
    assert str(raised.value).startswith(
        f"the system own of the package own-system names {where!r} as its build function,"
    )


def test_a_missing_module_of_this_package_is_a_bug():
    with pytest.raises(ModuleNotFoundError):
        row(build="no_such_module:build").implementation("build")
