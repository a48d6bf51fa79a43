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
from trigner.serving import create_app, serve


def post(port, body, timeout=60):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request("POST", "/v1/extract", json.dumps(body))
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_requests_in_progress_are_finished_on_sigterm(exported_model):
    answers = []
    with process(exported_model) as (running, port):
        body = {"text": "My left leg hurt, no pain in arm, numb after the tablet. " * 1500}
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
    with process(exported_model, "--stop-within", "1") as (running, port):
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
        idle.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        assert b"200 OK" in idle.recv(1000)
        running.send_signal(signal.SIGINT)
        assert running.wait(15) == 0


def test_a_body_that_is_too_large_gets_413(exported_model):
    with process(exported_model) as (_, port):
        status, answer = post(port, {"text": "pain " * 1_000_000})
        assert (status, answer["detail"]) == (413, "the request body is larger than 2000000 bytes")
        assert post(port, {"text": "no pain."})[0] == 200


def test_an_address_that_is_in_use(extract):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(TrignerError, match=f"cannot listen on 127.0.0.1:{port}"):
            serve(create_app(extract), host="127.0.0.1", port=port, stop_within=1)
    with pytest.raises(TrignerError, match=r"cannot listen on no\.such\.host\.invalid"):
        serve(create_app(extract), host="no.such.host.invalid", port=0, stop_within=1)


def _until(condition):
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def _queue(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return float(re.search(r"^trigner_queue_requests (\S+)", text, re.MULTILINE)[1])


def _refuses(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return True
    return False
