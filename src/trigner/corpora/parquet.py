"""Parquet: a row a document, with the columns of `row_documents`. Needs pyarrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from trigner.corpora.documents import all_end, read_items
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.row_documents import COLUMNS, MORE, document_of_row
from trigner.corpora.tables import parquet_rows, write_parquet
from trigner.mentions import Document

NAME = "parquet"
ENDINGS: tuple[str, ...] = (".parquet",)


def recognises(path: Path) -> bool:
    """`.parquet` files, whatever their columns are."""
    return all_end(path, ENDINGS)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all such files below a folder."""
    return read_items(path, ENDINGS, reading, document_of_row, parquet_rows)


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file; nothing is lost but types of fields that no column can have."""
    rows = (document.to_dict() for document in documents)
    return WriteReport(1, dict(write_parquet(rows, path, columns=COLUMNS, more=MORE)))
