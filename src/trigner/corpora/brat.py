"""brat standoff: a `.txt` with its `.ann` beside it.

Entities are `T1<TAB>Label 0 4;10 14<TAB>surface`. Fragments may stand in any order; the surface is
checked and never trusted. All other lines (relations, events, attributes, notes) are kept as they
are and written back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from trigner.corpora.reading import Reading, WriteReport, fault, read_text, write_text
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Extra, Fragment

NAME = "brat"

_ENTITY = re.compile(r"(\S+) (-?\d+ -?\d+(?:;-?\d+ -?\d+)*)")


def recognises(path: Path) -> bool:
    """A `.txt` or `.ann` file, or a folder with some anywhere below it."""
    if path.is_dir():
        return any(True for _ in _files(path, ".txt")) or any(True for _ in _files(path, ".ann"))
    return path.suffix in {".txt", ".ann"}


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each `.txt`, in the order of their ids. A missing `.ann` means no entities.

    An `.ann` without `.txt` raises InputError.
    """
    root = path if path.is_dir() else path.parent
    texts = list(_files(path, ".txt")) if path.is_dir() else [path.with_suffix(".txt")]
    if path.is_dir():
        for annotations in _files(path, ".ann"):
            if not annotations.with_suffix(".txt").is_file():
                raise InputError("has no .txt beside it", path=annotations)
    for text_path in texts:
        text = read_text(text_path)
        annotations = text_path.with_suffix(".ann")
        entities: list[Entity] = []
        extras: list[Extra] = []
        if annotations.is_file():
            _read_annotations(annotations, text, reading, entities, extras)
        name = text_path.relative_to(root).with_suffix("").as_posix()
        yield Document(name, text, tuple(entities), extras=tuple(extras))


def parse_entity(line: str, text: str) -> Entity | str:
    """The entity that a `T` line says, or what is wrong with it."""
    parts = line.split("\t", 2)
    match = _ENTITY.fullmatch(parts[1].strip()) if len(parts) > 1 else None
    if match is None:
        return "is no entity: expected id, tab, label and offsets, tab, surface"
    label, offsets = match.groups()
    given: list[Fragment] = []
    for pair in offsets.split(";"):
        start, end = pair.split()
        given.append((int(start), int(end)))
    fragments = tuple(sorted(given))
    wrong = fault(fragments, len(text))
    if wrong is not None:
        return wrong
    surface = " ".join(text[start:end] for start, end in fragments)
    if len(parts) == 3:
        claimed = parts[2].split()
        in_given_order = " ".join(text[start:end] for start, end in given)
        if claimed not in (surface.split(), in_given_order.split()):
            return f"surface {parts[2]!r} is not what the text has there: {surface!r}"
    return Entity(label, fragments, surface, id=parts[0])


def write(documents: Sequence[Document], path: Path) -> WriteReport:
    """One `.txt` and one `.ann` a document in the folder `path`."""
    root = path.resolve()
    dropped = {"scores": 0, "notes of other formats": 0, "given word boundaries": 0}
    for document in documents:
        target = path / f"{document.id}.txt"
        if not target.resolve().is_relative_to(root):
            raise InputError(f"document id {document.id!r} leads out of the folder", path=path)
        write_text(target, document.text)
        lines = [_line(name, e, document) for name, e in _named(document)]
        lines += [extra.content for extra in document.extras if extra.format == NAME]
        write_text(path / f"{document.id}.ann", "".join(line + "\n" for line in lines))
        dropped["scores"] += sum(e.score is not None for e in document.entities)
        dropped["notes of other formats"] += sum(e.format != NAME for e in document.extras)
        dropped["given word boundaries"] += document.words is not None
    return WriteReport(2 * len(documents), dropped)


def _files(folder: Path, suffix: str) -> Iterator[Path]:
    return iter(sorted(path for path in folder.rglob(f"*{suffix}") if path.is_file()))


def _read_annotations(
    path: Path, text: str, reading: Reading, entities: list[Entity], extras: list[Extra]
) -> None:
    seen: set[str] = set()
    for number, raw in enumerate(read_text(path).split("\n"), 1):
        line = raw.removesuffix("\r")
        if not line.strip():
            continue
        if not line.startswith("T"):
            extras.append(Extra(NAME, line))
            continue
        found = parse_entity(line, text)
        if isinstance(found, str):
            reading.bad(found, path=path, line=number)
        elif found.id in seen:
            reading.bad(f"the id {found.id} occurs twice", path=path, line=number)
        else:
            seen.add(found.id or "")
            entities.append(found)


def _named(document: Document) -> Iterator[tuple[str, Entity]]:
    """Entities with an id each: their own where it is a brat id and new, else the next free one."""
    own = [e.id for e in document.entities]
    taken: set[str] = {name for name in own if name is not None and re.fullmatch(r"T\S+", name)}
    used: set[str] = set()
    counter = 0
    for entity in document.entities:
        name = entity.id if entity.id in taken and entity.id not in used else None
        while name is None:
            counter += 1
            name = None if f"T{counter}" in taken else f"T{counter}"
        used.add(name)
        yield name, entity


def _line(name: str, entity: Entity, document: Document) -> str:
    offsets = ";".join(f"{start} {end}" for start, end in entity.fragments)
    surface = " ".join(document.surface(entity.fragments).split())
    label = re.sub(r"\s+", "_", entity.label)
    return f"{name}\t{label} {offsets}\t{surface}"
