"""The code blocks of documentation pages, and a reader who types them in."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from serving_process import process
from trigner.cli.app import main

ADDRESS = "http://127.0.0.1:8000"
"""Where pages say that the service is."""

SHELL = {"cat", "cp", "gzip", "ls", "mkdir", "zcat"}
"""Programs that a page may use besides ours and curl."""

_BLOCK = re.compile(
    r"(?:^<!-- not run: (?P<reason>[^\n]+) -->\n)?"
    r"^```(?P<language>console|python)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Snippet:
    """A `console` or `python` block; `reason` is why it is not run, in a comment above it."""

    page: Path
    line: int
    language: str
    code: str
    reason: str | None


def snippets(page: Path) -> list[Snippet]:
    """The blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Snippet(
            page,
            text.count("\n", 0, found.start("code")) + 1,
            found["language"],
            found["code"],
            found["reason"],
        )
        for found in _BLOCK.finditer(text)
    ]


@dataclass
class Reader:
    """Someone in a folder who types what pages show. Leaving ends the services they started."""

    folder: Path
    printed: dict[str, str] = field(default_factory=dict)
    """What each command and each Python block wrote to standard output."""
    _names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    _address: str = ADDRESS
    _services: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._services.close()

    def follow(self, page: Path) -> None:
        """Run every block of a page that is to be run."""
        for snippet in snippets(page):
            if snippet.reason is not None:
                continue
            with contextlib.chdir(self.folder):
                if snippet.language == "python":
                    self._python(snippet)
                else:
                    for command in commands(snippet.code):
                        self.printed[command] = self._command(command, snippet)

    def _python(self, snippet: Snippet) -> None:
        # Lines of the page, so that a traceback shows where in it something failed.
        code = "\n" * (snippet.line - 1) + snippet.code.replace(ADDRESS, self._address)
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(code, snippet.page, "exec"), self._names)
        self.printed[snippet.code] = out.getvalue()

    def _command(self, command: str, snippet: Snippet) -> str:
        program, *arguments = shlex.split(command, comments=True)
        if {"|", ">"} & {*arguments}:
            assert program in {*SHELL, "trigner"}, f"{snippet.page}:{snippet.line}: {program}"
            return self._shell(command)
        if program == "trigner" and arguments[0] == "serve":
            self._serve(arguments[1:])
            return ""
        if program == "trigner":
            return _trigner(arguments, f"{snippet.page}:{snippet.line}")
        if program == "curl":
            return _curl([a.replace(ADDRESS, self._address) for a in arguments])
        assert program in SHELL, f"{snippet.page}:{snippet.line}: {program} is not run in tests"
        return self._shell(command)

    def _shell(self, command: str) -> str:
        """For what needs one, such as a pipe; `trigner` is this working copy's there too."""
        with tempfile.TemporaryDirectory() as programs:
            ours = Path(programs) / "trigner"
            ours.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m trigner "$@"\n')
            ours.chmod(0o755)
            path = os.pathsep.join([programs, os.environ["PATH"]])
            run = subprocess.run(
                ["sh", "-ec", command],
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
        assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"
        return run.stdout

    def _serve(self, arguments: list[str]) -> None:
        model, *options = arguments[arguments.index("--model") + 1 :]
        _, port = self._services.enter_context(process(model, *options))
        self._address = f"http://127.0.0.1:{port}"


def commands(code: str) -> list[str]:
    """The commands of a console block, those of several lines as one."""
    lines = code.replace("\\\n", " ").splitlines()
    return [line for line in lines if shlex.split(line, comments=True)]


def _trigner(arguments: list[str], where: str) -> str:
    given, code = sys.argv, 0
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        sys.argv = ["trigner", *arguments]
        try:
            main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        finally:
            sys.argv = given
    assert code == 0, f"{where}: {shlex.join(arguments)}\n{out.getvalue()}{err.getvalue()}"
    return out.getvalue()


def _curl(arguments: list[str]) -> str:
    """What curl would do with an address and `-d BODY`; other options are not known."""
    body = None
    if "-d" in arguments:
        at = arguments.index("-d")
        _, body = arguments.pop(at), arguments.pop(at)
    (address,) = arguments
    request = urllib.request.Request(address, None if body is None else body.encode())
    with urllib.request.urlopen(request, timeout=60) as answer:
        return str(answer.read().decode())
