"""The site is built as `make docs` builds it, whole, and from nothing but what is here."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tiny_models import TAG_SCHEMES
from trigner.cli.app import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src/trigner"
DOCS = ROOT / "docs"
DECISIONS = ROOT / "research/decisions"

ROOMS = sorted(
    ".".join(path.parent.relative_to(PACKAGE.parent).parts) for path in PACKAGE.rglob("__init__.py")
)
COMMAND_NAMES = set(COMMANDS)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The built site's folder."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra `docs`)")
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    built = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="session")
def documented(site):
    """Full names of what has a heading of its own in the reference: kind by name."""
    pages = [page.read_text("utf-8") for page in (site / "reference").rglob("*.html")]
    heading = re.compile(r'<h[3-6] id="(trigner\.[\w.]+)"[^>]*>(?:\s*<code class="([\w -]+)")?')
    return {name: kind for page in pages for name, kind in heading.findall(page)}


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_documented(room, documented):
    module = importlib.import_module(room)
    for name in getattr(module, "__all__", ()):  # none where a folder only holds rooms
        value = getattr(module, name)
        defined = f"{getattr(value, '__module__', room)}.{getattr(value, '__qualname__', name)}"
        # Of a module of the same name, or where another room's name is passed on.
        kinds = [documented[full] for full in (f"{room}.{name}", defined) if full in documented]
        assert any(not kind.endswith("-module") for kind in kinds), name


def test_every_command_is_documented(site):
    page = (site / "reference/commands/index.html").read_text("utf-8")
    anchors = set(re.findall(r'<h2 id="trigner-([\w-]+)"', page))
    assert anchors == COMMAND_NAMES


def test_every_setting_says_what_it_is(site):
    page = (site / "guides/settings/index.html").read_text("utf-8")
    settings = page[page.index('id="all-settings"') : page.index('id="presets"')]
    rows = re.findall(r"<tr>\n<td><code>(\S+)</code></td>\n(.*?)</tr>", settings, re.DOTALL)
    told = dict(rows)
    assert {"triplets.window", "optimisation.epochs", "model.pair_map", "seed"} <= set(told)
    assert not [name for name, rest in told.items() if "<td></td>" in rest]


def test_every_format_is_in_both_tables(site):
    from trigner.corpora.formats import FORMATS

    page = (DOCS / "guides/formats.md").read_text("utf-8")
    assert all(f"| `{name}` |" in page for name, known in FORMATS.items() if known.write)
    built = (site / "guides/formats/index.html").read_text("utf-8")
    assert all(f"<td><code>{name}</code></td>" in built for name in FORMATS)


def test_every_decision_is_in_their_list():
    listed = (DECISIONS / "README.md").read_text("utf-8")
    pages = {path.name for path in DECISIONS.glob("*.md")} - {"README.md"}
    assert set(re.findall(r"^- \[.+\]\(([\w.-]+)\)$", listed, re.MULTILINE)) == pages


def test_every_scheme_has_a_section():
    text = (DOCS / "guides/systems.md").read_text("utf-8")
    titles = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert set(TAG_SCHEMES) <= {name for title in titles for name in title.split(", ")}


def test_nothing_is_loaded_from_elsewhere(site):
    loaded = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?(?:https?:)?//[^\s>]*")
    linked = re.compile(r"<link\b[^>]*>")
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        text = page.read_text("utf-8")
        assert not loaded.findall(text), page
        for link in linked.findall(text):
            assert "//" not in link.replace("https://example", ""), (page, link)
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\([\"']?(?:https?:)?//|@import", style.read_text("utf-8")), style
