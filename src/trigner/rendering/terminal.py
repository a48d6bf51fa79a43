"""Documents on a terminal: sentences with a track under the text for each entity.

                   Pain and cramping in my hands and lower legs.
      ADR 0.95            ┗━━━━━━━━━━━━━━━━━━┛
      ADR 0.91     ┗━━┛╌╌╌╌╌╌╌╌╌╌╌╌╌┗━━━┛╌╌╌╌╌╌╌╌╌┗━━━━━━━━┛

Columns are those of the terminal: wide characters take two, combining ones none. Nothing that a
terminal would obey or could render at another width than ours is printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from trigner.machine import counted
from trigner.mentions import Document, Entity, Fragment
from trigner.qualifiers import QUALIFIERS
from trigner.rendering.columns import columns_of, printable, runs_right_to_left
from trigner.rendering.snippets import snippets

LONGEST_NAME = 24
"""Columns of a label and its score before tracks; longer labels are cut (the table has them)."""

_NARROWEST = 20  # columns for the text, whatever the terminal says
_PALETTE = ("cyan", "magenta", "yellow", "green", "blue", "red")


@dataclass(frozen=True, slots=True)
class Marks:
    """The characters that tracks are made of, one column each.

    `one` stands under a fragment of one column. A fragment that goes on in the next line has no
    `end`, and no `start` there.
    """

    start: str
    inner: str
    end: str
    one: str
    between: str
    goes_on: str


UNICODE = Marks("┗", "━", "┛", "╹", "╌", "▸")
ASCII = Marks("\\", "_", "/", "^", ".", ">")


@dataclass(slots=True)
class Colours:
    """A colour for each label, in the order that labels are met; the same for a whole run."""

    known: dict[str, str] = field(default_factory=dict)

    def of(self, label: str) -> str:
        """A colour's name; after six labels they come again."""
        return self.known.setdefault(label, _PALETTE[len(self.known) % len(_PALETTE)])


def drawing(
    document: Document,
    *,
    width: int,
    marks: Marks = UNICODE,
    colours: Colours | None = None,
    is_whole: bool = True,
) -> Iterator[Text]:
    """The sentences that have entities, tracks in at most `width` columns, and how many have none.

    That number is left out of what is not the `is_whole` document.

    Every entity has a track under every line of text in which it has characters or through which
    it goes. Sentences with right-to-left text have a list of entities in place of tracks, as
    terminals differ in where they put its characters.
    """
    colours = Colours() if colours is None else colours
    entities = document.entities
    found = snippets(document, [entity.fragments for entity in entities])
    name_width = _name_width(entities)
    # Next to the text: two blanks before, and behind it a blank at a line's end and `goes_on`.
    text_width = max(_NARROWEST, width - name_width - 4)
    for snippet in found.shown:
        inside = [entities[member] for member in snippet.members]
        inside.sort(key=lambda e: (min(e.fragments), e.fragments, e.label))
        text = document.text[snippet.start : snippet.end]
        if runs_right_to_left(text):
            yield from _listed(document, text, inside, max(_NARROWEST, width), colours)
        else:
            at = snippet.start
            spans = [[(a - at, b - at) for a, b in sorted(e.fragments)] for e in inside]
            yield from _tracks(text, inside, spans, name_width, text_width, marks, colours)
        yield Text()
    if found.others and found.shown and is_whole:
        yield Text(f"{counted(found.others, 'sentence')} without entities", style="dim")
        yield Text()


def remarks(entity: Entity) -> str:
    """What the fields of an entity say on one line: its qualifiers, its code with the name."""
    found = [name.replace("_", " ") for name in QUALIFIERS if entity.fields.get(name) is True]
    if isinstance(code := entity.fields.get("code"), str):
        match entity.fields.get("candidates"):
            case [{"code": first, "name": str(name)}, *_] if first == code:
                code = f"{code} {name}"
        found.append(code)
    return ", ".join(found)


