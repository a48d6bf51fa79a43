"""spaCy's DocBin files: texts with spans of tokens. Needs spaCy.

Of a Doc, the spans of the group `trigner` are read, those with one id as one entity, or where there
is no such group `doc.ents` and all groups. What is written has all fragments in that group, and in
`doc.ents` entities of one piece as far as they do not overlap; tokens end where fragments do. Id,
fields, notes and scores are JSON in `doc.user_data`.
"""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trigner.corpora.documents import Item, all_end, read_items
from trigner.corpora.json_shapes import Object
from trigner.corpora.reading import Reading, WriteReport
from trigner.corpora.strict_json import FLAWS, parsed
from trigner.errors import InputError, require_extra
from trigner.machine import atomic_write, explained
from trigner.mentions import Document, Entity, Fragment, score_from

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc, Span

NAME = "spacy"
EXTRA = ("spacy", "spacy")
"""The extra that it needs, and the package in it."""
ENDINGS: tuple[str, ...] = (".spacy",)

GROUP = "trigner"
"""The group of spans that holds fragments, as `nlp.add_pipe("trigner")` has it too."""

_KEY = "trigner_document"

_TIMES = 100  # its own size that a file may unpack to: files of real texts have 8 to 15
_ALWAYS = 20_000_000  # bytes that any file may unpack to: many equal texts shrink more than others
_PIECE = 1 << 18  # bytes


def recognises(path: Path) -> bool:
    """`.spacy` files."""
    return all_end(path, ENDINGS)


def read(path: Path, reading: Reading) -> Iterator[Document]:
    """The documents of a file, or of all such files below a folder."""
    return read_items(path, ENDINGS, reading, _document, _docs)


def _docs(path: Path, reading: Reading) -> Iterator[tuple[int, Doc]]:
    """The Docs of a file, numbered from 1; the file is in memory as a whole."""
    require_extra(*EXTRA)
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    content = path.read_bytes()
    try:
        too_large = _unpacks_to_more(content, max(_ALWAYS, _TIMES * len(content)))
    except zlib.error as error:
        raise InputError(f"is not a DocBin that can be read: {error}", path=path) from error
    if too_large:
        message = f"unpacks to more than {_TIMES} times its size, as no file of texts does"
        raise InputError(f"{message}: if it is yours, divide it or write it as JSON", path=path)
    try:
        docs = DocBin(store_user_data=True).from_bytes(content).get_docs(Vocab())
        yield from enumerate(docs, 1)
    except Exception as error:  # spaCy, srsly and zlib raise errors of many kinds for bad bytes
        raise InputError(f"is not a DocBin that can be read: {error}", path=path) from error


def _unpacks_to_more(content: bytes, most: int) -> bool:
    """Whether compressed bytes have more than so many, of which few are held meanwhile."""
    unpacking = zlib.decompressobj()
    size = 0
    for start in range(0, len(content), _PIECE):
        packed = content[start : start + _PIECE]
        while packed and size <= most:
            size += len(unpacking.decompress(packed, _PIECE))
            packed = unpacking.unconsumed_tail
    return size > most


@cache  # making it takes as long as writing some thousand words
def _language() -> Language:
    require_extra(*EXTRA)
    import spacy

    nlp = spacy.blank("xx")
    nlp.max_length = 1 << 62  # of a text, in characters: only the tokenizer runs
    return nlp


def _document(item: Item) -> Document:
    doc: Doc = item.value
    own = _own(doc)
    about = own.get("entities")
    rest = about if isinstance(about, list) else []
    entities = []
    for number, spans in _grouped(doc):
        with item.annotation():
            entities.append(_entity(spans, doc, rest[number] if number < len(rest) else {}))
    given = {**own, "id": item.id(own.get("id")), "text": doc.text, "entities": []}
    return replace(Document.from_dict(given), entities=tuple(entities))


def _own(doc: Doc) -> dict[str, Any]:
    """What `write` has put into a Doc; of others, its categories as a field."""
    try:
        own = parsed(doc.user_data.get(_KEY, ""))
    except FLAWS:
        raise
    except (TypeError, ValueError, RecursionError):
        own = None
    if isinstance(own, dict):
        return own
    return {"cats": dict(doc.cats)} if doc.cats else {}


