"""The hook that fills pages (`scripts/pages.py`)."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

from tiny_models import TAG_SCHEMES
from trigner.corpora.formats import WRITABLE
from trigner.lab.prompting.failures import FAILURE_KINDS
from trigner.training.settings import flat, resolve

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages():
    pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra `docs`)")
    spec = importlib.util.spec_from_file_location("pages", ROOT / "scripts/pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_place_that_nothing_fills_stops_the_build(pages):
    from mkdocs.exceptions import PluginError

    with pytest.raises(PluginError, match="nothing generates 'weather'"):
        pages.filled("# Page\n\n<!-- generated: weather -->\n")


def test_places_are_filled_with_what_the_code_says(pages):
    filled = pages.filled(
        "<!-- generated: settings -->\n\n<!-- generated: names trigner.text -->\n"
    )
    assert "| `triplets.window` | `25` | integer ≥ 0, none |" in filled
    assert "### optimisation" in filled
    assert "::: trigner.text.segment\n" in filled
    assert "generated:" not in filled


def test_a_function_is_told_from_the_module_of_its_name(pages):
    assert "::: trigner.networks.pair_products.pair_products" in pages.names("trigner.networks")
    assert "::: trigner.triplets.TripletLoss" in pages.names("trigner.triplets")


def test_systems_are_those_of_the_package(pages):
    rows = [row.split(" | ") for row in pages.systems().splitlines()[2:]]
    assert [row[0].removeprefix("| ") for row in rows] == [f"`{name}`" for name in TAG_SCHEMES]
    assert all("ceiling" in row[2] for row in rows)


def test_examples_of_commands_are_blocks(pages):
    told = pages.commands()
    assert "```console\ntrigner train --train annotated/ --out model" in told
    assert "Example:  trigner" not in told


def test_presets_show_what_differs(pages):
    rows = {row.split("|")[1].strip(): row for row in pages.presets().splitlines()}
    assert "`pair_states`" in rows["`triplets.source`"]
    assert "`cosine`" not in pages.presets()


def test_links_that_the_site_does_not_have_become_text(pages):
    folder = ROOT / "docs/guides"
    kept = "[here](hub.md) [part](hub.md#cost) [gone](no.md) [web](https://example.org)"
    assert pages.without_outside_links(kept, folder) == kept
    outside = "[code](../../scripts/pages.py), [folder](../images/)"
    assert pages.without_outside_links(outside, folder) == "code, folder"
    image = "![page](../images/service.png)"
    assert pages.without_outside_links(image, folder) == image


def test_whatever_the_preset_paper_changes_has_its_row():
    clean, paper = (flat(resolve(preset=name).model_dump()) for name in ("clean", "paper"))
    page = (ROOT / "research/decisions/paper-preset.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, re.M)
    told = {own.rpartition(".")[2] for row in rows for own in re.findall(r"`([\w.]+)`", row)}
    changed = {name.rpartition(".")[2] for name in clean if clean[name] != paper[name]}
    assert changed - {"preset"} <= told


def test_the_first_page_names_every_extra_and_how_many_formats_there_are():
    page = (ROOT / "docs/index.md").read_text("utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = re.findall(r"^\| `(\w+)` \|", page, re.M)
    assert sorted(named) == sorted(extras["optional-dependencies"].keys() - {"dev", "docs"})
    assert len(WRITABLE) == 1 + 14
    assert "brat and fourteen other formats" in page


def test_the_guide_to_prompting_says_what_each_failure_means():
    page = (ROOT / "docs/guides/prompting.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.count("|") == 4 and "`" not in line]
    expected = [f"| {name} | {own.unit} | {own.meaning} |" for name, own in FAILURE_KINDS.items()]
    assert rows[2:] == expected
