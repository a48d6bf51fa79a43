"""Texts as they are given to an extractor, and what is refused as it would be misread as texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

from trigner.errors import InputError
from trigner.mentions import Document, shortened


def as_document(text: str | Document, id: str) -> Document:
    """A text as a document with that id; a document as it is."""
    return text if isinstance(text, Document) else Document(id, text)


def as_documents(texts: Any) -> Iterator[Document]:
    """Texts as documents called after their places; documents as they are.

    Raises InputError at once for what is no iterable of texts, as a table is none, and when it
    comes to what is no text.
    """
    refuse_tables(texts)
    # A data set of PyTorch has a length and places, and no iterator of its own.
    if isinstance(texts, bytes | Mapping) or not isinstance(texts, Iterable | Sized):
        raise InputError(f"expected a text, a document or a list of them, not {shortened(texts)}")
    return _numbered(texts)


def checked_documents(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents. Raises InputError when it comes to what is none, by its place."""
    for number, document in enumerate(documents):
        given: object = document
        if not isinstance(given, Document):
            raise InputError(
                f"document {number} (counted from 0) is no Document: {shortened(given)}; call the"
                " model with texts, or make documents of them"
            )
        yield document


def checked_words(words: object) -> tuple[str, ...]:
    """The words of a sentence. Raises InputError for what is no list of strings."""
    refuse_tables(words)
    if isinstance(words, Iterable) and not isinstance(words, str | Mapping):
        found = tuple(words)
        if all(isinstance(word, str) for word in found):
            return found
    raise InputError("words are a list of strings")


def refuse_tables(texts: object) -> None:
    """Raises InputError for a data frame or another table of columns with names.

    Who goes through one meets these names, or columns, and no texts.
    """
    # Asked of the class: a column of pandas has what its index names as attributes.
    of_class = type(texts)
    has_columns = hasattr(of_class, "columns") or hasattr(of_class, "column_names")
    if has_columns and hasattr(of_class, "__getitem__"):
        raise InputError(
            f"a table ({of_class.__name__}) was given: give its column of texts, such as"
            ' table["text"]; to have entities next to its rows see'
            " trigner.integrations.pandas.annotate, or `trigner annotate` for files"
        )


def _numbered(texts: Any) -> Iterator[Document]:
    for number, text in enumerate(texts):
        if not isinstance(text, str | Document):
            raise InputError(f"text {number} (counted from 0) is not a text: {shortened(text)}")
        yield as_document(text, str(number))
