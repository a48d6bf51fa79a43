"""What the pages show is what happens: their blocks are run, in order, in a folder of their own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from java import skip_without_java, use_this_python
from page_snippets import Reader, commands, snippets

ROOT = Path(__file__).resolve().parents[2]
TUTORIAL, README = ROOT / "docs/tutorial.md", ROOT / "README.md"
GUIDES = sorted((ROOT / "docs/guides").glob("*.md"))
PAGES = [TUTORIAL, README, ROOT / "docs/index.md", *GUIDES]
FOLLOWED = [page for page in GUIDES if any(s.reason is None for s in snippets(page))]

FEW = 15
"""Blocks that may not be run, on all pages together."""


def printed(reader: Reader, start: str) -> str:
    """What the first command that starts so printed."""
    return next(out for command, out in reader.printed.items() if command.startswith(start))


def test_the_tutorial_leads_to_a_model_that_finds_something(tutorial):
    told = printed(tutorial, "trigner evaluate")
    overall = next(line for line in told.splitlines() if line.startswith("overall")).split()
    assert float(overall[3]) > 10, told


def test_the_tutorial_leaves_what_it_says(tutorial):
    for name in ("gaps.png", "curve.png", "errors.html", "found.html", "found.jsonl"):
        assert (tutorial.folder / name).stat().st_size > 0
    texts = sorted(path.stem for path in (tutorial.folder / "data/mini-adr/test").glob("*.txt"))
    found = sorted(path.stem for path in (tutorial.folder / "found").glob("*.ann"))
    assert found == texts
    lines = (tutorial.folder / "found.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == len(texts)
    assert any(json.loads(line)["entities"] for line in lines)


def test_files_and_model_score_alike(tutorial):
    def counts(told):
        return [line.split()[-3:] for line in told.splitlines() if line.startswith("overall")]

    at_threshold = [out for c, out in tutorial.printed.items() if "evaluate" in c and "0.5" in c]
    assert counts(printed(tutorial, "trigner score")) == counts(at_threshold[0]) != []


def test_the_service_of_the_tutorial_answers(tutorial):
    asked = {c: out for c, out in tutorial.printed.items() if c.startswith("curl")}
    answers = [json.loads(out) for command, out in asked.items() if "/v1/" in command]
    assert any("entities" in answer for answer in answers)
    assert any(len(answer.get("documents", ())) == 2 for answer in answers)
    assert any("trigner_requests_total" in out for out in asked.values())


def test_every_python_block_of_the_tutorial_prints(tutorial):
    blocks = [s.code for s in snippets(TUTORIAL) if s.language == "python"]
    assert len(blocks) >= 2
    assert all(tutorial.printed[code] for code in blocks)


def test_the_readme_can_be_followed(make_folder):
    folder = make_folder(epochs=1)
    with Reader(folder) as reader:
        reader.follow(README)
    assert reader.printed


@pytest.mark.parametrize("page", FOLLOWED, ids=lambda page: page.stem)
def test_a_guide_can_be_followed_after_the_tutorial(page, tutorial, tmp_path, monkeypatch):
    if page.stem == "spark":
        skip_without_java()
        use_this_python(monkeypatch)
    folder = tmp_path / "reader"
    shutil.copytree(tutorial.folder, folder)
    with Reader(folder) as reader:
        reader.follow(page)
    assert len(reader.printed) > 0


def test_few_blocks_are_not_run_and_each_says_why():
    kept_back = [snippet for page in PAGES for snippet in snippets(page) if snippet.reason]
    assert len(kept_back) <= FEW, [f"{s.page.name}:{s.line} {s.reason}" for s in kept_back]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_fence_says_what_it_holds(page):
    fences = [line for line in page.read_text("utf-8").splitlines() if line.startswith("```")]
    assert set(fences[::2]) <= {"```console", "```python", "```text", "```yaml", "```json"}
    assert set(fences[1::2]) <= {"```"}


def test_the_reader_sees_what_it_must(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n<!-- not run: it is slow -->\n```console\nmake all\n```\n\n"
        "```python\nseen = 2\nprint(seen)\n```\n\n```text\nno code\n```\n\n"
        "```console\nmkdir a \\\n  b   # two\n# nothing\nls\n```\n"
    )
    found = snippets(page)
    assert [(s.language, s.line, s.reason) for s in found] == [
        ("console", 5, "it is slow"),
        ("python", 9, None),
        ("console", 18, None),
    ]
    assert len(commands(found[2].code)) == 2
    with Reader(tmp_path) as reader:
        reader.follow(page)
    assert list(reader.printed.values()) == ["2\n", "", "a\nb\npage.md\n"]


@pytest.mark.parametrize("wrong", ["trigner info nothing", "rm -r data", "ls nothing"])
def test_the_reader_does_not_pass_over_what_fails(wrong, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"```console\n{wrong}\n```\n")
    with Reader(tmp_path) as reader, pytest.raises(AssertionError):
        reader.follow(page)
