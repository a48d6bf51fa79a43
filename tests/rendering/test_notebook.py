"""What notebooks show of a document: its text, marked, and nothing that runs."""

from __future__ import annotations

import importlib
import re
import sys
from html import unescape
from types import SimpleNamespace

import pytest
from hypothesis import given

from random_documents import documents
from trigner.mentions import Document, Entity
from trigner.rendering.notebook import CHARACTERS, ENTITIES, document_html, register


@given(documents(scored=True))
def test_the_text_is_there_once_and_stays_text(made):
    for document in made:
        shown = document_html(document)
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


def test_numbers_are_in_order_whoever_begins_first():
    entities = (Entity("X", ((8, 13),), "hands"), Entity("Y", ((0, 13),), "pain in hands"))
    shown = document_html(Document("d", "pain in hands", entities))
    colours = re.findall(r'style="background: ([^;]*);', shown)
    assert len(colours) == len({*colours}) == 2  # the first of several has its own
    assert re.findall(r'title="([^"]*)">([^<]*)<sub>([^<]*)</sub>', shown) == [
        ("Y", "pain in ", "2"),
        ("X, Y", "hands", "1,2"),
    ]


def test_the_table_has_scores_and_more_labels_than_colours():
    entities = tuple(Entity(f"L{n}", ((0, 4),), "pain", n / 8) for n in range(8))
    shown = document_html(Document("d", "pain", entities))
    assert "<td>6</td><td>L5</td><td>pain</td><td>0.62</td>" in shown
    assert "<p>8 entities</p>" in shown
    assert "<p>1 entity</p>" in document_html(Document("d", "pain", entities[:1]))


def test_entities_are_cut_where_the_text_is():
    end = CHARACTERS
    entities = tuple(
        Entity("X", own, "a") for own in (((end - 2, end + 4),), ((end + 5, end + 9),))
    )
    shown = document_html(Document("d", "a" * (end + 20), entities))
    assert shown.count("<mark") == 1
    assert ">aa<sub>1</sub></mark></div>" in shown
    assert "more" not in document_html(Document("d", "a" * end, entities[:1]))


def test_a_fragment_without_characters_has_no_mark():
    shown = document_html(Document("d", "a b", (Entity("X", ((1, 1), (2, 3)), "b"),)))
    assert re.findall(r"<mark [^>]*>([^<]*)", shown) == ["b"]


def test_what_is_not_shown_is_counted():
    text = "pain " * CHARACTERS
    entities = tuple(Entity("X", ((n, n + 4),), "pain") for n in range(0, 5 * ENTITIES + 5, 5))
    shown = document_html(Document("d", text, entities))
    assert "20,000 more characters, 1 more entities" in shown
    assert len(re.findall("<tr>", shown)) == 1 + ENTITIES
    assert len(shown) < 200_000


def test_half_a_character_is_shown_as_one_that_is_missing():
    text = "pain \ud83d and 🤕"
    entity = Entity("X", ((0, len(text)),), text)
    shown = document_html(Document("d", text, (entity,)))
    assert shown.encode().decode().count("pain \ufffd and 🤕") == 2


@pytest.fixture
def shown(monkeypatch):
    """The types that a notebook shows as HTML, with what makes it, as IPython has them."""
    found = {}
    formatter = SimpleNamespace(for_type=found.__setitem__)
    display = SimpleNamespace(formatters={"text/html": formatter})
    shell = SimpleNamespace(display_formatter=display)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    return found


def test_a_notebook_shows_documents_once_the_package_is_imported(shown):
    importlib.reload(sys.modules["trigner"])
    assert shown == {Document: document_html}


def test_without_a_running_notebook_nothing_is_registered(monkeypatch):
    for ipython in (SimpleNamespace(get_ipython=lambda: None), None):
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        register()
