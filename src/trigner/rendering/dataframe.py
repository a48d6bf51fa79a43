"""Documents as a data frame: a row an entity. Needs pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from trigner.errors import require_extra
from trigner.mentions import Document

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("document", "label", "text", "start", "end", "fragments", "score", "id")


def to_dataframe(documents: Document | Iterable[Document]) -> pd.DataFrame:
    """A row an entity: `COLUMNS`, then own fields of the entities and of their documents.

    `start` and `end` are those of the first and the last fragment. A field whose name is taken is
    called `entity.NAME` or `document.NAME`. Raises TrignerError without pandas.
    """
    require_extra("tables", "pandas")
    import pandas as pd

    found = [documents] if isinstance(documents, Document) else list(documents)
    of_entities = {name for d in found for e in d.entities for name in e.fields}
    rows: list[dict[str, Any]] = []
    for document in found:
        about = {
            f"document.{name}" if name in {*COLUMNS, *of_entities} else name: value
            for name, value in document.fields.items()
        }
        for entity in document.entities:
            fields = entity.fields.items()
            rows.append(
                {
                    "document": document.id,
                    "label": entity.label,
                    "text": entity.text,
                    "start": entity.fragments[0][0],
                    "end": entity.fragments[-1][1],
                    "fragments": entity.fragments,
                    "score": entity.score,
                    "id": entity.id,
                    **{f"entity.{n}" if n in COLUMNS else n: value for n, value in fields},
                    **about,
                }
            )
    frame = pd.DataFrame(rows, columns=None if rows else list(COLUMNS))
    return frame.astype({"score": "float64"})
