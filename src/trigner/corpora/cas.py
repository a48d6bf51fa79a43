"""UIMA CAS XMI, as INCEpTION exports it: a text with annotations in layers. Needs dkpro-cassis.

A `.xmi` is next to its `TypeSystem.xml`, or below it. Named entities and the spans of own layers
(`webanno.custom.*`) are read: the label is their `value` or `label`, else the layer's name, other
features with plain values are fields. Spans of one label that relations of a layer `Discontinuous`
join are one entity. What is written are named entities and that layer.
Source: https://inception-project.github.io; https://github.com/dkpro/dkpro-cassis
"""

from __future__ import annotations

import os
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trigner.corpora import brat
from trigner.corpora.documents import all_end, read_files
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.span_entries import connected
from trigner.corpora.words import fields_lost
from trigner.corpora.xml_elements import NOT_XML, Element, parse
from trigner.errors import InputError, require_extra
from trigner.machine import counted, write_new_text, write_text
from trigner.mentions import Document, Entity, shortened

if TYPE_CHECKING:
    from cassis import Cas, TypeSystem

NAME = "cas"
EXTRA = ("cas", "cassis")
"""The extra that it needs, and the package in it."""
ENDINGS: tuple[str, ...] = (".xmi", "typesystem.xml")

_XMI = (".xmi",)
_TYPES = "TypeSystem.xml"
_NAMED_ENTITY = "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity"
_OWN_LAYERS = ("webanno.custom.", "custom.")
_DISCONTINUOUS = "webanno.custom.Discontinuous"
_ENDS = ("Governor", "Dependent")
_LABELS = ("value", "label")
_WRITTEN = "identifier"
"""The field of an entity that named entities have a feature for: a name in a knowledge base."""
_ANNOTATION = "uima.tcas.Annotation"
_OF_TEXTS = ("de.tudarmstadt.ukp.dkpro.core.api.seg", "uima.")
"""How layers begin that every text has: words, sentences, the document's language."""
_INITIAL = "_InitialView"
_NOT_FIELDS = {"xmiID", "type", "begin", "end", "sofa", *_LABELS}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*(\[\])?")


def recognises(path: Path) -> bool:
    """`.xmi` files."""
    return all_end(path, _XMI)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """One document for each `.xmi`, called after its path."""
    require_extra(*EXTRA)
    types = cache(lambda file: _type_system(file, reading))

    def read_file(file: Path, name: str, reading: Reading) -> Iterator[tuple[int, Document]]:
        cas = _view(_cas(file, types(_type_file(file, path)), reading), file, reading)
        text = cas.sofa_string or ""
        yield 1, Document(name, text, tuple(_entities(cas, text, file, reading)))

    return read_files(path, _XMI, reading, read_file)


def _type_file(file: Path, root: Path) -> Path:
    """The type system next to a file, or in a folder around it: at most one above what is read."""
    top = root.parent if file == root else root
    inside = [top / folder for folder in file.relative_to(top).parents]
    for folder in [*inside, Path(os.path.abspath(top)).parent]:
        names = os.listdir(folder) if os.access(folder, os.R_OK) else []
        if found := [name for name in names if name.lower() == "typesystem.xml"]:
            return folder / found[0]
    message = "no TypeSystem.xml found next to it: export it with its type system, and unpack both"
    raise InputError(message, path=file)


def _type_system(path: Path, reading: Reading) -> TypeSystem:
    """Raises InputError for names that are none: cassis makes code of those of features."""
    import cassis

    for name in _names(parse(path, reading)):
        if not _NAME.fullmatch(name.text.strip()):
            message = f"is not the name of a type or feature: {shortened(name.text)}"
            raise InputError(message, path=path, line=name.line)
    return _loaded(path, lambda data: cassis.load_typesystem(data))


def _names(root: Element) -> Iterator[Element]:
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.tag.rpartition(":")[2] in ("name", "supertypeName", "rangeTypeName"):
            yield element
        waiting += element.children


def _cas(path: Path, types: TypeSystem, reading: Reading) -> Cas:
    """A CAS whose XML was checked before: no declarations of entities, no deep nesting."""
    import cassis

    parse(path, reading)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        # What is "trusted" may be large, no more.
        cas: Cas = _loaded(
            path, lambda data: cassis.load_cas_from_xmi(data, types, lenient=True, trusted=True)
        )
    for message in [str(warning.message) for warning in told]:
        if message.startswith("Not mapping"):
            reading.bad(f"an annotation lies outside the text: {message}", path=path)
        else:
            reading.note(message, path=path)
    return cas


def _view(cas: Cas, path: Path, reading: Reading) -> Cas:
    """The initial view, or the only one with a text where that has none; others are counted."""
    texts = [sofa.sofaID for sofa in cas.sofas if sofa.sofaString]
    chosen = texts[0] if len(texts) == 1 else _INITIAL
    for sofa in cas.sofas:
        if sofa.sofaID != chosen:
            kinds = [own.type.name for own in cas.get_view(sofa.sofaID).select(_ANNOTATION)]
            annotations = sum(not kind.startswith(_OF_TEXTS) for kind in kinds)
            if annotations or sofa.sofaString:
                held = f"{counted(annotations, 'annotation')} and {len(sofa.sofaString or ''):,}"
                message = f"the view {shortened(sofa.sofaID)} is not read: it has {held} characters"
                reading.note(message, path=path)
    return cas.get_view(chosen)


def _loaded(path: Path, load: Any) -> Any:
    try:
        return load(BytesIO(path.read_bytes()))
    except Exception as error:  # cassis checks little, so its errors are of many kinds
        message = f"is not a CAS that can be read: {type(error).__name__}: {error}"
        raise InputError(message, path=path) from error


