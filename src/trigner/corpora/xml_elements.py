"""XML as plain elements that know their line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from trigner.corpora.reading import Reading
from trigner.errors import InputError

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that no XML can hold, not even as a reference."""

_DEPTH = 100


@dataclass(slots=True)
class Element:
    """One element. `text` is all character data directly inside it; line ends are line feeds."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        """The children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first child with this tag."""
        return next(self.all(tag), None)

    def written(self) -> str:
        """The element as XML on one line, without white space that only lays out its children."""
        from xml.sax.saxutils import escape, quoteattr  # brings urllib and ssl along

        start = self.tag + "".join(f" {k}={quoteattr(v)}" for k, v in self.attributes.items())
        text = self.text if self.text.strip() else ""
        inside = escape(text) + "".join(child.written() for child in self.children)
        return f"<{start}>{inside}</{self.tag}>" if inside else f"<{start}/>"


def parse(path: Path, reading: Reading) -> Element:
    """The root element of a file.

    Raises InputError, with the line, for what is not well formed, and for a document type
    declaration: only one of those can declare entities, and entities that expand without bound or
    name other files are how XML attacks its reader. None of the corpora has one. This is all that
    a package such as defusedxml would add, so the standard library's parser does.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=path) from error
    if b"\r" in data:
        reading.note(
            "has carriage returns: offsets count each line end as one character",
            path=path,
        )
    parser = expat.ParserCreate()
    parser.buffer_text = True
    root = Element("", {}, 0)
    open_elements = [root]
    texts: list[list[str]] = [[]]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(open_elements) > _DEPTH:
            raise InputError(
                f"has elements nested more than {_DEPTH} deep, which no corpus has",
                path=path,
                line=parser.CurrentLineNumber,
            )
        element = Element(tag, attributes, parser.CurrentLineNumber)
        open_elements[-1].children.append(element)
        open_elements.append(element)
        texts.append([])

    def end(tag: str) -> None:
        open_elements.pop().text = "".join(texts.pop())

    def characters(data: str) -> None:
        texts[-1].append(data)

    def doctype(*_: object) -> NoReturn:
        raise InputError(
            "has a document type declaration, which is refused for safety",
            path=path,
            line=parser.CurrentLineNumber,
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = expat.ErrorString(error.code)
        raise InputError(
            f"is not well-formed XML: {message}", path=path, line=error.lineno
        ) from error
    except (LookupError, ValueError) as error:  # an encoding that is declared and not known
        raise InputError(f"cannot be decoded: {error}", path=path) from error
    return root.children[0]


def begins_with(path: Path, tag: str) -> bool:
    """Whether a file's first element seems to be this one, to recognise a format by."""
    with path.open("rb") as file:
        start = file.read(4096).decode("utf-8", errors="replace")
    return f"<{tag}" in start
