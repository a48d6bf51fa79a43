"""The service as a process of its own: started, stopped by a signal, and what its clients see."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import threading
import time

import pytest

from serving_process import process
from trigner.errors import TrignerError
from trigner.models.folder import BUNDLED
from trigner.serving.app import create_app
from trigner.serving.server import serve


def post(port, body, timeout=60, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("POST", "/v1/extract", json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_requests_in_progress_are_finished_on_sigterm(exported_model):
    answers = []
    with process(exported_model) as (running, port):
        body = {"text": "My left leg hurt, no pain in arm, numb after the tablet. " * 700}
        client = threading.Thread(target=lambda: answers.append(post(port, body)))
        client.start()
        _until(lambda: _queue(port) == 1)
        running.send_signal(signal.SIGTERM)
        _until(lambda: _refuses(port))
        client.join(60)
        assert running.wait(30) == 0
        assert running.stderr.read() == ""
    ((status, answer),) = answers
    assert status == 200
    assert len(answer["entities"]) > 100


def test_requests_that_exceed_the_grace_period_get_503(exported_model):
    answers = []
    limits = ("--max-cells", "10000000", "--max-request-words", "10000000")
    with process(exported_model, "--stop-within", "1", *limits) as (running, port):
        body = {"texts": ["My left leg hurt, no pain in arm, numb after the tablet. " * 300] * 90}
        client = threading.Thread(target=lambda: answers.append(post(port, body)))
        client.start()
        _until(lambda: _queue(port) == 1)
        started = time.monotonic()
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
        assert time.monotonic() - started < 15
        client.join(30)
    ((status, answer),) = answers
    assert status == 503
    assert "shutting down" in answer["detail"]


def test_an_idle_service_stops_at_once_with_connections_open(exported_model):
    with (
        process(exported_model) as (running, port),
        socket.create_connection(("127.0.0.1", port)) as idle,
    ):
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in idle.recv(1000)
        running.send_signal(signal.SIGINT)
        assert running.wait(15) == 0


def test_a_body_that_is_too_large_gets_413(exported_model):
    with process(exported_model) as (_, port):
        status, answer = post(port, {"text": "pain " * 1_000_000})
        assert (status, answer["detail"]) == (413, "the request body is larger than 2000000 bytes")
        assert post(port, {"text": "no pain."})[0] == 200


def test_an_address_that_is_in_use(extract, refused):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with refused(error=TrignerError):
            serve(create_app(extract), host="127.0.0.1", port=port, stop_within=1)
    with refused(error=TrignerError):
        serve(create_app(extract), host="no.such.host.invalid", port=0, stop_within=1)


def _until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def _queue(port):
    return _metric(port, "trigner_queue_requests")


def _metric(port, name):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return float(re.search(rf"^{name} (\S+)", text, re.MULTILINE)[1])


def _refuses(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return True
    return False


def _raw(port):
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def _answer(connection):
    """All that comes until the other side ends the connection."""
    found = b""
    try:
        while part := connection.recv(1000):
            found += part
    except ConnectionResetError:
        pass
    return found


HEAD = b"POST /v1/extract HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"


def test_slow_and_many_connections(exported_model):
    """What is half sent has its time and its bound, and others are served meanwhile."""
    with process(exported_model, "--max-connections", "8", "--body-timeout", "1") as (_, port):
        started = time.monotonic()
        half_heads = [_raw(port) for _ in range(2)]
        for connection in half_heads:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: ")
        half_bodies = [_raw(port) for _ in range(2)]
        for connection in half_bodies:
            connection.sendall(HEAD + b"{")
        _until(lambda: post_or_none(port) is None)  # a client has half of 8, and they are taken
        dripping = threading.Thread(target=_drip, args=(half_heads[0],))
        dripping.start()
        for connection in half_heads:
            assert _answer(connection).startswith(b"HTTP/1.1 408")
        assert time.monotonic() - started < 8
        for connection in half_bodies:
            assert b"408 Request Timeout" in connection.recv(1000)
        # The rest of a body that was refused is read for a while, whatever trickles in.
        _drip(half_bodies[0])
        assert time.monotonic() - started < 15
        dripping.join(20)
        for connection in (*half_heads, *half_bodies):
            connection.close()
        _until(lambda: post_or_none(port) == 200)


def post_or_none(port):
    try:
        status, _ = post(port, {"text": "no pain."})
    except (OSError, http.client.HTTPException):
        return None
    return None if status == 429 else status


def _drip(connection):
    """Send a byte now and then, until the other side has ended the connection."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            connection.sendall(b"a")
        except OSError:
            return
        time.sleep(0.2)
    raise AssertionError("the connection was never ended")


