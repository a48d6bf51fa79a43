from __future__ import annotations

import pytest


def test_a_model_must_be_there(run, tmp_path):
    assert run("serve", "--model", tmp_path / "none").code == 2


@pytest.mark.parametrize(
    "wrong", [("--port", "70000"), ("--timeout", "0"), ("--max-texts", "0"), ("--max-body", "x")]
)
def test_limits_make_sense(run, model, wrong):
    assert run("serve", "--model", model, *wrong).code == 2


def test_options_reach_the_service(run, model, monkeypatch):
    seen = {}
    monkeypatch.setattr("trigner.serving.create_app", lambda *a, **k: seen.update(app=a, rest=k))
    monkeypatch.setattr("trigner.serving.serve", lambda app, **options: seen.update(options))
    options = ("--port", "0", "--max-texts", "5", "--timeout", "3", "--threshold", "0.4,Drug=0.5")
    result = run("serve", "--model", model, *options, "--device", "cpu")
    assert result.code == 0, result.err
    extractor, settings = seen["app"]
    assert (extractor.threshold, settings.max_texts, settings.timeout) == (0.4, 5, 3)
    assert extractor.thresholds == {"Drug": 0.5}
    assert seen["host"] == "127.0.0.1"
    assert seen["rest"]["description"].labels == ("ADR", "Drug")


def test_protection_reaches_the_service(run, model, monkeypatch):
    seen = {}
    monkeypatch.setattr("trigner.serving.create_app", lambda *a, **k: seen.update(app=a))
    monkeypatch.setattr("trigner.serving.serve", lambda app, **options: seen.update(options))
    monkeypatch.setenv("TRIGNER_API_KEY", "s3cret")
    options = ("--allowed-host", "a.test", "--allowed-host", "b.test", "--rate-limit", "2.5")
    more = ("--max-connections", "9", "--body-timeout", "4", "--trusted-proxy", "10.0.0.1")
    sizes = ("--max-words", "7", "--max-cells", "8", "--max-request-words", "9")
    more += ("--host", "127.0.0.2")
    result = run("serve", "--model", model, *options, *more, *sizes)
    assert result.code == 0, result.err
    _, settings = seen["app"]
    assert settings.allowed_hosts == ("127.0.0.2", "a.test", "b.test")
    assert (settings.rate_limit, settings.max_words, settings.max_cells) == (2.5, 7, 8)
    assert settings.max_request_words == 9
    assert settings.api_key.get_secret_value() == "s3cret"
    limits = seen["limits"]
    assert (limits.connections, limits.of_one_client, limits.head) == (9, 4, 4)
    assert "10.0.0.1" in limits.proxies
    assert "10.0.0.2" not in limits.proxies
    assert "s3cret" not in result.err + result.out


def test_a_proxy_that_would_never_be_recognised_is_refused(run, model):
    result = run("serve", "--model", model, "--trusted-proxy", "localhost")
    assert result.code == 2
    assert "trusted proxy 'localhost': is neither an IP address" in " ".join(result.err.split())


def test_an_empty_key_is_none_that_was_meant(run, model, monkeypatch, wording):
    monkeypatch.setenv("TRIGNER_API_KEY", " ")
    result = run("serve", "--model", model)
    assert result.code == 2
    wording(result.err)


@pytest.mark.parametrize("key", ["a b\n", " a", "a\tb"])
def test_a_key_that_no_client_can_send_is_refused(run, model, monkeypatch, key):
    monkeypatch.setenv("TRIGNER_API_KEY", key)
    result = run("serve", "--model", model)
    assert result.code == 2
    assert "no client could send it" in " ".join(result.err.split())


def test_without_the_extra_the_cure_is_told(run, model, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "fastapi" else 1)
    result = run("serve", "--model", model)
    assert result.code == 1
    assert "trigner[serve]" in result.err
