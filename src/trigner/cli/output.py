"""Where commands write: results to standard output, all else to standard error."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Protocol, TypeVar

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from trigner.cli.staged_folder import staged_folder
from trigner.corpora import Format, WriteReport, writable, write
from trigner.errors import InputError
from trigner.machine import check_writable, counted, is_leftover, is_written_into, staged
from trigner.mentions import Document
from trigner.models import read_description
from trigner.rendering import say

if TYPE_CHECKING:
    from rich.progress import Progress


T = TypeVar("T")

_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""What a terminal would obey, and half characters, which no stream takes."""
_NOT_ASCII = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\U0010ffff]")

SHOWN_NOTICES = 20
SECONDS_BETWEEN_LINES = 10.0


class Terminal(Console):
    """A console that obeys nothing that stands in a file's name, in input or in a model."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterator[Segment]:
        """What is shown, without control characters but those of rich."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


def errors() -> Console:
    """The console on standard error."""
    return Terminal(stderr=True)


def results() -> Console:
    """The console on standard output; in a pipe as wide as COLUMNS says, or 80."""
    return Terminal()


def tables() -> Console:
    """As `results`, of at least 80 columns.

    Of a table with columns of numbers rich leaves out, in fewer, what names its rows.
    """
    return Terminal(width=max(80, results().width))


def visible(text: str) -> str:
    """A text without control characters."""
    return _CONTROLS.sub("\ufffd", text)


def visible_json(text: str) -> str:
    """JSON of the same meaning without control characters.

    Where standard output is not in UTF-8, it is ASCII: programs read it as such in any encoding.
    """
    encoding = getattr(sys.stdout, "encoding", None) or ""  # there may be no output at all
    is_utf_8 = encoding.lower().startswith("utf")
    return (_CONTROLS if is_utf_8 else _NOT_ASCII).sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\u{code:04x}" if code < 0x10000 else json.dumps(found[0])[1:-1]


def note(notices: Iterable[object], *, at_most: int | None = SHOWN_NOTICES) -> None:
    """Notices, one a line, the first ones of many (None: all), all of them counted."""
    if os.environ.get("RANK", "0") != "0":  # of the processes of a training the first one speaks
        return
    listed = [str(notice) for notice in notices]
    for notice in listed[:at_most]:
        say(errors(), f"note: {notice}")
    if at_most is not None and len(listed) > at_most:
        errors().print(f"note: and {len(listed) - at_most} more like these")


def note_repeated(path: Path, documents: Iterable[Document]) -> None:
    """Note how many annotations repeat another one of their document, if any do.

    They have its type and its characters, so that scores count both as one.
    """
    if number := sum(len(d.entities) - len(set(map(d.key, d.entities))) for d in documents):
        repeat = counted(number, "annotation repeats", "annotations repeat")
        note([f"{path}: {repeat} another one: counted once in scores"])


def note_types_alike(path: Path, documents: Iterable[Document]) -> None:
    """Note types that differ only in case, each with its number of entities: one may be a typo."""
    counts = Counter(entity.label for document in documents for entity in document.entities)
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for label, number in counts.most_common():
        groups[label.casefold()].append(f"{label} ({number:,})")
    note(
        [
            f"{path}: types that differ only in case: {', '.join(alike)}"
            for alike in groups.values()
            if len(alike) > 1
        ]
    )


def note_interrupted(model: Path) -> None:
    """Note that the training of a model has not come to its end, if that is so."""
    from trigner.pipeline import spec_of

    description = read_description(model)
    known, spec = description.provenance, spec_of(model, description)
    # Calibration is fitted when the last epoch is over.
    if spec.calibration and known.dev.epoch is not None and known.calibration is None:
        best = "this is the best epoch so far; train --resume continues it"
        note([f"its training was interrupted: {best}"])


def note_unknown_types(documents: Iterable[Document], known: Collection[str]) -> None:
    """Note how many entities have a type that the model does not know."""
    from trigner.evaluation import unknown_labels

    for label, number in unknown_labels(documents, known).items():
        unknown = f"{counted(number, 'entity', 'entities')} of type {label}, unknown to the model"
        note([f"{unknown}: all of them count as missed"])


def print_json(value: object) -> None:
    """One JSON object on standard output."""
    print(visible_json(json.dumps(value, ensure_ascii=False)))