def _entities(cas: Cas, text: str, path: Path, reading: Reading) -> Iterator[Entity]:
    spans: dict[int, Any] = {}
    joined: dict[int, list[int]] = defaultdict(list)
    relations = []
    others: Counter[str] = Counter()
    for own in cas.select(_ANNOTATION):
        features = {feature.name for feature in own.type.all_features}
        if {*_ENDS} <= features and own.type.short_name == "Discontinuous":
            relations.append(own)
        elif not {*_ENDS} & features and _is_layer(own.type):
            spans[own.xmiID] = own
        elif not own.type.name.startswith(_OF_TEXTS):
            others[own.type.short_name] += 1
    for own in relations:
        with reading.annotation(path=path):
            ends = [getattr(own, name) for name in _ENDS]
            if any(end is None or end.xmiID not in spans for end in ends):
                raise ValueError(
                    "a relation `Discontinuous` between annotations that are not entities"
                )
            if len({_label(end) for end in ends}) > 1:
                raise ValueError("a relation `Discontinuous` between spans with other labels")
            one, other = (end.xmiID for end in ends)
            joined[one].append(other)
            joined[other].append(one)
    for group in connected(sorted(spans), joined):
        with reading.annotation(path=path):
            yield _entity([spans[id] for id in sorted(group)], text)
    for name, count in others.items():
        reading.note(f"the layer {name} is not read: {counted(count, 'annotation')}", path=path)


def _is_layer(kind: Any) -> bool:
    while kind is not None:
        if kind.name == _NAMED_ENTITY or kind.name.startswith(_OWN_LAYERS):
            return True
        kind = kind.supertype
    return False


def _label(own: Any) -> str:
    given = (getattr(own, name, None) for name in _LABELS)
    return next((v for v in given if isinstance(v, str) and v), own.type.short_name)


def _entity(parts: Sequence[Any], text: str) -> Entity:
    fields = {
        feature.name: value
        for part in reversed(parts)
        for feature in part.type.all_features
        if feature.name not in _NOT_FIELDS
        and isinstance(value := getattr(part, feature.name, None), str | int | float | bool)
    }
    return Entity.in_text(
        text, _label(parts[0]), [(part.begin, part.end) for part in parts], fields=fields
    )


def checked(documents: Iterable[Document], path: Path) -> Iterator[Document]:
    """The documents as they come.

    Raises InputError as brat's, and for a text, label or name that XML cannot hold.
    """
    for document in brat.checked(documents, path, _XMI, (_TYPES,)):
        names = [name for e in document.entities for name in (e.label, _code(e) or "")]
        for text in (document.text, *names):
            if found := NOT_XML.search(text):
                message = f"document {shortened(document.id)} has U+{ord(found[0]):04X}"
                raise InputError(f"{message}, which XML cannot hold", path=path)
        yield document


def write(documents: Iterable[Document], path: Path, *, overwrite: bool = True) -> WriteReport:
    """One `.xmi` a document in the folder `path`, and the `TypeSystem.xml` of all.

    Without `overwrite` another file of one of these names is left as it is, and ends the writing.
    Raises InputError as `checked`: for a sequence of documents before anything is written, for a
    stream of them when it comes to the one that is refused. Raises TrignerError when a file cannot
    be written.
    """
    require_extra(*EXTRA)
    types = _types()
    put = write_text if overwrite else write_new_text
    dropped: Counter[str] = Counter()
    count = 1
    stream = checked(documents, path)
    for document in list(stream) if isinstance(documents, Sequence) else stream:
        put(path / f"{document.id}.xmi", _written(document, types))
        count += 1
        dropped.update(_lost(document))
    # The types come last: without them what was cut off is not read.
    put(path / _TYPES, types.to_xml())
    return WriteReport(count, dict(dropped))


def _code(entity: Entity) -> str | None:
    """Its name in a knowledge base."""
    code = entity.fields.get(_WRITTEN)
    return code if isinstance(code, str) else None


def _lost(document: Document) -> dict[str, int]:
    entities = document.entities
    kept = sum(_code(e) is not None for e in entities)
    fields = fields_lost(document)
    return {
        "scores": sum(e.score is not None for e in entities),
        "entity ids": sum(e.id is not None for e in entities),
        "relations or notes": len(document.extras),
        "given word boundaries": int(document.words is not None),
        "fields of documents": fields["fields of documents"],
        "fields of entities": fields["fields of entities"] - kept,
    }


def _types() -> TypeSystem:
    import cassis

    types = cassis.TypeSystem()
    entity = types.create_type(_NAMED_ENTITY, _ANNOTATION)
    for name in ("value", _WRITTEN):
        types.create_feature(entity, name, "uima.cas.String")
    relation = types.create_type(_DISCONTINUOUS, _ANNOTATION)
    for name in _ENDS:
        types.create_feature(relation, name, _ANNOTATION)
    return types


def _written(document: Document, types: TypeSystem) -> str:
    import cassis

    cas = cassis.Cas(types, sofa_string=document.text, sofa_mime="text/plain")
    entity_type, relation_type = types.get_type(_NAMED_ENTITY), types.get_type(_DISCONTINUOUS)
    for entity in document.entities:
        about = {"value": entity.label, _WRITTEN: _code(entity)}
        spans = [entity_type(begin=a, end=b, **about) for a, b in entity.fragments]
        cas.add_all(spans)
        for one, other in pairwise(spans):
            ends = {"begin": other.begin, "end": other.end}
            cas.add(relation_type(**ends, **dict(zip(_ENDS, (one, other), strict=True))))
    content: str = cas.to_xmi()
    return content