def entity_table(document: Document) -> Table:
    """One row an entity: type, surface with ` … ` where fragments part, characters, score.

    Qualifiers and codes are a column where there are some.
    """
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("type", overflow="fold")
    table.add_column("entity", overflow="fold")
    table.add_column("characters", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    noted = [remarks(entity) for entity in document.entities]
    if any(noted):
        table.add_column("remarks", overflow="fold")
    for entity, remark in zip(document.entities, noted, strict=True):
        table.add_row(
            Text(printable(entity.label)),  # not what rich takes for markup
            Text(surface(document, entity)),
            " ".join(f"{start}-{end}" for start, end in entity.fragments),
            f"{entity.score:.3f}" if entity.score is not None else "",
            *([Text(printable(remark))] if any(noted) else []),
        )
    return table


def surface(document: Document, entity: Entity) -> str:
    """The entity's text on one line, ` … ` where something stands between its fragments."""
    fragments = document.merged(entity.fragments) or entity.fragments
    pieces = (document.text[start:end] for start, end in fragments)
    return " … ".join(" ".join(printable(piece).split()) for piece in pieces)


def _score(entity: Entity) -> str:
    return "" if entity.score is None else f"{entity.score:.2f}"


def _name_width(entities: Sequence[Entity]) -> int:
    """Columns of the widest label with its score."""
    widths = [cell_len(f"{printable(e.label)} {_score(e)}".rstrip()) for e in entities]
    return min(LONGEST_NAME, max(widths, default=0))


def _name(entity: Entity, width: int, colours: Colours) -> Text:
    """A label and its score in exactly `width` columns; the label is cut where it must be."""
    score = _score(entity)
    available = width - (len(score) + 1 if score else 0)
    name = Text(printable(entity.label), style=colours.of(entity.label))
    name.truncate(available, overflow="ellipsis", pad=True)
    return name.append(f" {score}", style="dim") if score else name


def _tracks(
    text: str,
    entities: Sequence[Entity],
    fragments: Sequence[Sequence[Fragment]],
    name_width: int,
    width: int,
    marks: Marks,
    colours: Colours,
) -> Iterator[Text]:
    """The text wrapped to `width` columns with the tracks of entities under each line."""
    columns = columns_of(text)
    spans = [[columns.span(fragment) for fragment in own] for own in fragments]
    margin = " " * (name_width + 2)
    for first, last in columns.lines(width):
        line = Text(margin)
        line.append(columns.shown(first, last).rstrip())
        for entity, own in zip(entities, spans, strict=True):
            for begin, finish in own:
                start, end = max(begin, first), min(finish, last)
                if start < end:
                    at = len(margin) + len(columns.shown(first, start))
                    length = len(columns.shown(start, end))
                    line.stylize(f"bold {colours.of(entity.label)}", at, at + length)
        yield line
        for entity, own in zip(entities, spans, strict=True):
            track = _track(own, first, last, marks)
            if track:
                name = _name(entity, name_width, colours)
                yield name.append("  ").append(track, style=colours.of(entity.label))


def _track(spans: Sequence[Fragment], first: int, last: int, marks: Marks) -> str:
    """Marks under the columns `[first, last)` for fragments at `spans`; empty when none is due."""
    begin, finish = min(a for a, _ in spans), max(b for _, b in spans)
    if finish <= first or last <= begin:
        return ""
    cells = [" "] * (last - first)
    for column in range(max(begin, first), min(finish, last)):
        cells[column - first] = marks.between
    for start, end in spans:
        for column in range(max(start, first), min(end, last)):
            cells[column - first] = marks.inner
        if end - start == 1 and first <= start < last:
            cells[start - first] = marks.one
            continue
        if first <= start < last:
            cells[start - first] = marks.start
        if first < end <= last:
            cells[end - 1 - first] = marks.end
    if finish > last:
        cells.append(marks.goes_on)
    return "".join(cells).rstrip()


def _listed(
    document: Document, text: str, entities: Sequence[Entity], width: int, colours: Colours
) -> Iterator[Text]:
    """The text and a table of its entities."""
    columns = columns_of(text)
    for first, last in columns.lines(width):
        yield Text(columns.shown(first, last).rstrip())
    for entity in entities:
        name = _name(entity, _name_width([entity]), colours)
        yield name.append("  ").append(surface(document, entity))


def say(console: Console, line: str) -> None:
    """Print a line as it is: brackets are no markup, and no log breaks it at 80 characters."""
    console.print(line, markup=False, highlight=False, soft_wrap=True)