class Show(Protocol):
    """Shows how much is done of how much (None: nobody knows), and a word about it."""

    def __call__(self, done: int, total: int | None, detail: str = "") -> None: ...


def progress(items: Iterable[T], *, total: int | None, what: str) -> Generator[T, None, None]:
    """The items, counted on standard error as `counting` does.

    `total` is None when nobody knows how many will come.
    """
    with counting(what, total) as show:
        for done, item in enumerate(items, 1):
            yield item
            show(done, total)


@contextmanager
def counting(what: str, total: int | None = None) -> Iterator[Show]:
    """For work that says how much is done: a bar on a terminal, else now and then a line."""
    if errors().is_terminal:
        with _bar() as bar:
            drawn = bar.add_task(what, total=total)

            def show(done: int, total: int | None, detail: str = "") -> None:
                bar.update(drawn, completed=done, total=total, description=f"{what}{detail}")

            yield show
        return
    last = monotonic()

    def show_now_and_then(done: int, total: int | None, detail: str = "") -> None:
        nonlocal last
        if monotonic() - last >= SECONDS_BETWEEN_LINES:
            of = "" if total is None else f" of {total:,}"
            errors().print(f"{what}: {done:,}{of}{detail}", markup=False, highlight=False)
            last = monotonic()

    yield show_now_and_then


def _bar() -> Progress:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        *(TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()),
        TimeRemainingColumn(),
        console=errors(),
        transient=True,
        # Results that go to a file or pipe must not be drawn on the terminal instead.
        redirect_stdout=sys.stdout.isatty(),
    )


def refuse_non_empty(out: Path, *, overwrite: bool | None = None) -> None:
    """Raises InputError when `out` cannot be written or is something that is there already.

    That may be there with `overwrite`; None is for commands that have `--resume` instead.
    """
    check_writable(out)
    if overwrite or is_written_into(out):
        return
    advice = "" if overwrite is None else ", or replace it with --overwrite"
    if out.is_dir() and not all(map(is_leftover, out.iterdir())):
        more = advice or ", or continue with --resume"
        raise InputError(f"is not empty: choose a new folder{more}", path=out)
    if out.is_file():
        raise InputError(f"already exists: choose another name{advice}", path=out)


def files_to_replace(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """All files below a folder that is to be overwritten, if they could be of an earlier run.

    What killed processes left there is among them. Raises InputError for any other file: it might
    be needed, and nobody asked to delete it.
    """
    found = sorted(path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    for path in found:
        if is_leftover(path) and path.is_file():
            continue
        if not path.name.lower().endswith(endings) or not path.is_file():
            known = ", ".join(endings)
            message = f"already exists and is not {known}, which is all that --overwrite replaces"
            raise InputError(message, path=path)
    return found


def documents_format(name: str, out: Path, *, overwrite: bool) -> tuple[Format, list[Path]]:
    """The format that documents are written in at `out`, and the files there that go in the end.

    To be asked before the work. Raises InputError as `refuse_non_empty`, `corpora.writable` and
    `files_to_replace`, TrignerError as the second of these.
    """
    refuse_non_empty(out, overwrite=overwrite)
    format = writable(name, out)
    replaces = format.writes_folder and overwrite
    return format, files_to_replace(out, format.endings) if replaces else []


def write_documents(
    documents: Iterable[Document],
    out: Path,
    *,
    format: Format,
    overwrite: bool,
    old: Collection[Path] = (),
) -> WriteReport:
    """Write documents to a file or to files in a folder, which must be new unless `overwrite`.

    `old` are the files of a folder that go when all of the new ones are complete. Raises
    TrignerError for a file that has appeared since it was looked for.
    """
    if format.writes_folder:
        if not old:
            return write(documents, out, format=format.name, overwrite=overwrite)
        with staged_folder(out, old) as folder:
            return write(documents, folder, format=format.name)
    with staged(out, overwrite=overwrite) as path:
        return write(documents, path, format=format.name)


def say_written(documents: int, files: int, path: Path, *, more: str = "") -> None:
    """The closing line of a command that has written documents, on standard error."""
    there = f"{counted(documents, 'document')} in {counted(files, 'file')}: {path}"
    say(errors(), f"{there}{more}")


def comma_list(value: str | None) -> Sequence[str] | None:
    """`A,B` as its parts."""
    return None if value is None else [part.strip() for part in value.split(",") if part.strip()]
