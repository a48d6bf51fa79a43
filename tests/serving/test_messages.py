from __future__ import annotations

import json

import pytest

from trigner.serving.messages import ExtractQuestion, GridQuestion, parse
from trigner.serving.refusals import RefusedError

GOOD = [
    ({"text": ""}, [""]),
    ({"text": "a\r\nb\x00\u0301"}, ["a\r\nb\x00\u0301"]),
    ({"texts": ["😀", "שלום"], "threshold": 1}, ["😀", "שלום"]),
    ({"text": "a", "threshold": None}, ["a"]),
]
NOT_JSON = {
    b"": "not JSON",
    b"Pain": "not JSON",
    b'{"text": "a"': "not JSON",
    b'{"text": "a"} {}': "not JSON",
    b"{'text': 'a'}": "not JSON",
    b'{"text": "a\nb"}': "not JSON",
    b'{"text": "\xff"}': "not UTF-8: byte 10",
    b'{"text": "\xed\xa0\x80"}': "not UTF-8",
    '{"text": "a"}'.encode("utf-16"): "not UTF-8",
    rb'{"text": "\ud800"}': "half of a surrogate pair",
    rb'{"text": "\udc00 and \ud83d\ude00"}': "half of a surrogate pair",
    b'{"text": "a", "threshold": NaN}': "not JSON",
    b"[" * 100_000: "recursion",
    b'{"threshold": ' + b"9" * 10_000 + b"}": "not JSON",
}
NO_QUESTION = [
    ([], "JSON object"),
    ("text", "JSON object"),
    (None, "JSON object"),
    ({}, "one of the two"),
    ({"text": "a", "texts": ["b"]}, "one of the two"),
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
def test_questions(value, texts):
    for ascii in (True, False):
        body = json.dumps(value, ensure_ascii=ascii).encode()
        question = parse(ExtractQuestion, body)
        assert question.all_texts == texts
        assert question.is_single == ("text" in value)
        assert parse(ExtractQuestion, b"\xef\xbb\xbf" + body) == question


@pytest.mark.parametrize("body", NOT_JSON, ids=lambda body: str(body[:24]))
def test_what_is_no_json(body):
    with pytest.raises(RefusedError, match=NOT_JSON[body]) as refused:
        parse(ExtractQuestion, body)
    assert refused.value.status == 400


@pytest.mark.parametrize(("value", "told"), NO_QUESTION)
def test_what_is_no_question(value, told):
    with pytest.raises(RefusedError, match=told) as refused:
        parse(ExtractQuestion, json.dumps(value).encode())
    assert refused.value.status == 422


def test_texts_are_not_repeated_in_what_is_told():
    with pytest.raises(RefusedError) as refused:
        parse(ExtractQuestion, b'{"texts": [["a secret"]]}')
    assert "secret" not in refused.value.detail


def test_questions_about_grids():
    assert parse(GridQuestion, b'{"text": "a b", "at": 2}') == GridQuestion(text="a b", at=2)
    assert parse(GridQuestion, b'{"text": "a b"}').at == 0
    for body in (b"{}", b'{"text": "a", "at": -1}', b'{"text": "a", "at": 1.5}'):
        with pytest.raises(RefusedError):
            parse(GridQuestion, body)
