from __future__ import annotations

import io
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from random_documents import documents
from trigner.mentions import Document, Entity
from trigner.rendering.columns import columns_of, runs_right_to_left
from trigner.rendering.snippets import snippets
from trigner.rendering.terminal import (
    ASCII,
    UNICODE,
    Colours,
    drawing,
    entity_table,
    remarks,
    say,
    surface,
)

TEXT = "Pain and cramping in my hands and lower legs."


def document(text, *found):
    entities = []
    for label, *pieces in found:
        fragments, after = [], 0
        for piece in pieces:
            start = text.index(piece, after)
            after = start + len(piece)
            fragments.append((start, after))
        entities.append(Entity(label, tuple(fragments), " ".join(pieces), 0.5))
    return Document("d", text, tuple(entities))


def drawn(made, width=80, marks=UNICODE):
    return [line.plain for line in drawing(made, width=width, marks=marks)]


def test_shared_fragments_and_nesting():
    made = document(
        TEXT,
        ("ADR", "Pain", "in my hands"),
        ("ADR", "Pain", "in my", "lower legs"),
        ("Site", "hands"),
    )
    lines = drawn(made)
    assert lines[0] == "           " + TEXT
    assert lines[1] == "ADR  0.50  ┗━━┛╌╌╌╌╌╌╌╌╌╌╌╌╌╌┗━━━┛╌╌╌╌╌╌╌╌╌╌╌┗━━━━━━━━┛"
    assert lines[2] == "ADR  0.50  ┗━━┛╌╌╌╌╌╌╌╌╌╌╌╌╌╌┗━━━━━━━━━┛"
    assert lines[3] == "Site 0.50                          ┗━━━┛"


def test_wrapped_lines_go_on_visibly():
    made = document(TEXT, ("ADR", "Pain", "in my", "lower legs"), ("ADR", "my hands and lower"))
    assert drawn(made, width=34) == [
        "          Pain and cramping in",
        "ADR 0.50  ┗━━┛╌╌╌╌╌╌╌╌╌╌╌╌╌╌┗━━▸",
        "          my hands and lower",
        "ADR 0.50  ━┛╌╌╌╌╌╌╌╌╌╌╌┗━━━━━▸",
        "ADR 0.50  ┗━━━━━━━━━━━━━━━━┛",
        "          legs.",
        "ADR 0.50  ━━━┛",
        "",
    ]


def test_without_unicode():
    made = document("I hurt a lot", ("ADR", "I", "lot"))
    assert drawn(made, marks=ASCII)[1] == "ADR 0.50  ^........\\_/"


def test_wide_combining_and_control_characters():
    made = document("\u982d\u75db \U0001f631 cafe\u0301\x1b\r\nrash", ("ADR", "\u75db", "rash"))
    text, track, *_ = drawn(made)
    assert text == "          \u982d\u75db \U0001f631 cafe\u0301\ufffd rash"
    assert track == "ADR 0.50    ┗┛╌╌╌╌╌╌╌╌╌╌┗━━┛"


def test_right_to_left_text_has_a_list_in_place_of_tracks():
    made = document(
        "\u05db\u05d0\u05d1 \u05d7\u05d6\u05e7 \u05d1\u05d9\u05d3",
        ("ADR", "\u05db\u05d0\u05d1", "\u05d1\u05d9\u05d3"),
    )
    lines = drawn(made)
    assert lines[:2] == [made.text, "ADR 0.50  \u05db\u05d0\u05d1 … \u05d1\u05d9\u05d3"]


def test_sentences_without_entities_are_counted():
    made = document("No pain. A rash came. It went. All well.", ("ADR", "rash"))
    lines = drawn(made)
    assert "A rash came." in lines[0]
    assert not any("well" in line for line in lines)
    assert "3 sentences without entities" in lines
    assert not any("without" in line.plain for line in drawing(made, width=80, is_whole=False))


