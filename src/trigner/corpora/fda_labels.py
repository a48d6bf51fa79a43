"""Adverse reactions in FDA drug labels: the XML of TAC 2017, one file a label.

    <Label drug="NAME" track="TAC2017_ADR">
      <Text><Section id="S1" name="adverse reactions">text</Section></Text>
      <Mentions><Mention id="M1" section="S1" type="AdverseReaction" start="8,30" len="4,5"
        str="..."/></Mentions>
      <Relations>...</Relations><Reactions>...</Reactions>
    </Label>

Each section is a document `NAME_adverse_reactions`; offsets count from the first character of the
section's text, white space included. `start` and `len` are parallel lists, one item a fragment.
The same labels as brat files, `NAME_adverse_reactions.txt` with `.ann`, are read too.

Source: courtesy of the U.S. National Library of Medicine; Roberts et al., TAC 2017;
Demner-Fushman et al., Scientific Data 2018 (SPL-ADR-200db).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from trigner.corpora import brat
from trigner.corpora.folders import files_below
from trigner.corpora.parts import check_present, known_part, shipped_lists, shipped_pairs
from trigner.corpora.published import Counts, compared
from trigner.corpora.reading import Reading
from trigner.corpora.xml_elements import Element, begins_with, parse
from trigner.errors import InputError
from trigner.machine import counted
from trigner.mentions import Document, Entity, Extra, shortened

NAME = "spl-adr"
ENDINGS: tuple[str, ...] = (".xml", ".txt", ".ann")

_SOURCE = "the project's split of SPL-ADR-200db"
PUBLISHED: Mapping[str | None, Counts] = {
    "train": Counts(None, 9_467, 684, label="AdverseReaction", source=_SOURCE),
    "dev": Counts(None, 1_472, 108, label="AdverseReaction", source=_SOURCE),
    "test": Counts(None, 2_488, 160, label="AdverseReaction", source=_SOURCE),
}
"""By part; whole folders hold different selections of labels, so there is no count for None."""

_SECTION = re.compile(r"(.+?)_(adverse_reactions|boxed_warnings|warnings_and_precautions)")
# More digits than any text needs, and fewer than Python refuses to read.
_NUMBERS = re.compile(r"[0-9]{1,18}(,[0-9]{1,18})*")


def recognises(path: Path) -> bool:
    """XML that starts with a `<Label`. The brat form is recognised as brat."""
    found = _labels(path)
    return bool(found) and all(begins_with(file, "Label") for file in found)


def read(path: Path, reading: Reading, split: str | None = None) -> Iterator[Document]:
    """One document a section, for `path` a label's file or a folder with labels anywhere below.

    A part is the drugs that the package's list gives it. Raises InputError when there is no label,
    for XML that is not well formed or no label, and when nothing of the part is there.
    """
    labels = _labels(path)
    texts = files_below(path, (".txt",)) if path.is_dir() else []
    texts = [file for file in texts if _SECTION.fullmatch(file.stem)]
    if bool(labels) == bool(texts):
        found = "both labels as .xml and" if labels else "no label: looked for .xml, or"
        raise InputError(f"contains {found} DRUG_adverse_reactions.txt with .ann", path=path)
    beside = files_below(path, (".txt", ".ann")) if labels and path.is_dir() else []
    if beside:
        reading.note(f"{counted(len(beside), 'file')} skipped, no labels", path=path)
    named = ((_drug(name), documents) for name, documents in _documents(path, labels, reading))
    if split is not None:
        part = known_part(split, path=path)
        lists = shipped_lists(NAME)
        everything = list(named)
        check_present(lists, part, {drug for drug, _ in everything}, reading, root=path)
        named = ((drug, found) for drug, found in everything if drug in lists.parts[part])
    documents = (document for _, found in named for document in found)
    yield from compared(documents, PUBLISHED.get(split), reading, path=path)


def _documents(
    path: Path, labels: Sequence[Path], reading: Reading
) -> Iterator[tuple[str, Iterable[Document]]]:
    """Each label's drug with its documents; each brat document with its name."""
    for file in labels:
        label = parse(file, reading)
        yield label.attributes.get("drug", "").strip(), _sections(label, file, reading)
    if not labels:
        for document in brat.read(path, reading):
            yield document.id.rsplit("/", 1)[-1], (document,)


