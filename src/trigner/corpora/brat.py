"""brat standoff: a `.txt` with its `.ann` next to it.

Entities are `T1<TAB>Label 0 4;10 14<TAB>surface`. Fragments may stand in any order; the surface is
checked, never trusted and written anew from the text: fragments come back sorted, without the
blanks at the end that some published surfaces have and the text has not. Attributes of entities are
their fields (`brat_fields`); relations, events, normalisations, notes and other attributes (lines
that start with R, E, A, M, N, # or *) are kept as they are and written back, but
for those that name an entity that was left out (`references`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from trigner.corpora.brat_fields import document_fields, fields_in, lines_of, note_of_fields
from trigner.corpora.documents import files, name_below
from trigner.corpora.folders import has_ending, is_hidden, walk, without_ending
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.strict_json import FLAWS
from trigner.errors import InputError
from trigner.machine import write_new_text, write_text
from trigner.mentions import Document, Entity, Extra, Fragment, check_fragments, shortened

NAME = "brat"
ENDINGS: tuple[str, ...] = (".txt", ".ann", ".a1", ".a2")

# More digits than any text needs, and fewer than Python refuses to read.
_PAIR = r"-?[0-9]{1,18} -?[0-9]{1,18}"
_ENTITY = re.compile(rf"(\S+) ({_PAIR}(?:;{_PAIR})*)")
_ID = re.compile(r"T\S+")
_KEPT = ("R", "E", "A", "M", "N", "#", "*")
_REFERRED = re.compile(r"\bT\S*?\b")
_MALFORMED = "is not an entity: expected id, tab, label and offsets, tab, surface"
_LONGEST_NAME = 200  # bytes: file systems take 255, with endings, and more while it is written
_LINE_BREAKS = re.compile(r"[\r\n]+")


def recognises(path: Path) -> bool:
    """A `.txt` or `.ann` file, or a folder with some anywhere below it."""
    if path.is_dir():
        return next(walk(path, (".txt", ".ann")), None) is not None
    return has_ending(path.name, (".txt", ".ann"))


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each `.txt`, in the order of their paths. No `.ann` means no entities.

    In a corpus with annotations, texts without any are counted, see `Reading.missing`. Raises
    InputError for an `.ann` without `.txt`, and for BioNLP's `.a1` and `.a2`, which are not brat's
    own.
    """
    root = path if path.is_dir() else path.parent
    found = files(path, ENDINGS) if path.is_dir() else _pair(path)
    for file in found:
        if has_ending(file.name, (".a1", ".a2")):
            message = ".a1 and .a2 files are not supported: merge them into one .ann"
            raise InputError(message, path=file)
    texts = _by_stem(file for file in found if has_ending(file.name, (".txt",)))
    annotations = _by_stem(file for file in found if not has_ending(file.name, (".txt",)))
    if not found:
        raise InputError("contains no .txt or .ann file", path=path)
    for stem, file in annotations.items():
        if stem not in texts:
            raise InputError("has no matching .txt", path=file)
    if annotations:
        bare = [file for stem, file in texts.items() if stem not in annotations]
        reading.missing(bare, of=len(texts), root=root)
    for stem, file in texts.items():
        document = None
        with reading.file(file):
            raw = Document(name_below(file, root), reading.text(file))
            # Without annotations that cannot be decoded it would be one without entities.
            given = annotations.get(stem)
            document = raw if given is None else annotated_document(raw, file, given, reading)
        if document is not None:
            yield document


def annotated_document(document: Document, file: Path, path: Path, reading: Reading) -> Document:
    """The text of a file with the annotations of the `.ann` at `path`."""
    entities: list[Entity] = []
    kept: list[str] = []
    lines = reading.text(path, about=file).removeprefix("\ufeff").split("\n")
    _read_annotations(lines, path, document.text, reading, entities, kept)
    return with_notes(document, entities, kept)


def with_notes(document: Document, entities: Iterable[Entity], lines: Sequence[str]) -> Document:
    """A text with its entities and what the other lines of an `.ann` say."""
    found = tuple(entities)
    fields, others = fields_in(lines, {entity.id or "" for entity in found}, document.text)
    return replace(
        document,
        entities=tuple(replace(e, fields=fields[e.id]) if e.id in fields else e for e in found),
        extras=tuple(Extra(NAME, line) for line in others),
        fields=document_fields(fields),
    )


