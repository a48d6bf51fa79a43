"""Every raw answer, kept: a file of JSON lines that is only ever added to.

It is the cache (no prompt is asked twice), what a killed run resumes from, and the record of what
a model really said. No key is ever in it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Any

from trigner import __version__
from trigner.errors import InputError, TrignerError
from trigner.prompting.client import Reply


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt for a model, with the parameters of the request."""

    model: str
    prompt: str
    parameters: Mapping[str, Any]

    @property
    def key(self) -> str:
        """SHA-256 (64 hex digits) over model, prompt and parameters."""
        return _hash(json.dumps([self.model, self.prompt, self.parameters], sort_keys=True))


@dataclass(frozen=True, slots=True)
class Recorded:
    """A line of the file: a reply, and when and by whom it was given.

    `base_url` is the server's, `seconds` from question to answer, waits included.
    """

    key: str
    model: str
    base_url: str
    parameters: Mapping[str, Any]
    prompt_sha256: str
    text: str
    finish_reason: str | None
    answered_by: str | None
    prompt_tokens: int | None
    answer_tokens: int | None
    attempts: int
    seconds: float
    date: str
    version: str


_ATTEMPTS = 3
"""At writing a line: a system may take less of it than it was given."""

_FIELDS = tuple(Recorded.__dataclass_fields__)


class Answers:
    """The answers of a file, by question.

    Each is one line, written at once and on the disk before `add` returns, so several runs may
    add to the same file. A line that a killed run or a full disk left unfinished is passed over,
    and counted in `damaged`; of two answers to one question the first counts.
    """

    def __init__(self, path: Path) -> None:
        """Reads what is there. Raises InputError when the file is of something else."""
        self.path = path
        self.damaged = 0
        self._found: dict[str, Recorded] = {}
        if path.exists():
            self._read()

    def __len__(self) -> int:
        return len(self._found)

    def get(self, question: Question) -> Recorded | None:
        """The answer to a question, None when it was never given."""
        return self._found.get(question.key)

    def add(self, question: Question, reply: Reply, *, base_url: str, seconds: float) -> Recorded:
        """Record an answer. Raises TrignerError when the disk does not let us."""
        line = Recorded(
            key=question.key,
            model=question.model,
            base_url=base_url,
            parameters=dict(question.parameters),
            prompt_sha256=_hash(question.prompt),
            text=reply.text,
            finish_reason=reply.finish_reason,
            answered_by=reply.model,
            prompt_tokens=reply.prompt_tokens,
            answer_tokens=reply.answer_tokens,
            attempts=reply.attempts,
            seconds=round(seconds, 3),
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            version=__version__,
        )
        # ASCII also carries lone surrogates, which a model can be made to write.
        self._write(json.dumps(asdict(line)).encode("ascii") + b"\n")
        return self._found.setdefault(line.key, line)

    def _write(self, line: bytes) -> None:
        """A line of its own, whatever is left half written behind the last one, by whomever."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+", buffering=0) as file:
                for _ in range(_ATTEMPTS):
                    data = line if _ends_in_a_line(file) else b"\n" + line
                    if file.write(data) == len(data):
                        os.fsync(file.fileno())
                        return
        except OSError as error:
            raise TrignerError(f"cannot write {self.path}: {error.strerror}") from error
        raise TrignerError(f"cannot write {self.path}: only parts of an answer are taken")

    def _read(self) -> None:
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path=self.path) from error
        for line in data.split(b"\n"):
            if not line:
                continue
            try:
                value = json.loads(line)
                recorded = Recorded(**{name: value[name] for name in _FIELDS})
            except (ValueError, KeyError, TypeError):
                self.damaged += 1
            else:
                self._found.setdefault(recorded.key, recorded)
        if self.damaged and not self._found and data.endswith(b"\n"):
            raise InputError("holds no recorded answers", path=self.path)


def _ends_in_a_line(file: FileIO) -> bool:
    if not file.seek(0, os.SEEK_END):
        return True
    file.seek(-1, os.SEEK_END)
    return file.read(1) == b"\n"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