def test_long_labels_are_cut_in_tracks_and_whole_in_the_table():
    label = "a_label_that_does_not_fit_anywhere"
    made = document("a rash", (label, "rash"))
    track = drawn(made)[1]
    assert track == "a_label_that_does_… 0.50    ┗━━┛"
    out = io.StringIO()
    Console(file=out, width=100).print(entity_table(made))
    assert label in out.getvalue()
    out = io.StringIO()
    Console(file=out, width=30).print(entity_table(made))
    assert all(part in out.getvalue() for part in ("a_label", "rash", "2-6", "0.500"))


def test_what_only_a_line_break_parts_is_one_piece():
    made = Document("d", "red\n eye", (Entity("ADR", ((0, 3), (5, 8)), "", 0.5),))
    assert surface(made, made.entities[0]) == "red eye"


def test_the_table_lets_no_control_character_through():
    fields = {"code": "\x1b[3J"}
    made = Document("d", "a \x1b[2Jrash", (Entity("\x1b]0;x", ((2, 10),), "", 0.5, None, fields),))
    out = io.StringIO()
    Console(file=out, width=100, force_terminal=True, color_system=None).print(entity_table(made))
    assert "\x1b[2J" not in out.getvalue()
    assert "\x1b]0" not in out.getvalue()
    assert "\x1b[3J" not in out.getvalue()
    assert not any("\x1b" in line for line in drawn(made))


def test_colours_are_those_of_labels_and_absent_in_a_pipe():
    made = document(TEXT, ("ADR", "Pain"), ("Site", "hands"))
    colours = Colours()
    lines = list(drawing(made, width=80, colours=colours))
    assert colours.of("ADR") != colours.of("Site")
    assert any(span.style == colours.of("Site") for span in lines[2].spans)
    pipe, terminal = io.StringIO(), io.StringIO()
    Console(file=pipe, width=80).print(lines[1])
    Console(
        file=terminal, width=80, force_terminal=True, color_system="standard", _environ={}
    ).print(lines[1])
    assert "\x1b" not in pipe.getvalue()
    assert "\x1b[36m" in terminal.getvalue()


def test_after_six_labels_colours_come_again():
    colours = Colours()
    names = [colours.of(str(n)) for n in range(8)]
    assert len({*names[:6]}) == 6
    assert names[6:] == names[:2]
    assert colours.of("3") == names[3]


def test_nothing_is_drawn_of_a_document_without_entities():
    assert drawn(document("No pain. All well.")) == []


def test_the_table_tells_a_score_of_0_from_none():
    entities = (Entity("X", ((0, 4),), "Pain", 0.0), Entity("X", ((18, 20),), "in"))
    out = io.StringIO()
    Console(file=out, width=80).print(entity_table(Document("d", TEXT, entities)))
    assert [line.split() for line in out.getvalue().splitlines()[1:]] == [
        ["X", "Pain", "0-4", "0.000"],
        ["X", "in", "18-20"],
    ]


def test_a_fragment_of_one_column_is_marked_in_its_own_line_alone():
    made = document("x" + "a" * 19 + "b" * 9 + "y", ("ADR", "x", "y"))
    assert drawn(made, width=32)[1::2] == [f"ADR 0.50  ╹{'╌' * 19}▸", f"ADR 0.50  {'╌' * 9}╹"]


def test_what_ends_with_a_line_does_not_go_on():
    margin, track = " " * 10, f"ADR 0.50  ┗{'━' * 18}┛"
    made = document("a" * 20 + "b" * 10, ("ADR", "a" * 20))
    assert drawn(made, width=32) == [margin + "a" * 20, track, margin + "b" * 10, ""]
    made = document(made.text, ("ADR", "a" * 20, "bbb"))
    lines = [margin + "a" * 20, track + "▸", margin + "b" * 10, "ADR 0.50  ┗━┛", ""]
    assert drawn(made, width=32) == lines