def parse_entity(line: str, text: str) -> Entity:
    """The entity of a `T` line; the surface may be missing. Raises ValueError for anything else."""
    parts = line.split("\t", 2)
    match = _ENTITY.fullmatch(parts[1].strip()) if len(parts) > 1 else None
    if match is None or not _ID.fullmatch(parts[0]):
        raise ValueError(_MALFORMED)
    pairs = (pair.split() for pair in match[2].split(";"))
    fragments = [(int(start), int(end)) for start, end in pairs]
    claimed = parts[2] if len(parts) > 2 else None
    return Entity.in_text(text, match[1], fragments, surface=claimed, id=parts[0])


def is_note(line: str) -> bool:
    """Whether a line is read as a note, whatever it says, and never as an entity."""
    return line.startswith(_KEPT) and "\n" not in line and not line.endswith("\r")


def _is_read(line: str) -> bool:
    """Whether `read` takes a line for a note."""
    try:
        note_of_fields(line)
    except FLAWS:
        return False
    return is_note(line)


def checked(
    documents: Iterable[Document],
    path: Path,
    endings: Sequence[str] = (".txt", ".ann"),
    beside: Sequence[str] = (),
) -> Iterator[Document]:
    """The documents as they come; each is to have files with these endings in the folder `path`,
    `beside` those of all.

    Raises InputError for ids that occur twice or are no file names there, for one that needs a
    folder where another has a file, and for entities without a label or a fragment.
    """
    ids: set[str] = set()
    files = {*beside}
    folders: set[str] = set()
    for document in documents:
        _check(document, path)
        if document.id in ids:
            raise InputError(f"duplicate document id {shortened(document.id)}", path=path)
        ids.add(document.id)
        own = {document.id + ending for ending in endings}
        above = {str(folder) for folder in PurePosixPath(document.id).parents}
        files |= own
        folders |= above
        if both := sorted(above & files | own & folders):
            message = f"document id {shortened(document.id)}: {shortened(both[0])} would be a file"
            raise InputError(f"{message} and a folder", path=path)
        yield document


def write(documents: Iterable[Document], path: Path, *, overwrite: bool = True) -> WriteReport:
    """One `.txt` and one `.ann` a document in the folder `path`.

    Without `overwrite` another file of one of these names is left as it is, and ends the writing.
    A fragment that spans lines is written as one for each line, as brat has it. Raises InputError
    as `checked`: for a sequence of documents before anything is written, for a stream of them when
    it comes to the one that is refused. Raises TrignerError when a file cannot be written.
    """
    dropped = {"scores": 0, "entity ids": 0, "blanks in labels": 0}
    dropped |= {"extras of other formats": 0, "extras that are not lines of brat": 0}
    dropped |= {"given word boundaries": 0}
    files = 0
    put = write_text if overwrite else write_new_text
    stream = checked(documents, path)
    for document in list(stream) if isinstance(documents, Sequence) else stream:
        named = _named(document)
        lines = [_line(name, entity, document) for name, entity in named]
        notes = [extra.content for extra in document.extras if extra.format == NAME]
        kept = [note for note in notes if _is_read(note)]
        lines += [*lines_of(document, named, kept), *kept]
        # The text comes last: annotations without it are refused, while a text without
        # annotations would look like one in which nothing was found.
        put(path / f"{document.id}.ann", "".join(line + "\n" for line in lines))
        put(path / f"{document.id}.txt", document.text)
        entities = document.entities
        dropped["scores"] += sum(e.score is not None for e in entities)
        dropped["entity ids"] += sum(e.id is not None and e.id != name for name, e in named)
        dropped["blanks in labels"] += sum(_label(e) != e.label for e in entities)
        dropped["extras that are not lines of brat"] += len(notes) - len(kept)
        dropped["extras of other formats"] += sum(e.format != NAME for e in document.extras)
        dropped["given word boundaries"] += document.words is not None
        files += 2
    return WriteReport(files, dropped)


def _pair(path: Path) -> list[Path]:
    """A file and the one that belongs to it, if that is there."""
    other = (".txt", ".TXT") if has_ending(path.name, (".ann",)) else (".ann", ".ANN")
    name = without_ending(path.name, ENDINGS)
    beside = [path.with_name(name + ending) for ending in other]
    return [path, *[file for file in beside if file.is_file()][:1]]