def _grouped(doc: Doc) -> Iterator[tuple[int, list[tuple[Span, float | None]]]]:
    """The spans of each entity with their scores, and the entity's number."""
    if GROUP not in doc.spans:
        others = [span for group in doc.spans.values() for span in group]
        spans: dict[tuple[int, int, str], Span] = {}
        for span in (*doc.ents, *others):
            at = (span.start_char, span.end_char, span.label_)
            # Of those that are repeated one may have a name in a knowledge base.
            if at not in spans or not spans[at].kb_id_:
                spans[at] = span
        for span in spans.values():
            yield len(spans), [(span, None)]
        return
    group = doc.spans[GROUP]
    scores = group.attrs.get("scores", ())
    found: dict[object, list[tuple[Span, float | None]]] = defaultdict(list)
    for place, span in enumerate(group):
        score = scores[place] if len(scores) == len(group) else None
        found[span.id_ or place].append((span, score))
    for id, parts in found.items():
        numbered = isinstance(id, str) and id.isascii() and id.isdigit() and len(id) < 10
        yield int(str(id)) if numbered else len(group), parts


def _entity(spans: list[tuple[Span, float | None]], doc: Doc, own: Object) -> Entity:
    labels = {span.label_ for span, _ in spans}
    if len(labels) > 1 or "" in labels:
        raise ValueError(f"spans of one entity need one label, not {sorted(labels)}")
    first, score = spans[0]
    fields = own.get("fields", {"kb_id": first.kb_id_} if first.kb_id_ else {})
    return Entity.in_text(
        doc.text,
        first.label_,
        [(span.start_char, span.end_char) for span, _ in spans],
        score=score_from(own.get("score", score)),
        id=own.get("id"),
        fields=fields,
    )


def write(documents: Iterable[Document], path: Path) -> WriteReport:
    """One file, which is made in memory; nothing is lost."""
    nlp = _language()
    from spacy.tokens import DocBin

    found = DocBin(store_user_data=True)
    with explained(path):
        for document in documents:
            found.add(_doc(nlp, document))
        content = found.to_bytes()
    with atomic_write(path) as put:
        put(content)
    return WriteReport(1)


def _doc(nlp: Language, document: Document) -> Doc:
    from spacy.tokens import SpanGroup
    from spacy.util import filter_spans

    whole = [(e.label, document.merged(e.fragments)) for e in document.entities]
    whole = [(label, pieces) for label, pieces in whole if len(pieces) == 1]
    fragments = [f for entity in document.entities for f in entity.fragments]
    doc = _cut(nlp, document.text, [*fragments, *(pieces[0] for _, pieces in whole)])

    def span(fragment: Fragment, label: str, id: str = "") -> Span:
        found = doc.char_span(*fragment, label=label, span_id=id)
        assert found is not None  # tokens end where fragments do
        return found

    spans = [
        span(fragment, entity.label, str(number))
        for number, entity in enumerate(document.entities)
        for fragment in entity.fragments
    ]
    doc.spans[GROUP] = SpanGroup(doc, name=GROUP, spans=spans)
    doc.ents = filter_spans([span(pieces[0], label) for label, pieces in whole])
    own = document.to_dict()
    own["entities"] = [
        {"id": e.id, "score": e.score, "fields": dict(e.fields)} for e in document.entities
    ]
    del own["text"]
    doc.user_data[_KEY] = json.dumps(own)
    return doc


def _cut(nlp: Language, text: str, fragments: Iterable[Fragment]) -> Doc:
    """The text as a Doc whose tokens are spaCy's, cut where a fragment begins or ends inside."""
    from spacy.tokens import Doc

    tokens = [(token.idx, token.idx + len(token)) for token in nlp.make_doc(text)]
    starts, ends = {a for a, _ in fragments}, {b for _, b in fragments}
    cuts = sorted({0, len(text), *starts, *ends, *(bound for token in tokens for bound in token)})
    words: list[str] = []
    spaces: list[bool] = []
    for start, end in pairwise(cuts):
        piece = text[start:end]
        follows = piece == " " and bool(words) and not spaces[-1]
        if follows and start not in starts and end not in ends:
            spaces[-1] = True
        else:
            words.append(piece)
            spaces.append(False)
    return Doc(nlp.vocab, words=words, spaces=spaces)
