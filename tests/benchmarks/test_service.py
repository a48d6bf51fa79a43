"""The load of `benchmarks/service.py` and how its figures are judged."""

from __future__ import annotations

import asyncio
import http.server
import os
import threading

import service

from serving_process import process


def made(clients, latencies, **statuses):
    found = service.Load(clients, 1.0, latencies)
    found.statuses.update({"200": len(latencies), **statuses})
    return found


def test_figures():
    one = made(1, [0.01] * 100)
    good = service.figures(one, made(8, [0.1] * 120), made(50, [0.49] * 100), 100, 105)
    assert len(good) == 8
    assert all(good.values())
    bad = service.figures(
        one,
        made(8, [0.2] * 9, **{"503": 1}),
        made(50, [0.7] * 50, **{"500": 1, "503": 49}),
        100,
        120,
    )
    assert not any(bad.values())
    slow, late = (made(50, [0.1] * 89), made(50, [0.51] * 100))
    for fifty, missed in ((slow, "at least 90 successes"), (late, "median below 500 ms (510)")):
        found = service.figures(made(1, [0.01] * 50), made(8, [0.1] * 120), fifty, 100, 105)
        (line,) = [told for told, reached in found.items() if not reached]
        assert missed in line


class Answers(http.server.BaseHTTPRequestHandler):
    """Says 200, and each third time 503."""

    protocol_version = "HTTP/1.1"
    count = 0

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        Answers.count += 1
        busy = Answers.count % 3 == 0
        self.send_response(503 if busy else 200)
        if busy:
            self.send_header("Retry-After", "0")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def test_clients_count_what_they_get():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        seen = asyncio.run(service.load(server.server_address[1], 3, 0.5))
        server.shutdown()
    assert seen.errors == 0
    assert 0.2 < seen.share_busy < 0.5
    assert "503" in seen.told()
    assert service.memory(os.getpid()) > 10


def test_the_service_answers_these_clients(exported_model):
    with process(exported_model) as (_, port):
        seen = asyncio.run(service.load(port, 2, 0.5))
    assert set(seen.statuses) <= {"200", "503"}
    assert seen.latencies
