"""`trigner serve` as a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def process(folder, *options, program=("-m", "trigner")):
    """A service on a free port: the process and the port."""
    command = [sys.executable, *program, "serve", "--model", str(folder), "--port", "0"]
    running = subprocess.Popen(
        [*command, *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "COLUMNS": "200"},
    )
    try:
        line = running.stderr.readline()
        found = re.search(r"serving on http://(?:127\.0\.0\.1|\[::\]):(\d+)", line)
        assert found, line + running.stderr.read()
        yield running, int(found[1])
    finally:
        running.kill()
        running.wait()
        running.stderr.close()
