from __future__ import annotations

import json

from llm_stub import answered, serving


def test_a_trained_model_stands_beside_the_answers(run, gold, model, tmp_path):
    given = ["--data", gold, "--types", "ADR", "--llm", "stub", "--out", tmp_path / "out"]
    page = tmp_path / "systems.html"
    with serving(lambda _: answered("[]")) as stub:
        result = run(
            *("prompt", *given, "--base-url", stub.base_url, "--size", 3),
            *("--html", page, "--beside", model, "--format", "grid"),
        )
    assert result.code == 0, result.err
    assert "gold and 2 systems side by side" in result.err
    data = page.read_text().split('id="data">')[1].split("</script>")[0]
    shown = json.loads(data)
    assert shown["systems"] == ["zero-shot", model.name]
    assert any(passage["columns"][model.name] for passage in shown["passages"])
    predicted = json.loads((tmp_path / "out" / "zero-shot" / "predictions.json").read_text())
    assert len(predicted) == 3


def test_what_cannot_be_written_is_told_before_anything_is_asked(run, gold, tmp_path):
    given = ["--data", gold, "--llm", "stub", "--out", tmp_path / "out"]
    with serving(lambda _: answered("[]")) as stub:
        url = ("--base-url", stub.base_url)
        assert run("prompt", *given, *url, "--html", tmp_path).code == 2
        missing = run("prompt", *given, *url, "--html", tmp_path / "p", "--beside", "missing")
        assert "no such model" in missing.err
        assert run("prompt", *given, *url, "--format", "cadec").code == 2
        assert not stub.requests
    assert not (tmp_path / "out").exists()
