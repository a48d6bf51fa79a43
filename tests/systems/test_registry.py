from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from installed_systems import look_again
from tiny_models import TAG_SCHEMES
from trigner.errors import InputError
from trigner.families.tagging.taggers import tagger_spec
from trigner.systems.protocols import CAPABILITY_PROTOCOLS, GridView, Predictor, System
from trigner.systems.registry import (
    BUILT_IN,
    GROUP,
    checked_predictor,
    checked_system,
    own_systems,
    system_spec,
    systems,
    unusable_systems,
)
from trigner.systems.spec import CAPABILITIES, SystemSpec

MODULE = """
from pydantic import BaseModel, Field

from trigner.systems import SystemSpec


class OwnSettings(BaseModel):
    window: int = 3


SPEC = SystemSpec(name="spec", about="a dictionary", build=print, load=print, settings=OwnSettings)
NUMBER = 3


class Demanding(BaseModel):
    window: int


class Failing(BaseModel):
    window: int = Field(default_factory=lambda: {}["a variable"])


FAILING = SystemSpec(name="failing", build=print, load=print, settings=Failing)
DEMANDING = SystemSpec(name="demanding", build=print, load=print, settings=Demanding)
UNTYPED = SystemSpec(name="untyped", build=print, load=print, settings=dict)
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Makes a package with entry points there for this test, as pip would."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_system_module.py").write_text(MODULE)
    (tmp_path / "own_system_broken.py").write_text("import a_package_that_nobody_has")

    def installed(package, *entries):
        folder = tmp_path / f"{package.replace('-', '_')}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        lines = (f"{name} = {value}\n" for name, value in entries)
        (folder / "entry_points.txt").write_text(f"[{GROUP}]\n{''.join(lines)}")
        look_again()

    yield installed
    monkeypatch.undo()
    look_again()


def test_the_packages_own_systems_are_its_tag_schemes():
    assert set(TAG_SCHEMES) <= set(systems())
    for name in TAG_SCHEMES:
        spec = system_spec(name)
        assert (spec.name, spec.package) == (name, "trigner")
        assert tagger_spec(name) is spec


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_row_names_the_spec_of_its_system(name):
    spec, row = system_spec(name), BUILT_IN[name]
    assert (spec.name, spec.about, spec.package) == (name, row.about, "trigner")
    assert spec is own_systems()[name]


def test_all_systems_are_listed_without_torch():
    code = (
        "import sys; from trigner.systems import own_systems; own_systems();"
        " assert not {'torch', 'transformers', 'onnxruntime'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_system_lists_the_known(refused):
    with refused():
        system_spec("iob")


def test_an_installed_package_adds_a_system(install, refused):
    install("own-system", ("dictionary", "own_system_module:SPEC"))
    spec = system_spec("dictionary")
    assert isinstance(spec, SystemSpec)
    # It is called what its entry point is called.
    assert (spec.name, spec.package, spec.about) == ("dictionary", "own-system", "a dictionary")
    assert spec.settings().window == 3
    assert {"dictionary", *TAG_SCHEMES} <= set(systems())
    with refused():
        tagger_spec("dictionary")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (
            "own_system_broken:SPEC",
            "the system 'bad' of the package own-system cannot be imported:"
            " ModuleNotFoundError: No module named 'a_package_that_nobody_has'",
        ),
        (
            "own_system_module:NOTHING",
            "the system 'bad' of the package own-system cannot be imported:"
            " AttributeError: module 'own_system_module' has no attribute 'NOTHING'",
        ),
        (
            "own_system_module:NUMBER",
            "the package own-system declares 'own_system_module:NUMBER' as the system 'bad',"
            " which is a int, not a SystemSpec",
        ),
    ],
)
def test_an_entry_point_that_is_no_system_is_named_and_the_others_work(install, value, message):
    install("own-system", ("bad", value), ("good", "own_system_module:SPEC"))
    with pytest.raises(InputError) as raised:
        system_spec("bad")
    assert str(raised.value) == message
    assert {"good", *TAG_SCHEMES} <= set(systems())
    assert "bad" not in systems()
    assert system_spec("good").package == "own-system"


def test_two_systems_of_one_name_are_none(install):
    install("one-system", ("dictionary", "own_system_module:SPEC"))
    install("other-system", ("dictionary", "own_system_module:SPEC"))
    with pytest.raises(InputError) as raised:
        system_spec("dictionary")
    message = str(raised.value)
    assert message.startswith("two packages add a system called 'dictionary': ")
    assert "one-system" in message
    assert "other-system" in message
    assert message.endswith("; uninstall one of them")
    assert "dictionary" not in systems()
    assert system_spec("w2ner").package == "trigner"


def test_nobody_takes_the_name_of_a_tag_scheme(install, refused):
    install("own-system", ("w2ner", "own_system_module:SPEC"))
    with refused():
        system_spec("w2ner")
    assert "bio" in systems()


def test_the_first_bad_one_of_two_is_still_a_second_of_that_name(install, refused):
    install("own-system", ("dictionary", "own_system_broken:SPEC"))
    install("other-system", ("dictionary", "own_system_broken:SPEC"))
    with refused():
        system_spec("dictionary")


@pytest.mark.parametrize(
    ("protocol", "check", "what"),
    [(System, checked_system, "system"), (Predictor, checked_predictor, "predictor")],
)
def test_what_a_plug_in_lacks_is_named(protocol, check, what):
    spec = SystemSpec(name="own", build=print, load=print, settings=object, package="own-system")
    wanted = [name for name in vars(protocol) if not name.startswith("_")]
    assert {"labels", "prepare"} <= set(wanted)
    whole = SimpleNamespace(**dict.fromkeys(wanted, print))
    assert check(spec, whole) is whole
    for name in wanted:
        lacking = SimpleNamespace(**{other: print for other in wanted if other != name})
        with pytest.raises(InputError) as raised:
            check(spec, lacking)
        assert str(raised.value) == (
            f"the {what} SimpleNamespace of the system own (package own-system) lacks {name}"
        )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("DEMANDING", "has settings without a default"),
        ("UNTYPED", "has settings that are not a pydantic model"),
        ("FAILING", "has settings that cannot be made by default: KeyError: 'a variable'"),
    ],
)
def test_a_row_whose_settings_cannot_be_made_is_refused_with_its_package(
    install, name, message, refused
):
    install("own-system", ("bad", f"own_system_module:{name}"))
    with refused():
        system_spec("bad")
    assert "w2ner" in systems()
    assert list(unusable_systems()) == ["bad"]
    assert message in unusable_systems()["bad"]


@pytest.mark.parametrize(
    ("declared", "methods"),
    [
        ({"calibration": True}, ("at_temperatures", "with_temperature")),
        ({"grid": True}, ("tags", "grids")),
    ],
)
def test_a_predictor_must_have_what_its_row_declares(declared, methods, refused):
    spec = SystemSpec(name="own", build=print, load=print, settings=BaseModel, **declared)
    plain = {"labels": (), "prepare": print, "predict": print}
    with refused():
        checked_predictor(spec, SimpleNamespace(**plain))
    whole = SimpleNamespace(**plain, **dict.fromkeys(methods, print))
    assert checked_predictor(spec, whole) is whole


def test_a_capability_of_a_predictor_has_a_protocol():
    assert set(CAPABILITY_PROTOCOLS) < set(CAPABILITIES)
    shows = {"tags": (), "grids": print}
    plain = {"labels": (), "prepare": print, "predict": print}
    assert isinstance(SimpleNamespace(**plain, **shows), GridView)
    assert not isinstance(SimpleNamespace(**plain), GridView)
