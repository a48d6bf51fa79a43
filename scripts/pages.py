"""What the documentation site's pages hold that is written elsewhere: a hook of MkDocs.

A line `<!-- generated: NAME -->` of a page is replaced by what the code says itself: commands from
the command line's application, settings and presets from their models, formats from their table,
a room's public names from its `__all__`.
"""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.pages import Page
from pydantic import BaseModel
from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"

PLACE = re.compile(r"^<!-- generated: (\w+)(?: ([\w.]+))? -->$", re.MULTILINE)
RELATIVE_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!\w+:|#)([^)#\s]+(?:#[^)\s]*)?)\)")


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """The page with what is generated in its places."""
    folder = (DOCS / page.file.src_uri).parent
    return without_outside_links(filled(markdown), folder)


def filled(markdown: str) -> str:
    """Places replaced by what is generated. Raises PluginError for one that nothing fills."""

    def fill(place: re.Match[str]) -> str:
        name, argument = place.groups()
        if name not in GENERATED:
            raise PluginError(f"nothing generates {name!r}: known are {', '.join(GENERATED)}")
        return GENERATED[name](*([] if argument is None else [argument]))

    return PLACE.sub(fill, markdown)


def without_outside_links(markdown: str, folder: Path) -> str:
    """Links to folders, and to files that the site does not have, as their text.

    On the code's host such links lead somewhere. What does not exist stays a link, at which the
    build then stops.
    """

    def kept(link: re.Match[str]) -> str:
        target = Path(os.path.normpath(folder / link[2].partition("#")[0]))
        outside = target.exists() and (target.is_dir() or not target.is_relative_to(DOCS))
        return link[1] if outside else link[0]

    return RELATIVE_LINK.sub(kept, markdown)


def commands() -> str:
    """Every command with its arguments and options, a section each."""
    import typer
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    from trigner.cli.app import COMMANDS, app, load_command

    command = get_command(app)
    command.commands = {name: load_command(name) for name in COMMANDS}  # type: ignore[attr-defined]
    context = typer.Context(command, info_name="trigner")
    text = get_docs_for_click(obj=command, ctx=context, name="trigner", title="trigner")
    text = text[text.index("## ") :].replace("\nExample:  trigner ", "\nExample:\n\n  trigner ")
    return re.sub(
        r"^  ((?:\S.* \| )?trigner .+)$", r"```console\n\1\n```", text, flags=re.MULTILINE
    )


Row = tuple[str, str, str, str]
"""A setting: its name, default, values and description."""


def settings() -> str:
    """Every setting of a training: those of `w2ner`, and how other systems differ."""
    from trigner.systems.registry import own_systems
    from trigner.training.settings import settings_of

    systems_of: dict[tuple[str, type[BaseModel]], list[str]] = {}
    for name, spec in own_systems().items():
        for section in _sections("", settings_of(spec)):
            key = section if section[0] else ("", BaseModel)
            systems_of.setdefault(key, []).append(name)
    tables = [_settings_table("general", _rows("", settings_of(own_systems()["w2ner"])), {})]
    first: dict[str, dict[str, Row]] = {}
    for (prefix, model), names in systems_of.items():
        if prefix:
            title = prefix.rstrip(".")
            if len(names) < len(own_systems()):
                title += f" of {', '.join(names)}"
            rows = _rows(prefix, model)
            tables.append(_settings_table(title, rows, first.setdefault(prefix, {})))
            first[prefix] = first[prefix] or rows
    return "\n\n".join(tables)


