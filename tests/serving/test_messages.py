from __future__ import annotations

import json

import pytest
from fastapi import HTTPException

from trigner.serving.messages import ExtractRequest, GridRequest, parse

GOOD = [
    ({"text": ""}, [""]),
    ({"text": "a\r\nb\x00\u0301"}, ["a\r\nb\x00\u0301"]),
    ({"texts": ["😀", "שלום"], "threshold": 1}, ["😀", "שלום"]),
    ({"text": "a", "threshold": None}, ["a"]),
]
NOT_JSON = {
    b'{"text": "a", "text": "b"}': "the request body has the key 'text' twice",
    b"": "not valid JSON",
    b"Pain": "not valid JSON",
    b'{"text": "a"': "not valid JSON",
    b'{"text": "a"} {}': "not valid JSON",
    b"{'text': 'a'}": "not valid JSON",
    b'{"text": "a\nb"}': "not valid JSON",
    b'{"text": "\xff"}': "not valid UTF-8: byte 10",
    b'{"text": "\xed\xa0\x80"}': "not valid UTF-8",
    '{"text": "a"}'.encode("utf-16"): "not valid UTF-8",
    rb'{"text": "\ud800"}': "lone surrogates",
    rb'{"text": "\udc00 and \ud83d\ude00"}': "lone surrogates",
    b'{"text": "a", "threshold": NaN}': "not valid JSON",
    b"[" * 100_000: "recursion",
    b'{"threshold": ' + b"9" * 10_000 + b"}": "not valid JSON",
}
INVALID = [
    ([], "JSON object"),
    ("text", "JSON object"),
    (None, "JSON object"),
    ({}, "exactly one of"),
    ({"text": "a", "texts": ["b"]}, "exactly one of"),
    ({"text": None}, "text:"),
    ({"text": 1}, "text:"),
    ({"text": ["a"]}, "text:"),
    ({"texts": "a"}, "texts:"),
    ({"texts": []}, "texts:"),
    ({"texts": ["a", 2]}, "texts.1:"),
    ({"texts": {"0": "a"}}, "texts:"),
    ({"text": "a", "threshold": "0.5"}, "threshold:"),
    ({"text": "a", "threshold": True}, "threshold:"),
    ({"text": "a", "threshold": -0.1}, "threshold:"),
    ({"text": "a", "threshold": 1.1}, "threshold:"),
    ({"text": "a", "Threshold": 0.5}, "Threshold:"),
]


@pytest.mark.parametrize(("value", "texts"), GOOD)
def test_extract_requests(value, texts):
    for ascii in (True, False):
        body = json.dumps(value, ensure_ascii=ascii).encode()
        request = parse(ExtractRequest, body)
        assert request.all_texts == texts
        assert request.is_single == ("text" in value)
        assert parse(ExtractRequest, b"\xef\xbb\xbf" + body) == request


@pytest.mark.parametrize("body", NOT_JSON, ids=lambda body: str(body[:24]))
def test_bodies_that_are_not_json(body, refused):
    with refused(error=HTTPException) as raised:
        parse(ExtractRequest, body)
    assert raised.value.status_code == 400


@pytest.mark.parametrize(("value", "message"), INVALID)
def test_invalid_requests(value, message):
    with pytest.raises(HTTPException, match=message) as raised:
        parse(ExtractRequest, json.dumps(value).encode())
    assert raised.value.status_code == 422


def test_no_more_than_five_errors_are_named():
    with pytest.raises(HTTPException) as raised:
        parse(ExtractRequest, json.dumps({"texts": list(range(9))}).encode())
    named = [message.partition(":")[0] for message in raised.value.detail.split("; ")]
    assert named == [f"texts.{number}" for number in range(5)]


def test_error_messages_do_not_repeat_texts():
    with pytest.raises(HTTPException) as raised:
        parse(ExtractRequest, b'{"texts": [["a secret"]]}')
    assert "secret" not in raised.value.detail


def test_grid_requests():
    assert parse(GridRequest, b'{"text": "a b", "at": 2}') == GridRequest(text="a b", at=2)
    assert parse(GridRequest, b'{"text": "a b"}').at == 0
    for body in (b"{}", b'{"text": "a", "at": -1}', b'{"text": "a", "at": 1.5}'):
        with pytest.raises(HTTPException):
            parse(GridRequest, body)
