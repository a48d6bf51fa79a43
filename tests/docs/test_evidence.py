"""Pages of research/: their tables are those that `make pages` writes, and their links lead on."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "research").rglob("*.md"))
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def evidence():
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        spec = importlib.util.spec_from_file_location("evidence", ROOT / "scripts/evidence.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    return module


def test_the_tables_are_those_of_the_kept_runs(evidence):
    assert [path for path, text, wanted in evidence.pages() if text != wanted] == []


def test_a_block_that_nothing_fills_is_an_error(evidence):
    block = evidence.BLOCK.search("<!-- generated: weather -->\n\n<!-- end -->")
    with pytest.raises(ValueError, match="weather"):
        evidence._filled(block, {})


def test_what_has_not_been_run_says_so(evidence):
    declared = {"usual": {}, "groups": {"new": GROUP | {"with": {"seed": -1}}}}
    declared["tables"] = {
        "one": {"head": ["what"], "show": ["seeds"], "rows": [["a", "new", None]]}
    }
    assert evidence.NOT_RUN in evidence.Evidence(declared).runs("one")


GROUP = {"corpus": "mini-adr", "protocol": "full"}


def test_two_runs_of_one_seed_are_no_group(evidence):
    runs = evidence.KeptRuns({"usual": {}, "groups": {"all": GROUP}})
    with pytest.raises(ValueError, match="two runs of seed"):
        runs["all"]


def anchors(page: Path) -> set[str]:
    """As the code's host makes them of headings."""
    titles = HEADING.findall(page.read_text("utf-8"))
    return {re.sub(r"[^\w\s-]", "", title).strip().lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text("utf-8")):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve()
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
