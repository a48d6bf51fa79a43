"""CADEC as it is unpacked: posts in `text/*.txt`, brat annotations in `original/*.ann`.

Source: Karimi et al., Journal of Biomedical Informatics 55 (2015), doi 10.4225/08/570FB102BDAD2.
The other folders (`meddra`, `sct`) hold codes, not mentions. All entity types are read; the
paper uses ADR only. Fragments are not always in text order, and a few surfaces are not what the
text has: offsets are kept, as Dai et al. do, and the surfaces are noted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trigner.corpora import brat
from trigner.corpora.brat_fields import note_of_fields
from trigner.corpora.folders import files_in, without_ending
from trigner.corpora.parts import NoPartError, check, known_part, lists_beside
from trigner.corpora.published import Counts, compared
from trigner.corpora.reading import Reading
from trigner.corpora.surfaces import Surfaces
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Fragment

NAME = "cadec"

PUBLISHED: Mapping[str | None, Counts] = {
    None: Counts(7_597, 6_318, 679, label="ADR"),
    "train": Counts(5_340, 4_430, 491, label="ADR"),
    "dev": Counts(1_097, 898, 94, label="ADR"),
    "test": Counts(1_160, 990, 94, label="ADR"),
}
"""By part; None is the whole corpus. The parts are those of Dai et al."""

ENDINGS: tuple[str, ...] = (".txt", ".ann")

_TEXT = "text"
_ANNOTATIONS = "original"


def recognises(path: Path) -> bool:
    """A folder with posts in `text` and nothing but their annotations in `original`."""
    root = _root(path) if path.is_dir() else None
    return (
        root is not None
        and bool(files_in(root / _TEXT, (".txt",)))
        and bool(files_in(root / _ANNOTATIONS, (".ann",)))
        # brat itself keeps texts and annotations together.
        and not files_in(root / _TEXT, (".ann",))
        and not files_in(root / _ANNOTATIONS, (".txt",))
    )


def read(path: Path, reading: Reading, split: str | None = None) -> Iterator[Document]:
    """One document a post; its id is the file's name without `.txt`.

    A part needs lists of ids (see `parts.lists_beside`). Raises InputError when a folder is
    missing and for annotations of a post that is not there.
    """
    root = _root(path) if path.is_dir() else None
    if root is None:
        raise InputError(
            f"is not CADEC as unpacked: looked for the folders {_TEXT} (with .txt) and"
            f" {_ANNOTATIONS} (with .ann) in it or in a folder cadec",
            path=path,
        )
    texts = _by_name(root / _TEXT, ".txt")
    notes = _by_name(root / _ANNOTATIONS, ".ann")
    for name, file in notes.items():
        if name not in texts:
            raise InputError(f"annotates {name}.txt, which is not in {_TEXT}", path=file)
    bare = [file for name, file in texts.items() if name not in notes]
    reading.missing(bare, of=len(texts), root=root)
    wanted = set(texts) if split is None else _part(path, root, split, set(texts), reading)
    surfaces = Surfaces(reading)
    pairs = {name: (file, notes.get(name)) for name, file in texts.items() if name in wanted}
    documents = _documents(pairs, reading, surfaces)
    yield from compared(documents, PUBLISHED[split], reading, path=root)
    surfaces.check_total(path=root)


def _root(path: Path) -> Path | None:
    # The archive may have been unpacked into a folder of its own: `cadec` inside or below that.
    for root in (path, *sorted(path.glob("cadec")), *sorted(path.glob("*/cadec"))):
        if (root / _TEXT).is_dir() and (root / _ANNOTATIONS).is_dir():
            return root
    return None


def _by_name(folder: Path, ending: str) -> dict[str, Path]:
    return {without_ending(f.name, (ending,)): f for f in files_in(folder, (ending,))}


def _part(path: Path, root: Path, split: str, names: set[str], reading: Reading) -> set[str]:
    part = known_part(split, path=path)
    lists = lists_beside(path) or lists_beside(root)
    if lists is None or part not in lists.parts:
        raise NoPartError(
            f"comes without parts: put a list of post ids into splits/{part}.txt", path=path
        )
    check(lists, names, reading, root=root)
    return set(lists.parts[part])


def _documents(
    pairs: Mapping[str, tuple[Path, Path | None]], reading: Reading, surfaces: Surfaces
) -> Iterator[Document]:
    for name, (file, annotated) in pairs.items():
        document = None
        with reading.file(file):
            raw = Document(name, reading.text(file))
            # Without annotations that cannot be decoded it would be one without entities.
            if annotated is None:
                document = raw
            else:
                lines = reading.text(annotated, about=file).removeprefix("\ufeff").split("\n")
                document = _annotated(raw, lines, annotated, reading, surfaces)
        if document is not None:
            yield document


def _annotated(
    document: Document, lines: Sequence[str], path: Path, reading: Reading, surfaces: Surfaces
) -> Document:
    entities: dict[str | None, Entity] = {}
    kept: list[str] = []
    for number, raw in enumerate(lines, 1):
        line = raw.rstrip("\r")
        if not line.strip():
            continue
        if brat.is_note(line):
            with reading.annotation(path=path, line=number):
                note_of_fields(line)  # whose JSON must be sound
                kept.append(line)
            continue
        parts = line.split("\t", 2)
        # Without its surface: in this corpus a surface that differs says nothing on the offsets.
        with reading.annotation(path=path, line=number):
            entity = brat.parse_entity("\t".join(parts[:2]), document.text)
            if entity.id in entities:
                raise ValueError(f"duplicate id {entity.id}")
            entities[entity.id] = entity
            if len(parts) == 3:
                given = _given(parts[1])
                surfaces.check(parts[2], document.text, given, path=path, line=number)
    return brat.with_notes(document, entities.values(), kept)


def _given(column: str) -> list[Fragment]:
    offsets = column.strip().split(" ", 1)[1]
    pairs = (pair.split() for pair in offsets.split(";"))
    return [(int(start), int(end)) for start, end in pairs]
