"""A language model of one file (GGUF) as an OpenAI-compatible server on this machine.

    python research/benchmarks/local_llm.py WEIGHTS.gguf

Prints the base URL once the model is loaded, then serves until its standard input closes. Needs
`pip install --no-deps -r requirements-local-llm.txt`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(weights: Path, *, threads: int = 1) -> Iterator[str]:
    """The base URL of a server in its own process. Raises RuntimeError if it does not start.

    In its own process, a crash of native code does not end the caller.
    """
    command = [sys.executable, __file__, str(weights), "--threads", str(threads)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            if not address:
                raise RuntimeError(
                    f"the server for {weights.name} did not start: exit code {process.wait(60)}"
                )
            yield address
        finally:
            process.stdin.close()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument(
        "--threads",
        type=int,
        default=1,
        help="more than one spin while they wait for each other: avoid on busy machines",
    )
    parser.add_argument("--context", type=int, default=4096, help="tokens of prompt and completion")
    options = parser.parse_args()

    # The library logs to standard output, which is reserved for the address.
    stdout = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(options.weights)
    params.n_ctx = options.context
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    server = xllamacpp.Server(params)
    print(f"{server.listening_address}/v1", file=stdout, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