def test_unfinished_requests_of_one_client_refuse_nobody_else(exported_model):
    options = ("--max-waiting", "2", "--max-connections", "40", "--body-timeout", "10")
    with process(exported_model, *options) as (_, port):
        unfinished = [_raw(port) for _ in range(12)]
        for connection in unfinished:
            connection.sendall(HEAD + b"{")
        assert [post(port, {"text": "no pain."})[0] for _ in range(5)] == [200] * 5
        for connection in unfinished:
            connection.close()


def test_connections_of_all_clients_together_are_bounded(exported_model):
    """Those of a trusted proxy are of many clients: the bound of one does not hold for them."""
    options = ("--trusted-proxy", "127.0.0.1", "--max-connections", "3")
    with process(exported_model, *options) as (_, port):
        idle = [_raw(port) for _ in range(3)]
        with _raw(port) as one_more:
            answer = _answer(one_more)
        assert answer.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert b"\r\nretry-after: 1\r\n" in answer
        assert answer.endswith(b'{"detail": "too many connections: retry in 1 s"}')
        for connection in idle:
            connection.close()
        _until(lambda: post_or_none(port) == 200)


@pytest.mark.parametrize(
    ("options", "statuses"),
    [((), [200, 429, 429]), (("--trusted-proxy", "127.0.0.1"), [200, 200, 429])],
)
def test_only_a_trusted_proxy_says_who_the_client_is(exported_model, options, statuses):
    with process(exported_model, "--rate-limit", "0.01", *options) as (_, port):
        clients = [{"X-Forwarded-For": f"192.0.2.{number}"} for number in (1, 2, 1)]
        answers = [post(port, {"text": "no pain."}, **client) for client in clients]
        assert [status for status, _ in answers] == statuses


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no socket for IPv4 and IPv6")
def test_a_proxy_is_known_where_the_service_listens_on_all_of_ipv6(exported_model):
    options = ("--host", "::", "--trusted-proxy", "127.0.0.1", "--max-connections", "3")
    with process(exported_model, *options, "--rate-limit", "0.01") as (_, port):
        clients = [{"X-Forwarded-For": f"192.0.2.{number}"} for number in (1, 2, 1)]
        answers = [post(port, {"text": "no pain."}, **client) for client in clients]
        assert [status for status, _ in answers] == [200, 200, 429]
        several = [_raw(port) for _ in range(2)]  # of which a client that is no proxy has one
        for connection in several:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert b"200 OK" in connection.recv(1000)
        for connection in several:
            connection.close()


def test_a_client_that_does_not_read_is_given_up(exported_model):
    options = ("--timeout", "2", "--body-timeout", "2")
    with process(exported_model, *options) as (_, port), socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", port))
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
        _drip(connection)


def test_memory_of_a_large_request_is_given_back():
    """A sentence of 500 words took 750 MB for good."""
    with process(BUNDLED, "--max-words", "1000", "--timeout", "60") as (_, port):
        text = "Headache and swelling of the face. " * 20
        assert post(port, {"text": text})[0] == 200
        before = _memory(port)
        assert post(port, {"text": "pain " * 500})[0] == 200
        assert _memory(port) - before < 100_000_000


def _memory(port):
    return _metric(port, "process_resident_memory_bytes")