def _labels(path: Path) -> list[Path]:
    if path.is_dir():
        return files_below(path, (".xml",))
    return [path] if path.suffix.lower() == ".xml" else []


def _drug(name: str) -> str:
    """The name by which lists know the drug of a label or of a section's file.

    The lists have substances, as SPL-ADR-200db's brat files do; TAC's XML has products.
    """
    match = _SECTION.fullmatch(name)
    name = (name if match is None else match[1]).upper().replace(" ", "_")
    return shipped_pairs(NAME, "label-names.txt").get(name, name)


def _sections(label: Element, file: Path, reading: Reading) -> Iterator[Document]:
    drug = label.attributes.get("drug", "").strip()
    text = label.first("Text")
    if label.tag != "Label" or not drug or text is None or text.first("Section") is None:
        raise InputError(
            "is not a drug label: expected <Label drug=...> with <Text> and <Section>s in it",
            path=file,
            line=label.line,
        )
    sections: dict[str, Element] = {}
    for section in text.all("Section"):
        number, name = (section.attributes.get(key, "") for key in ("id", "name"))
        if not number or not name or number in sections:
            raise InputError(
                "each section needs an id of its own and a name", path=file, line=section.line
            )
        if section.children:
            # Text around the children would be torn apart, and offsets with it.
            raise InputError(
                f"section {number} has XML elements in its text", path=file, line=section.line
            )
        sections[number] = section
    entities = _mentions(label, sections, file, reading)
    extras = _extras(label, sections)
    for number, section in sections.items():
        name = f"{drug}_{section.attributes['name']}".replace(" ", "_")
        yield Document(name, section.text, tuple(entities[number]), extras=tuple(extras[number]))


def _mentions(
    label: Element, sections: dict[str, Element], file: Path, reading: Reading
) -> dict[str, list[Entity]]:
    entities: dict[str, list[Entity]] = {number: [] for number in sections}
    seen: set[str] = set()
    for mention in _inside(label, "Mentions", "Mention"):
        name, number = (mention.attributes.get(key, "") for key in ("id", "section"))
        with reading.annotation(path=file, line=mention.line):
            if number not in sections:
                raise ValueError(
                    f"mention {name} is in section {shortened(number)}, which does not exist"
                )
            if name in seen:
                raise ValueError(f"duplicate id {name}")
            entities[number].append(_entity(mention, sections[number].text))
            seen.add(name)
    return entities


def _entity(mention: Element, text: str) -> Entity:
    name = mention.attributes.get("id") or "without id"
    kind = mention.attributes.get("type", "")
    starts, lengths = ("".join(mention.attributes.get(key, "").split()) for key in ("start", "len"))
    if not kind or not _NUMBERS.fullmatch(starts) or not _NUMBERS.fullmatch(lengths):
        raise ValueError(f"mention {name}: expected a type and numbers by commas as start and len")
    pairs = list(zip(starts.split(","), lengths.split(","), strict=False))
    if starts.count(",") != lengths.count(","):
        raise ValueError(f"mention {name}: start and len have different numbers of items")
    given = [(int(start), int(start) + int(length)) for start, length in pairs]
    # XML turns line ends in attributes into blanks: only the words can be compared.
    claimed = mention.attributes.get("str")
    try:
        return Entity.in_text(text, kind, given, surface=claimed, id=name)
    except ValueError as error:
        raise ValueError(f"mention {name}: {error}") from error


def _extras(label: Element, sections: dict[str, Element]) -> dict[str, list[Extra]]:
    """Relations with the section of their first argument; what is on the whole label, with the
    first section."""
    first = next(iter(sections))
    section_of = {
        mention.attributes.get("id"): mention.attributes.get("section", first)
        for mention in _inside(label, "Mentions", "Mention")
    }
    extras: dict[str, list[Extra]] = {number: [] for number in sections}
    for group in label.children:
        if group.tag in {"Text", "Mentions"}:
            continue
        for child in group.children:
            number = section_of.get(child.attributes.get("arg1"), first)
            extras[number if number in extras else first].append(Extra(NAME, child.written()))
    return extras


def _inside(label: Element, group: str, tag: str) -> Iterator[Element]:
    for element in label.all(group):
        yield from element.all(tag)
