"""CSV with named columns: a row a document, with the columns of `row_documents`.

Columns are separated by commas, semicolons, tabs or bars. What is written is quoted as RFC 4180 has
it, and values that are not texts are JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from trigner.corpora.documents import Item, files, peek, read_items
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.row_documents import COLUMNS, MORE, document_of_row
from trigner.corpora.tables import ID, TEXT, csv_columns, csv_rows, write_csv
from trigner.mentions import Document

NAME = "csv"
ENDINGS: tuple[str, ...] = (".csv", ".tsv")


def recognises(path: Path) -> bool:
    """`.csv`, and `.tsv` with a column `text`."""
    found = files(path, ENDINGS)
    return bool(found) and all(map(_is_table, found))


def _is_table(file: Path) -> bool:
    # Which column holds the texts can be told by name: any table may be one of documents.
    return file.suffix.lower() == ".csv" or (
        file.suffix.lower() == ".tsv" and TEXT in csv_columns(peek(file), TEXT)[1]
    )


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all such files below a folder."""
    return read_items(path, ENDINGS, reading, _document, csv_rows)


def _document(item: Item) -> Document:
    """An empty cell is a field that its document lacks; a text may be empty."""
    own = (item.reading.text_column or TEXT, item.reading.id_column or ID)
    row = {name: cell if name in own or cell else None for name, cell in item.value.items()}
    return document_of_row(replace(item, value=row))


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file; nothing is lost but types of fields that are not texts, and empty fields."""
    rows = (document.to_dict() for document in documents)
    return WriteReport(1, dict(write_csv(rows, path, columns=COLUMNS, more=MORE)))
