"""What notebooks show of a document: its text, marked, and nothing that runs."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import given

from random_documents import documents
from trigner.mentions import Document, Entity
from trigner.rendering import document_html
from trigner.rendering.notebook import CHARACTERS, ENTITIES


@given(documents(scored=True))
def test_the_text_is_there_once_and_stays_text(made):
    for document in made:
        shown = document._repr_html_()
        text = re.search(r"^<div [^>]*>(.*)</div><table>", shown, re.DOTALL)[1]
        text = re.sub(r"<sub>[\d,]*</sub></mark>|<mark [^>]*>", "", text)
        assert unescape(text) == document.text or "&" in document.text
        assert len(re.findall("<tr>", shown)) == 1 + len(document.entities)


def test_markup_in_texts_and_labels_is_escaped():
    text = "<script>alert(1)</script>"
    entity = Entity('<b "x">', ((0, 8),), text[:8], 0.5)
    shown = document_html(Document("d", text, (entity,)))
    assert "<script" not in shown
    assert "<b " not in shown
    assert 'title="&lt;b &quot;x&quot;&gt;"' in shown


def test_fragments_have_the_number_of_their_entity():
    entities = (Entity("X", ((0, 4), (8, 13)), "pain hands"), Entity("Y", ((0, 7),), "pain in"))
    shown = document_html(Document("d", "pain in hands", entities))
    assert re.findall(r'title="([^"]*)">([^<]*)<sub>([^<]*)</sub>', shown) == [
        ("X, Y", "pain", "1,2"),
        ("Y", " in", "2"),
        ("X", "hands", "1"),
    ]


def test_what_is_not_shown_is_counted():
    text = "pain " * CHARACTERS
    entities = tuple(Entity("X", ((n, n + 4),), "pain") for n in range(0, 5 * ENTITIES + 5, 5))
    shown = document_html(Document("d", text, entities))
    assert "20,000 more characters, 1 more entities" in shown
    assert len(shown) < 200_000
