"""What an interrupted `extract` leaves, and how it goes on.

FILE.partial holds the documents that are done as JSON lines, whatever the format of FILE, and
FILE.partial.record what they were made with. In a folder they are called `.partial` and
`.partial.record`. When all documents are done, FILE is written from them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trigner import __version__
from trigner.cli.output import files_to_replace, refuse_non_empty, write_documents
from trigner.corpora import Format, LineWriter, Reading, WriteReport, read_lines
from trigner.errors import InputError
from trigner.machine import (
    check_own,
    check_writable,
    explained,
    followed,
    locked,
    own_file,
    partial_of,
    publish,
    remove_leftovers,
    staged,
    write_text,
)
from trigner.mentions import Document
from trigner.rendering import documents_page_parts

if TYPE_CHECKING:
    from trigner.pipeline import PartialResult

BOTH = "--resume continues it, --overwrite starts again"


@dataclass(frozen=True)
class Output:
    """A file or folder to be written in a format (None: an HTML page called `title`)."""

    path: Path
    format: Format | None

    @property
    def is_folder(self) -> bool:
        """Whether the format is written to a folder."""
        return self.format is not None and self.format.writes_folder

    @property
    def partial(self) -> Path:
        """Where the documents that are done are meanwhile."""
        return self.path / ".partial" if self.is_folder else partial_of(followed(self.path))

    @property
    def record(self) -> Path:
        """What they were made with."""
        return self.partial.with_name(f"{self.partial.name}.record")

    @property
    def lock(self) -> Path:
        """Held by the process that writes them."""
        return self.partial.with_name(f"{self.partial.name}.lock")

    def others(self) -> list[Path]:
        """What is at the output besides these three."""
        if not self.is_folder:
            return [self.path] if self.path.exists() else []
        own = {self.partial, self.record, self.lock}
        return [path for path in self.path.glob("*") if path not in own]

    def check(self, *, resume: bool, overwrite: bool) -> None:
        """Raises InputError for what must not be replaced, or when nothing can be written here."""
        check_writable(self.path)
        if resume:
            check_own(self.record)
        if os.path.lexists(self.partial):
            if not (resume or overwrite):
                message = f"holds the results of an interrupted extraction: {BOTH}"
                raise InputError(message, path=self.partial)
            if resume and (self.partial.is_symlink() or not self.partial.is_file()):
                raise InputError("was not written by an extraction", path=self.partial)
        elif not overwrite and not (resume and self.record.is_file()) and self.others():
            refuse_non_empty(self.path, overwrite=False)
        if self.is_folder and overwrite:
            self.old_files()

    def old_files(self) -> list[Path]:
        """The files of an earlier run that are to be replaced. Raises InputError for others."""
        assert self.format is not None  # an HTML page is no folder
        own = (".partial", ".partial.record", ".partial.lock")
        found = files_to_replace(self.path, (*self.format.endings, *own))
        return [path for path in found if path not in {self.partial, self.record, self.lock}]


class Journal:
    """The documents of an extraction that are done, on the disk at once."""

    def __init__(self, output: Output, state: dict[str, Any], *, done: int) -> None:
        self.output = output
        self.done = done
        self.finished = bool(state["complete"]) and not output.partial.exists()
        """Whether the output was written and only this was left to be removed."""
        self._state = state

    @property
    def overwrite(self) -> bool:
        """Whether what is at the output may be replaced."""
        return bool(self._state["overwrite"] or self._state["complete"])

    def documents(self) -> Iterator[Document]:
        """Those that are done, with their entities. Raises InputError when the file is damaged."""
        path = self.output.partial
        with path.open("rb") as file:
            lines = islice(file, self.done)
            yield from read_lines(lines, "document", Reading(), path=path) if self.done else ()

    def remaining(self, documents: Iterable[Document]) -> Iterator[Document]:
        """The documents that are not done yet.

        Raises InputError when those that are done are others.
        """
        given = iter(documents)
        for number, before in enumerate(self.documents(), 1):
            now = next(given, None)
            if now is None or _read(now) != _read(before):
                message = f"document {number} of the input has changed since it was read"
                raise InputError(f"{message}: start again with --overwrite", path=self._path)
        yield from given

    @contextmanager
    def appending(self) -> Iterator[Callable[[PartialResult], None]]:
        """What adds the next partial result of a document."""
        with explained(self._path):
            file = open(self._path, "ab", opener=own_file)  # noqa: SIM115
        writer = LineWriter(lambda text: file.write(text.encode("utf-8")))

        def add(partial_result: PartialResult) -> None:
            with explained(self._path):
                writer.add(
                    partial_result.document, partial_result.entities, is_last=partial_result.is_last
                )
                file.flush()
            self.done += partial_result.is_last

        with file:
            yield add

    def publish(self, title: str) -> WriteReport:
        """Write the output of all documents."""
        output = self.output
        # What was written to a folder before it was cut off has the text that it gets again.
        overwrite = bool(self._state["overwrite"]) if output.is_folder else self.overwrite
        self._write_state(complete=True)
        try:
            report = _write(self, overwrite=overwrite, title=title)
        except BaseException:
            if not output.is_folder:  # what was there is there still
                self._write_state(complete=False)
            raise
        self.discard()
        return report

    def discard(self) -> None:
        """Remove what is here."""
        for path in (self._path, self.output.record):
            path.unlink(missing_ok=True)

    @property
    def _path(self) -> Path:
        return self.output.partial

    def _write_state(self, **changes: Any) -> None:
        self._state |= changes
        write_text(self.output.record, json.dumps(self._state, indent=1) + "\n")


@contextmanager
def begun(
    output: Output, made_with: Mapping[str, Any], *, resume: bool, overwrite: bool
) -> Iterator[Journal]:
    """The journal of an extraction, new or with `resume` that of an interrupted one.

    `made_with` is what the documents depend on: when it was other, InputError is raised. It is also
    for what is in the way (`Output.check`), and when another process writes the same output.
    """
    existed = output.path.exists()
    with explained(output.path):
        output.partial.parent.mkdir(parents=True, exist_ok=True)
    try:
        busy = "is being written by another extraction: wait for it, or choose another --out"
        with locked(output.lock, remove=True, busy=InputError(busy, path=output.path)):
            output.check(resume=resume, overwrite=overwrite)
            for written in (output.path, output.record):
                remove_leftovers(written)
            known = {"trigner": __version__, **made_with}
            journal = _resumed(output, known, overwrite=overwrite) if resume else None
            yield journal or _new(output, known, overwrite=overwrite)
    finally:
        if output.is_folder and not existed:
            with suppress(OSError):
                output.path.rmdir()  # it goes only when nothing is in it


def _new(output: Output, made_with: Mapping[str, Any], *, overwrite: bool) -> Journal:
    if not overwrite and output.others():
        refuse_non_empty(output.path, overwrite=False)
    state = {"made_with": dict(made_with), "overwrite": overwrite, "complete": False}
    for path, text in ((output.record, json.dumps(state, indent=1) + "\n"), (output.partial, "")):
        path.unlink(missing_ok=True)
        with explained(path), path.open("x", encoding="utf-8") as file:
            file.write(text)
    return Journal(output, state, done=0)


def _resumed(output: Output, made_with: Mapping[str, Any], *, overwrite: bool) -> Journal | None:
    """The journal that is there, cut behind its last whole document; None if there is none."""
    if not output.partial.exists() and not output.record.exists():
        return None
    try:
        state = json.loads(output.record.read_text("utf-8"))
        before, complete = state["made_with"], bool(state["complete"])
        if not isinstance(before, dict):
            raise TypeError("made_with is not an object")
        state["overwrite"] = bool(state["overwrite"]) or overwrite
    except FileNotFoundError as error:
        message = "was not written by an extraction: it has no record"
        raise InputError(f"{message}; --overwrite starts again", path=output.partial) from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        if not output.partial.exists():
            return None  # it ended before the first document
        message = "is damaged, so nothing can be resumed: --overwrite starts again"
        raise InputError(message, path=output.record) from error
    if not output.partial.exists() and not (complete and output.others()):
        return None  # it ended before the first document
    # Compared as JSON has them.
    now = json.loads(json.dumps(made_with))
    names = dict.fromkeys([*before, *now])
    if other := [name for name in names if before.get(name) != now.get(name)]:
        message = f"was started with different {', '.join(other)}"
        advice = "resume with the same, or start again with --overwrite"
        raise InputError(f"{message}: {advice}", path=output.partial)
    done = _cut(output.partial) if output.partial.exists() else 0
    journal = Journal(output, state, done=done)
    if not journal.overwrite and output.others():
        refuse_non_empty(output.path, overwrite=False)
    return journal


def _cut(path: Path) -> int:
    """Cut a file behind its last whole line; how many lines there are."""
    lines, end = 0, 0
    with explained(path), path.open("r+b") as file:
        for line in file:
            if line.endswith(b"\n"):
                lines, end = lines + 1, end + len(line)
        file.truncate(end)
    return lines


def _read(document: Document) -> tuple[Any, ...]:
    """What entities are found in."""
    return document.id, document.text, document.words


def _write(journal: Journal, *, overwrite: bool, title: str) -> WriteReport:
    output = journal.output
    if output.format is None:
        with staged(output.path, overwrite=overwrite) as path:
            page = documents_page_parts(journal.documents(), title=title)
            with explained(output.path), path.open("w", encoding="utf-8", newline="") as file:
                file.writelines(page)
        return WriteReport(files=1)
    if output.format.name == "jsonl":  # it is that already
        with explained(output.path):
            publish(output.partial, followed(output.path), overwrite=overwrite)
        return WriteReport(files=1)
    old = output.old_files() if output.is_folder and overwrite else ()
    documents, format = journal.documents(), output.format
    return write_documents(documents, output.path, format=format, overwrite=overwrite, old=old)
