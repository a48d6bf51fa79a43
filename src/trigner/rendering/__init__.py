"""Documents and comparisons on a terminal and as HTML. No numpy, no torch."""

from trigner.rendering.columns import printable
from trigner.rendering.dataframe import to_dataframe
from trigner.rendering.differences import differences_page
from trigner.rendering.html import (
    asset,
    comparison_page,
    documents_page_parts,
    html_page,
    systems_page,
)
from trigner.rendering.notebook import document_html, register
from trigner.rendering.terminal import ASCII, UNICODE, Colours, drawing, entity_table, say, surface

__all__ = [
    "ASCII",
    "UNICODE",
    "Colours",
    "asset",
    "comparison_page",
    "differences_page",
    "document_html",
    "documents_page_parts",
    "drawing",
    "entity_table",
    "html_page",
    "printable",
    "register",
    "say",
    "surface",
    "systems_page",
    "to_dataframe",
]