WIDE = 10  # columns before the text: "ADR 0.50" and two blanks


def marked(made, columns, width):
    """Column of the unwrapped text -> the mark under it, for a document with one entity."""
    lines = drawn(made, width)
    found = {}
    for first, last in columns.lines(width - WIDE - 2):
        line = " " * WIDE + columns.shown(first, last)
        assert lines.pop(0).rstrip(" ") == line.rstrip(" ")
        if lines[0].startswith("ADR"):
            track = lines.pop(0)[WIDE:].removesuffix(UNICODE.goes_on)
            assert len(track) <= last - first
            found |= {first + i: mark for i, mark in enumerate(track) if mark != " "}
    return found


@given(documents(), st.integers(34, 60), st.data())
def test_every_fragment_is_marked_once_under_its_columns(made, width, data):
    source = data.draw(st.sampled_from(made))
    assume(source.entities)
    fragments = data.draw(st.sampled_from(source.entities)).fragments
    own = Document("d", source.text, (Entity("ADR", fragments, "", 0.5),))
    (snippet,) = snippets(own, [fragments]).shown
    text = own.text[snippet.start : snippet.end]
    assume(not runs_right_to_left(text))
    columns = columns_of(text)
    spans = [columns.span((a - snippet.start, b - snippet.start)) for a, b in fragments]
    # Fragments with a cell of their own; one of combining marks shares that of its letter.
    assume(all(a[1] <= b[0] for a, b in pairwise(spans)))
    marks = marked(own, columns, width)
    assert sorted(marks) == list(range(spans[0][0], spans[-1][1]))
    under = {c for c, mark in marks.items() if mark != UNICODE.between}
    assert under == {c for first, last in spans for c in range(first, last)}
    starts = [c for c, mark in sorted(marks.items()) if mark in (UNICODE.start, UNICODE.one)]
    ends = [c + 1 for c, mark in sorted(marks.items()) if mark in (UNICODE.end, UNICODE.one)]
    assert list(zip(starts, ends, strict=True)) == spans


@given(documents(scored=True), st.integers(50, 90))
def test_lines_fit_and_every_entity_has_a_track(made, width):
    for each in made:
        assume(not runs_right_to_left(each.text))
        lines = drawn(each, width)
        assert all(cell_len(line) <= width for line in lines)
        starts = sum(line.count(mark) for line in lines for mark in (UNICODE.start, UNICODE.one))
        assume(not set(each.text) & set(UNICODE.start + UNICODE.one))
        assert starts >= len(each.entities)


def test_remarks_name_qualifiers_and_codes():
    def of(**fields):
        return remarks(Entity("ADR", ((0, 4),), "Pain", fields=fields))

    named = {"code": "F1", "name": "Pain"}
    assert of() == of(negated=False, historical="no", code=7, sure="yes") == ""
    assert of(other_person=True, negated=True) == "negated, other person"
    assert of(code="F1", candidates=[named], historical=True) == "historical, F1 Pain"
    assert of(code="F2", candidates=[named]) == of(code="F2", candidates="none") == "F2"


def test_the_table_has_a_column_for_remarks_only_where_there_are_some():
    def printed(made):
        console = Console(file=io.StringIO(), width=100)
        console.print(entity_table(made))
        return console.file.getvalue()

    plain = Document("d", TEXT, (Entity("ADR", ((0, 4),), "Pain", 0.5),))
    noted = Document("d", TEXT, (Entity("ADR", ((0, 4),), "Pain", 0.5, None, {"negated": True}),))
    assert "remarks" not in printed(plain)
    assert printed(noted).splitlines()[1].split()[-1] == "negated"


def test_a_line_is_said_as_it_is():
    out = io.StringIO()
    line = f"note: no training sentence has a mention of [bold], [Drug] {'or another ' * 10}type"
    say(Console(file=out, width=40), line)
    assert out.getvalue() == f"{line}\n"