def _by_stem(found: Iterable[Path]) -> dict[Path, Path]:
    files: dict[Path, Path] = {}
    for file in found:
        # Joined to a name, as nothing may stand before the ending.
        stem = file.parent / (without_ending(file.name, ENDINGS) or ".")
        if stem in files:
            raise InputError(f"has the same name as {files[stem].name}", path=file)
        files[stem] = file
    return files


def _read_annotations(
    lines: Sequence[str],
    path: Path,
    text: str,
    reading: Reading,
    entities: list[Entity],
    kept: list[str],
) -> None:
    seen: set[str | None] = set()
    for number, raw in enumerate(lines, 1):
        line = raw.removesuffix("\r")
        if not line.strip():
            continue
        if line.startswith(_KEPT):
            with reading.annotation(path=path, line=number):
                note_of_fields(line)  # whose JSON must be sound
                kept.append(line)
            continue
        if not line.startswith("T"):
            reading.bad(f"is not an annotation: {shortened(line)}", path=path, line=number)
            continue
        # A line that ends early has nothing that its offsets could be checked against.
        with reading.annotation(path=path, line=number):
            entity = parse_entity(line if line.count("\t") > 1 else "", text)
            if entity.id in seen:
                raise ValueError(f"duplicate id {entity.id}")
            seen.add(entity.id)
            entities.append(entity)


def _check(document: Document, path: Path) -> None:
    parts = document.id.split("/")
    legal = all(part not in ("", ".", "..") and "\0" not in part for part in parts)
    if legal and any(map(is_hidden, parts)):
        message = f"document id {shortened(document.id)} would be a hidden file, which readers skip"
        raise InputError(message, path=path)
    if any(len(part.encode("utf-8", "replace")) > _LONGEST_NAME for part in parts):
        message = f"document id {shortened(document.id)} is too long for the name of a file"
        raise InputError(message, path=path)
    inside = legal and not PurePosixPath(document.id).is_absolute()
    target = path / f"{document.id}.txt"
    if not inside or not target.resolve().is_relative_to(path.resolve()):
        message = f"document id {shortened(document.id)} is not a valid file name in the folder"
        raise InputError(message, path=path)
    for entity in document.entities:
        try:
            check_fragments(sorted(entity.fragments), len(document.text))
            if not entity.label.strip():
                raise ValueError("an entity without a label")
        except ValueError as error:
            raise InputError(f"document {shortened(document.id)}: {error}", path=path) from error


def _named(document: Document) -> list[tuple[str, Entity]]:
    """Entities with an id each: their own where it is a brat id and new, else one that is free.

    Ids that relations or notes refer to are not free: they would refer to another entity.
    """
    taken = {e.id for e in document.entities if e.id is not None}
    for extra in document.extras:
        if extra.format == NAME:
            taken.update(_REFERRED.findall(extra.content))
    found: list[tuple[str, Entity]] = []
    used: set[str] = set()
    counter = 0
    for entity in document.entities:
        name = entity.id
        if name is None or name in used or not _ID.fullmatch(name):
            counter += 1
            while f"T{counter}" in taken:
                counter += 1
            name = f"T{counter}"
        used.add(name)
        found.append((name, entity))
    return found


def _line(name: str, entity: Entity, document: Document) -> str:
    fragments = [piece for f in entity.fragments for piece in _lines_of(f, document.text)]
    offsets = ";".join(f"{start} {end}" for start, end in fragments)
    surface = re.sub(r"[\t\r\n]", " ", document.surface(fragments))
    return f"{name}\t{_label(entity)} {offsets}\t{surface}"


def _lines_of(fragment: Fragment, text: str) -> list[Fragment]:
    """The parts of a fragment between line breaks; the fragment itself when it has nothing else."""
    start, end = fragment
    pieces = []
    for line_break in _LINE_BREAKS.finditer(text, start, end):
        pieces.append((start, line_break.start()))
        start = line_break.end()
    pieces.append((start, end))
    return [(a, b) for a, b in pieces if a < b] or [fragment]


def _label(entity: Entity) -> str:
    return re.sub(r"\s+", "_", entity.label)
