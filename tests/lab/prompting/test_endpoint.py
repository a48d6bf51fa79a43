from __future__ import annotations

import pytest

from trigner.lab.prompting import endpoint
from trigner.lab.prompting.endpoint import NO_KEY, check_licence

HERE = "http://127.0.0.1:8000/v1"
THERE = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    "url", [HERE, "http://localhost/v1", "http://[::1]:80/v1", "http://127.8.9.1/v1"]
)
def test_this_machine(url):
    assert endpoint(url).is_loopback


@pytest.mark.parametrize(
    "url",
    [THERE, "http://10.0.0.1/v1", "http://0.0.0.0/v1", "http://localhost.example.org/v1",
     "http://127.0.0.1.nip.io/v1", "http://2130706433/v1", "http://127.1/v1"],
)  # fmt: skip
def test_other_machines_and_what_may_be_one(url):
    assert not endpoint(url).is_loopback


@pytest.mark.parametrize(
    "url",
    ["api.openai.com", "ftp://127.0.0.1/v1", "http://", "http://x:y@127.0.0.1/v1",
     "http://127.0.0.1/v1?key=abc", "http://127.0.0.1:99999/v1", "http://[::1/v1", "http://a#b"],
)  # fmt: skip
def test_addresses_that_are_none_or_hold_a_key(url, refused):
    with refused():
        endpoint(url)


def test_a_key_goes_to_its_own_host_only(monkeypatch, refused):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    monkeypatch.setenv("GEMINI_API_KEY", "gemini")
    monkeypatch.delenv("TRIGNER_LLM_API_KEY", raising=False)
    assert endpoint(THERE).key == "sk-openai"
    assert endpoint("https://generativelanguage.googleapis.com/v1beta/openai/").key == "gemini"
    assert endpoint(HERE).key == NO_KEY
    assert endpoint("https://api.openai.com.example.org/v1").key == NO_KEY
    monkeypatch.setenv("TRIGNER_LLM_API_KEY", "other")
    assert endpoint(HERE).key == "other"
    assert endpoint(HERE, key_variable="OPENAI_API_KEY").key == "sk-openai"
    with refused():
        endpoint(HERE, key_variable="MISSING")


def test_a_key_is_not_shown(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai")
    server = endpoint(THERE)
    assert "sk-openai" not in repr(server)
    assert server.redacted("your key sk-openai is wrong") == "your key [key] is wrong"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-openai-0123")
    assert endpoint(THERE).redacted_answer("[] by sk-openai-0123") == "[] by [key]"
    assert endpoint(HERE).redacted("none of it") == "none of it"


@pytest.mark.parametrize("key", ["x", "0", "test", "password"])
def test_a_word_that_serves_as_key_may_stand_in_answers(monkeypatch, key):
    monkeypatch.setenv("TRIGNER_LLM_API_KEY", key)
    answer = f'{{"index": [0], "text": "{key}"}}'
    assert endpoint(HERE).redacted_answer(answer) == answer
    assert key not in endpoint(HERE).redacted(f"bad {key}").removesuffix("[key]")


@pytest.mark.parametrize("key", ["sk-\u200b123", "sk-ü", "sk\n123", "\x00"])
def test_a_key_that_no_request_can_carry(monkeypatch, key, refused):
    monkeypatch.setattr("os.environ", {"TRIGNER_LLM_API_KEY": key})
    with refused() as told:
        endpoint(HERE)
    assert key not in str(told.value)


@pytest.mark.parametrize("corpus", ["share13", "share14"])
def test_credentialed_corpora_stay_here(corpus, refused):
    for url in (THERE, "http://10.0.0.1/v1"):
        with refused():
            check_licence(["brat", corpus], endpoint(url))
        check_licence([corpus], endpoint(url), has_permission=True)
        check_licence(["brat", "cadec"], endpoint(url))
    check_licence([corpus], endpoint(HERE))
    check_licence([corpus], None)