def _sections(prefix: str, model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """A model and those of the sections in it, with what their settings' names begin with."""
    yield prefix, model
    for name, field in model.model_fields.items():
        if _is_section(field):
            section: Any = field.annotation
            yield from _sections(f"{prefix}{name}.", section)


def _is_section(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def _is_setting(field: FieldInfo) -> bool:
    """Not a section, nor one that the system has not."""
    return field.annotation not in (None, type(None)) and not _is_section(field)


def _rows(prefix: str, model: type[BaseModel]) -> dict[str, Row]:
    schema = model.model_json_schema()["properties"]
    return {
        name: (
            f"`{prefix}{name}`",
            f"`{_yaml(field.get_default())}`",
            _values(schema[name]),
            field.description or "",
        )
        for name, field in model.model_fields.items()
        if _is_setting(field)
    }


def _settings_table(title: str, rows: Mapping[str, Row], first: Mapping[str, Row]) -> str:
    """A section; of one that stands before it for other systems, only what is different."""
    different = [row for name, row in rows.items() if row != first.get(name)]
    same = [row[0] for name, row in rows.items() if row == first.get(name)]
    missing = [row[0] for name, row in first.items() if name not in rows]
    parts = [f"### {title}"]
    if same and len(missing) > len(same):
        parts.append(f"As above: {', '.join(same)}. Others:")
    elif same:
        less = f", without {', '.join(missing)}" if missing else ""
        parts.append(f"As above{less}" + (", but:" if different else "."))
    if different:
        parts.append(_table(("setting", "`clean`", "values", "what it is"), different))
    return "\n\n".join(parts)


def _values(schema: Mapping[str, Any]) -> str:
    """What a setting may be, from its JSON schema."""
    if "anyOf" in schema:
        return ", ".join(_values(kind) for kind in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = {"null": "none", "boolean": "true, false", "string": "text", "array": "list"}
    told = kind.get(schema["type"], schema["type"])
    limits = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    bounds = [f"{sign} {schema[key]:g}" for key, sign in limits.items() if key in schema]
    return " ".join([told, " and ".join(bounds)]).strip()


def presets() -> str:
    """What each preset sets otherwise than the defaults do."""
    from trigner.training.presets import PRESETS

    names = [name for name in PRESETS if PRESETS[name]]
    flat = {name: dict(_flat(PRESETS[name])) for name in names}
    keys = list(dict.fromkeys(key for name in names for key in flat[name]))
    rows = [
        (f"`{key}`", *(f"`{_yaml(flat[n][key])}`" if key in flat[n] else "" for n in names))
        for key in keys
    ]
    return _table(("setting", *(f"`{name}`" for name in names)), rows)


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def systems() -> str:
    """Every system of this package: what it is and what it can do."""
    from trigner.families.tagging.taggers import TaggerSpec
    from trigner.systems.registry import own_systems

    rows = [
        (f"`{spec.name}`", spec.about, ", ".join(spec.capabilities))
        for spec in own_systems().values()
        if isinstance(spec, TaggerSpec)
    ]
    return _table(("system", "what it is", "can"), rows)


def formats() -> str:
    """Every format: its name, its files, whether it is written."""
    from trigner.corpora.formats import FORMATS

    rows = [
        (
            f"`{known.name}`",
            known.description,
            ", ".join(f"`{ending}`" for ending in known.endings),
            "yes" if known.write is not None else "only read",
            "folder" if known.writes_folder else "file" if known.write is not None else "",
        )
        for known in FORMATS.values()
    ]
    return _table(("format", "what it is", "files", "written", "as"), rows)


def names(room: str) -> str:
    """The public names of a room, documented by their docstrings."""
    module = importlib.import_module(room)
    return "\n\n".join(_documented(room, name, getattr(module, name)) for name in module.__all__)


def _documented(room: str, name: str, value: Any) -> str:
    """What documents a name. Read from files, a module hides the function of its own name."""
    if importlib.util.find_spec(f"{room}.{name}") is None:
        return f"::: {room}.{name}"
    return f"::: {value.__module__}.{value.__qualname__}"


def _yaml(value: Any) -> str:
    """A value as it is written after `--set key=`."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list)):
        return f"[{', '.join(map(_yaml, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = (head, ("---",) * len(head), *rows)
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in c)} |" for c in lines)


GENERATED: dict[str, Callable[..., str]] = {
    made.__name__: made for made in (commands, settings, presets, systems, formats, names)
}
"""One line a place."""
