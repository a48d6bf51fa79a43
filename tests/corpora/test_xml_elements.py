from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trigner.corpora.reading import Reading
from trigner.corpora.xml_elements import Element, begins_with, parse

LEGAL = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufffe\uffff"),
    max_size=30,
)


def parsed(tmp_path, content):
    file = tmp_path / "a.xml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return parse(file, Reading())


def test_elements_know_their_text_line_and_children(tmp_path):
    root = parsed(tmp_path, '<a x="1">\n <b>one</b>\n\n <c/><b y="2"> two &lt; 3 </b></a>')
    assert (root.tag, root.attributes, root.line) == ("a", {"x": "1"}, 1)
    assert [(b.text, b.line) for b in root.all("b")] == [("one", 2), (" two < 3 ", 4)]
    assert root.first("c").children == []
    assert root.first("d") is None


def test_text_is_kept_to_the_character(tmp_path):
    text = "\n\n   6 REACTIONS\n\t*  \u00b5g \u2265 5 \U0001f600 \u00a0\n  "
    assert parsed(tmp_path, f"<a>{text}</a>").text == text
    long = "word \n" * 20_000
    assert parsed(tmp_path, f"<a>{long}</a>").text == long


def test_sections_that_are_not_parsed_are_text(tmp_path):
    assert parsed(tmp_path, "<a>x <![CDATA[<b> & ]]>y</a>").text == "x <b> & y"


def test_carriage_returns_are_told(tmp_path):
    file = tmp_path / "a.xml"
    file.write_bytes(b"<a>one\r\ntwo</a>")
    reading = Reading()
    assert parse(file, reading).text == "one\ntwo"
    assert "carriage returns" in reading.notices[0].message


def test_other_encodings_are_read_as_declared(tmp_path):
    content = '<?xml version="1.0" encoding="ISO-8859-1"?><a>caf\xe9</a>'.encode("latin-1")
    assert parsed(tmp_path, content).text == "caf\xe9"


@pytest.mark.parametrize(
    "content",
    [
        "<a>\n<b></a>",
        "",
        "<a>\n\n&unknown;</a>",
        "<a/>\n<b/>",
        b"<a>\xff</a>",
    ],
)
def test_what_is_not_well_formed_is_named_with_its_line(tmp_path, content, refused):
    with refused("a.xml"):
        parsed(tmp_path, content)


def test_an_unknown_encoding_is_refused(tmp_path, refused):
    with refused("a.xml"):
        parsed(tmp_path, '<?xml version="1.0" encoding="no-such-thing"?><a/>')


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]>',
        '<!DOCTYPE a SYSTEM "a.dtd">',
        "<!DOCTYPE a>",
    ],
)
def test_a_document_type_declaration_is_refused(tmp_path, doctype, refused):
    with refused("a.xml", 2):
        parsed(tmp_path, f'<?xml version="1.0"?>\n{doctype}\n<a>&c;</a>')


def test_a_missing_file_is_an_input_error(tmp_path, refused):
    with refused("nothing.xml"):
        parse(tmp_path / "nothing.xml", Reading())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(LEGAL, LEGAL)
def test_what_is_written_reads_back(tmp_path, value, text):
    element = Element("a", {"k": value}, 1, text, [Element("b", {}, 1)])
    root = parsed(tmp_path, element.written())
    assert root.attributes == {"k": value}
    assert root.text == (text if text.strip() else "")
    assert root.first("b") is not None


def test_layout_between_children_is_not_written(tmp_path):
    root = parsed(tmp_path, '<a>\n  <b x="1"/>\n  <c>d</c>\n</a>')
    assert root.written() == '<a><b x="1"/><c>d</c></a>'


def test_a_file_is_recognised_by_its_first_element(tmp_path):
    file = tmp_path / "a.xml"
    file.write_bytes(b'<?xml version="1.0"?>\n<Label drug="X">\xff')
    assert begins_with(file, "Label")
    assert not begins_with(file, "annotations")
