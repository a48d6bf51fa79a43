from __future__ import annotations

import base64

import pytest

BODY = '{"text": "no pain."}'
JSON = {"content-type": "application/json"}


def post(client, headers=(), **options):
    return client.post("/v1/extract", content=BODY, headers={**JSON, **dict(headers)}, **options)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("testserver", 200),  # what the connection goes to
        ("testserver:81", 200),
        ("TESTSERVER.", 200),
        ("localhost:8000", 200),
        ("127.0.0.1:8000", 200),
        ("127.0.0.2", 421),
        ("api.example.org", 200),
        ("a.b.example.com", 200),
        ("example.com", 421),
        ("notexample.com", 421),
        ("[::1]:80", 200),
        ("[::2]:80", 421),
        ("evil.test", 421),
        ("localhost.evil.test", 421),
        ("", 421),
    ],
)
def test_only_its_own_hosts_are_answered(serve, host, status):
    client = serve(allowed_hosts=("api.example.org", "*.example.com"))
    for answer in (post(client, {"host": host}), client.get("/", headers={"host": host})):
        assert answer.status_code == status
        assert status == 200 or "--allowed-host" in answer.json()["detail"]


def test_any_host(serve):
    assert post(serve(allowed_hosts=("*",)), {"host": "evil.test"}).status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"content-type": "application/json; charset=utf-8"}, 200),
        ({"content-type": "application/problem+json"}, 200),
        ({"content-type": "application/x-www-form-urlencoded"}, 200),  # curl -d
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "Text/Plain;charset=UTF-8"}, 415),
        ({"content-type": "multipart/form-data; boundary=a"}, 415),
        ({"content-type": "application/xml"}, 415),
        ({"content-type": "application/x-www-form-urlencoded", "origin": "http://a.test"}, 415),
        (
            {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "cross-site"},
            415,
        ),
        ({"content-type": "", "origin": "http://a.test"}, 415),
        ({"origin": "http://testserver", "sec-fetch-site": "same-origin"}, 200),
    ],
)
@pytest.mark.parametrize("path", ["/v1/extract", "/v1/grid"])
def test_what_pages_of_other_sites_can_send_is_refused(serve, path, headers, status):
    answer = serve().post(path, content=BODY, headers={**JSON, **headers})
    assert answer.status_code == status
    if status == 415:
        assert answer.json()["detail"] == "send JSON with `Content-Type: application/json`"


def test_other_sites_get_no_leave_to_send_json(serve):
    asked = {"origin": "http://a.test", "access-control-request-method": "POST"}
    answer = serve().options("/v1/extract", headers=asked)
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "path", ["/", "/page.js", "/v1/model", "/healthz", "/readyz", "/metrics", "/openapi.json"]
)
def test_head_is_get_without_its_body(serve, path):
    client = serve()
    found, expected = client.head(path), client.get(path)
    assert (found.status_code, found.content) == (200, b"")
    names = {*found.headers} - {"content-length"}
    assert names == {*expected.headers} - {"content-length"}
    assert client.head("/v1/extract").status_code == 405
    assert client.head("/none").status_code == 404


def basic(key):
    return "Basic " + base64.b64encode(f"anybody:{key}".encode()).decode()


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (None, 401),
        ("", 401),
        ("Bearer s3cret", 200),
        ("bearer  s3cret ", 200),
        ("Bearer s3cre", 401),
        ("Bearer s3cret2", 401),
        ("Bearer", 401),
        ("Bearer \u00e9", 401),
        (basic("s3cret"), 200),
        (basic("other"), 401),
        ("Basic ???", 401),
        ("Basic " + base64.b64encode(b"s3cret").decode(), 401),
        ("s3cret", 401),
    ],
)
def test_a_key(serve, header, status):
    client = serve(api_key="s3cret")
    headers = {} if header is None else {"authorization": header.encode()}
    for answer in (post(client, headers), client.get("/v1/model", headers=headers)):
        assert answer.status_code == status
        assert "s3cret" not in answer.text
        if status == 401:
            assert "Bearer" in answer.headers["www-authenticate"]
    for path in ("/", "/page.js", "/healthz", "/readyz"):
        assert client.get(path).status_code == 200
    for path in ("/metrics", "/openapi.json", "/none"):
        assert client.get(path).status_code == 401


def test_keys_are_compared_in_constant_time(serve, monkeypatch):
    compared = []
    monkeypatch.setattr(
        "trigner.serving.access.hmac.compare_digest", lambda *keys: compared.append(keys) or True
    )
    assert post(serve(api_key="a"), {"authorization": "Bearer b"}).status_code == 200
    assert compared == [(b"b", b"a")]


def test_a_key_is_not_shown():
    from trigner.serving.settings import ServiceSettings

    assert "s3cret" not in repr(ServiceSettings(api_key="s3cret"))


def test_too_many_requests_of_one_client(serve):
    client = serve(rate_limit=2)
    answers = [post(client) for _ in range(6)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert answers[0].status_code == answers[1].status_code == 200
    assert refused
    assert refused[0].json()["detail"] == "too many requests of one client: retry in 1 s"
    assert refused[0].headers["retry-after"] == "1"
    assert client.get("/healthz").status_code == client.get("/page.js").status_code == 200
