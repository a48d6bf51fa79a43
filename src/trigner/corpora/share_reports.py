"""What ShARe/CLEF 2013 and 2014 have in common: reports in one folder, annotations in another.

Source: PhysioNet, doi 10.13026/rxa7-q798 (2013) and 10.13026/0zgk-9j94 (2014). Both come as
archives for training and test; offsets count the characters of the report as shipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from trigner.corpora.folders import files_in, find_folder, without_ending
from trigner.corpora.parts import Lists, NoPartError, check, known_part, lists_beside
from trigner.corpora.published import Counts, compared
from trigner.corpora.reading import Reading
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Extra, Fragment

LABEL = "Disease_Disorder"
WHOLE_TRAINING = "train+dev"
"""The key of counts for all training reports, dev not taken out."""

_ANNOTATION_ENDINGS = (".knowtator.xml", ".pipe.txt", ".txt.pipe", ".pipe", ".txt")

Annotations = tuple[list[Entity], list[Extra]]
ReadAnnotations = Callable[[Path, Path, str, Reading], Annotations]
"""(annotation file, file of its report, the report's text, reading) -> what it says."""


@dataclass(frozen=True, slots=True)
class ReportPart:
    """Where the training or the test part lies, and how its annotations are read.

    `texts` and `annotations` are paths that a folder may end with, the usual one first. `endings`
    are those of annotation files.
    """

    texts: tuple[str, ...]
    annotations: tuple[str, ...]
    endings: tuple[str, ...]
    read: ReadAnnotations


@dataclass(frozen=True, slots=True)
class _Report:
    part: str
    text: Path
    annotations: Path | None


def recognises(path: Path, parts: Mapping[str, ReportPart]) -> bool:
    """A folder with texts and annotations of at least one part, in folders named as unpacked."""
    return path.is_dir() and any(
        find_folder(path, part.texts[:1]) and find_folder(path, part.annotations[:1])
        for part in parts.values()
    )


def read(
    path: Path,
    reading: Reading,
    split: str | None,
    parts: Mapping[str, ReportPart],
    published: Mapping[str | None, Counts],
) -> Iterator[Document]:
    """One document a report; its id is the file's name without `.txt`.

    `train` and `test` are the parts as unpacked, less what lists of ids put elsewhere (see
    `parts.lists_beside`); `dev` needs a list. Raises InputError when folders are missing and for
    annotations of a report that is not there.
    """
    if not path.is_dir():
        raise InputError("is not a folder", path=path)
    reports: dict[str, _Report] = {}
    for name, part in parts.items():
        reports |= _reports(path, name, part, reports, reading)
    if not reports:
        wanted = "; ".join(_wanted(name, part) for name, part in parts.items())
        raise InputError(f"is not this corpus as unpacked: looked for {wanted}", path=path)
    lists = None if split is None else lists_beside(path)
    if split is not None:
        chosen = _chosen(reports, known_part(split, path=path), lists, parts, reading, path)
        reports = {name: reports[name] for name in chosen}
    whole_training = split == "train" and lists is None
    expected = published.get(WHOLE_TRAINING if whole_training else split)
    documents = _documents(reports, parts, reading)
    yield from compared(documents, expected, reading, path=path)


def _reports(
    root: Path, name: str, part: ReportPart, others: Mapping[str, _Report], reading: Reading
) -> dict[str, _Report]:
    texts = find_folder(root, part.texts)
    annotations = find_folder(root, part.annotations)
    if texts is None and annotations is None:
        reading.note(f"holds no {name} part: looked for {_wanted(name, part)}", path=root)
        return {}
    if texts is None or annotations is None:
        missing = part.texts if texts is None else part.annotations
        what = "reports" if texts is None else "annotations"
        raise InputError(
            f"has no folder with the {what} of the {name} part:"
            f" looked for {' or '.join(missing)} in it and below",
            path=root,
        )
    found = {
        without_ending(file.name, (".txt",)): _Report(name, file, None)
        for file in files_in(texts, (".txt",))
    }
    for report in found:
        if report in others:
            raise InputError(f"the report {report} occurs in two parts", path=found[report].text)
    for file in files_in(annotations, part.endings):
        report = without_ending(without_ending(file.name, _ANNOTATION_ENDINGS), (".txt",))
        if report not in found:
            raise InputError(f"annotates {report}.txt, which is not in {texts}", path=file)
        if found[report].annotations is not None:
            raise InputError(f"is a second annotation file for {report}.txt", path=file)
        found[report] = _Report(name, found[report].text, file)
    bare = sum(report.annotations is None for report in found.values())
    if bare:
        reading.note(f"{bare} reports have no annotation file: read without entities", path=texts)
    return found


def _wanted(name: str, part: ReportPart) -> str:
    return f"{name}: {' or '.join(part.texts)}, and {' or '.join(part.annotations)}"


def _chosen(
    reports: Mapping[str, _Report],
    split: str,
    lists: Lists | None,
    parts: Mapping[str, ReportPart],
    reading: Reading,
    root: Path,
) -> list[str]:
    if lists is not None:
        check(lists, set(reports), reading, root=root)
        if split in lists.parts:
            return [name for name in reports if name in lists.parts[split]]
    if split == "dev":
        raise NoPartError(
            "comes without a dev part: put a list of report ids into splits/dev.txt", path=root
        )
    chosen = [
        name
        for name, report in reports.items()
        if report.part == split and (lists is None or lists.of(name) is None)
    ]
    if not chosen:
        raise InputError(
            f"has no {split} part: looked for {_wanted(split, parts[split])}", path=root
        )
    return chosen


def _documents(
    reports: Mapping[str, _Report], parts: Mapping[str, ReportPart], reading: Reading
) -> Iterator[Document]:
    for name, report in reports.items():
        document = None
        with reading.file(report.text):
            document = _document(name, report, parts, reading)
        if document is not None:
            yield document


def _document(
    name: str, report: _Report, parts: Mapping[str, ReportPart], reading: Reading
) -> Document:
    text = reading.text(report.text)
    if report.annotations is None:
        return Document(name, text)
    entities, extras = parts[report.part].read(report.annotations, report.text, text, reading)
    return Document(name, text, tuple(entities), extras=tuple(extras))


def pipe_reader(
    parse: Callable[[str, str, str], Entity], format: str, *, header: str | None = None
) -> ReadAnnotations:
    """Reads files with an entity a line, which `parse` takes from (line, report's name, text).

    Lines are kept as extras of `format`. A first line that starts with `header` is skipped.
    """

    def read(path: Path, report: Path, text: str, reading: Reading) -> Annotations:
        entities: list[Entity] = []
        extras: list[Extra] = []
        lines = reading.text(path, about=report).removeprefix("\ufeff").split("\n")
        for number, raw in enumerate(lines, 1):
            line = raw.rstrip("\r")
            is_header = number == 1 and header is not None and line.startswith(header)
            if line.strip() and not is_header:
                with reading.annotation(path=path, line=number):
                    entities.append(parse(line, report.name, text))
                    extras.append(Extra(format, line))
        return entities, extras

    return read


def same_report(named: str, report: str) -> bool:
    """Whether an annotation that names its report, with or without `.txt`, means this one."""
    return named.strip().removesuffix(".txt") == report.removesuffix(".txt")


def check_report(named: str, report: str) -> None:
    """Raises ValueError when an annotation names another report than its file."""
    if not same_report(named, report):
        raise ValueError(f"annotates {named}, but the file is for {report}")


def pairs(numbers: Sequence[str]) -> tuple[Fragment, ...]:
    """Starts and ends in turn as fragments."""
    return tuple((int(a), int(b)) for a, b in zip(numbers[::2], numbers[1::2], strict=True))
