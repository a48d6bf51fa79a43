from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

from llm_stub import answered, serving
from trigner.lab.commands.prompt_report import check_outputs, model_names


def test_a_trained_model_stands_compared_the_answers(run, gold, model, tmp_path):
    # One of the models is called like a variant, two are called alike.
    models = [tmp_path / name for name in ("a/zero-shot", "b/same", "c/same", "last")]
    for folder in models:
        copytree(model, folder)
    given = ["--data", gold, "--types", "ADR", "--llm", "stub", "--out", tmp_path / "out"]
    page = tmp_path / "systems.html"
    compared = [argument for folder in models for argument in ("--compare", folder)]
    with serving(lambda _: answered("[]")) as stub:
        result = run(
            *("prompt", *given, "--base-url", stub.base_url, "--size", 3),
            *("--html", page, *compared, "--format", "grid"),
        )
    assert result.code == 0, result.err
    assert "page with gold and 5 systems" in result.err
    data = page.read_text().split('id="data">')[1].split("</script>")[0]
    shown = json.loads(data)
    assert shown["systems"] == ["zero-shot", "a/zero-shot", "b/same", "c/same", "last"]
    for name in shown["systems"][1:]:
        assert any(passage["columns"][name] for passage in shown["snippets"])
    assert not any(passage["columns"]["zero-shot"] for passage in shown["snippets"])
    predicted = json.loads((tmp_path / "out" / "zero-shot" / "predictions.json").read_text())
    assert len(predicted) == 3


def test_models_have_names_of_their_own(tmp_path, monkeypatch, refused):
    for name in ("a/b/m", "c/b/m", "d/m", "one-shot"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "d")
    given = [Path("../a/b/m"), tmp_path / "c" / "b" / "m", Path("m"), Path("user/m@v1"), Path(".")]
    assert list(model_names(given, ["zero-shot"])) == ["a/b/m", "c/b/m", "d/m", "user/m@v1", "d"]
    assert list(model_names(given, ["zero-shot"]).values()) == given
    assert list(model_names([Path("../one-shot")], ["one-shot"])) == [f"{tmp_path.name}/one-shot"]
    for twice in ([Path("m"), tmp_path / "d" / "m"], [Path("user/m")] * 2):
        with refused():
            model_names(twice, [])


def test_a_model_of_the_hub_keeps_its_name(monkeypatch, tmp_path):
    monkeypatch.setattr("trigner.models.fetch", lambda model: tmp_path)
    page = tmp_path / "page.html"
    found = check_outputs(page, [Path("user/m")], "jsonl", variants=["zero-shot"])
    assert found == {"user/m": tmp_path}


def test_what_cannot_be_written_is_told_before_anything_is_asked(run, gold, tmp_path):
    given = ["--data", gold, "--llm", "stub", "--out", tmp_path / "out"]
    with serving(lambda _: answered("[]")) as stub:
        url = ("--base-url", stub.base_url)
        assert run("prompt", *given, *url, "--html", tmp_path).code == 2
        missing = run("prompt", *given, *url, "--html", tmp_path / "p", "--compare", "missing")
        assert "no model folder at" in missing.err
        assert run("prompt", *given, *url, "--format", "cadec").code == 2
        assert not stub.requests
        (gold / "x.jsonl").write_text('{"id": "../up", "text": "numb arm", "entities": []}\n')
        ids = run(
            "prompt",
            "--data",
            gold / "x.jsonl",
            *given[2:],
            "--types",
            "ADR",
            *url,
            "--format",
            "brat",
        )
        assert (ids.code, "'../up'" in ids.err) == (2, True), ids.err
        assert not stub.requests
    assert not (tmp_path / "out").exists()


def test_a_page_that_appears_meanwhile_stays(run, gold, tmp_path):
    page = tmp_path / "systems.html"

    def late(_):
        page.write_text("theirs")
        return answered("[]")

    given = ["--data", gold, "--types", "ADR", "--llm", "stub", "--out", tmp_path / "out"]
    with serving(late) as stub:
        result = run("prompt", *given, "--base-url", stub.base_url, "--size", 1, "--html", page)
    assert (result.code, "has appeared meanwhile" in result.err) == (1, True), result.err
    assert page.read_text() == "theirs"
    again = run("prompt", *given, "--size", 1, "--html", page, "--resume")
    assert (again.code, "page with gold and 1 system: " in again.err) == (0, True), again.err
    assert page.read_text() != "theirs"
