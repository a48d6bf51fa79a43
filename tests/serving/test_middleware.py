from __future__ import annotations

import pytest

from trigner.serving.middleware import HEADERS


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/", 200), ("GET", "/page.js", 200), ("GET", "/v1/model", 200), ("GET", "/no", 404),
     ("PUT", "/v1/extract", 405), ("POST", "/v1/extract", 400), ("GET", "/v1/extract/", 404)],
)  # fmt: skip
def test_every_response_has_security_headers_and_is_counted(serve, method, path, status):
    client = serve()
    response = client.request(method, path, content=b"x")
    assert response.status_code == status
    for name, value in HEADERS.items():
        assert response.headers[name] == value
    is_file = status == 200 and path in ("/", "/page.js")
    assert response.headers["cache-control"] == ("no-cache" if is_file else "no-store")
    known = path if path in ("/", "/page.js", "/v1/model", "/v1/extract") else "other"
    counted = f'trigner_requests_total{{path="{known}",status="{status}"}} 1.0'
    assert counted in client.get("/metrics").text


def test_only_our_own_files_may_run():
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "*" not in policy
