"""spaCy: the pipeline component `trigner`, and `doc._.trigner`, its entities.

    nlp.add_pipe("trigner", config={"model": "runs/demo", "threshold": 0.5, "group": "trigner"})
    doc = nlp("Pain and cramping in my hands and lower legs.")
    doc._.trigner             # tuple of SpacyEntity: label, fragments, spans, score, text, fields
    doc.spans["trigner"]      # a span for each fragment; those of one entity share `span.id_`

spaCy's spans consist of whole tokens. Where a fragment ends inside a token its span is wider; the
exact characters stay in `doc._.trigner`. Entities are stored as plain values in
`doc.user_data["trigner"]`, so `Doc.to_bytes` and `DocBin(store_user_data=True)` preserve them;
import this module where they are read back to have `doc._.trigner`. `Doc.from_docs` copies span
groups but not user_data, and warns of that.
"""

from __future__ import annotations

import logging
import shutil
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

from spacy.language import Language
from spacy.pipeline import Pipe
from spacy.tokens import Doc, Span, SpanGroup

from trigner.errors import InputError
from trigner.linking import Linker, read_vocabulary
from trigner.machine import replace_together
from trigner.mentions import Document, Fragment
from trigner.models import BUNDLED, DESCRIPTION, fetch, read_description, save_pretrained
from trigner.pipeline import Extractor, RunStatistics, load

VOCABULARY = "vocabulary.csv"
"""File of a saved component, beside its model."""

KEY = "trigner"
"""Key in `doc.user_data` and name of the extension attribute of `Doc`."""

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SpacyEntity:
    """An entity of a Doc.

    `fragments` are half-open character ranges of `doc.text`, `spans` their tokens, one span each;
    `text` is the exact text of the fragments, joined by a space, `group` the key in `doc.spans`.
    `fields` are what annotators gave, such as `{"negated": True}`.
    """

    label: str
    fragments: tuple[Fragment, ...]
    spans: tuple[Span, ...]
    text: str
    score: float
    group: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_discontinuous(self) -> bool:
        return len(self.fragments) > 1

    @property
    def is_aligned(self) -> bool:
        """Whether the spans cover exactly the characters of the fragments."""
        return all(map(_is_exact, self.spans, self.fragments))


def entities_of(doc: Doc) -> tuple[SpacyEntity, ...]:
    """The value of `doc._.trigner`: entities of all groups, in text order.

    Raises InputError when they were found in another text, as in a Doc made with
    `Span.as_doc(copy_user_data=True)`.
    """
    stored = doc.user_data.get(KEY)
    if stored is None:
        return ()
    if stored["text"] != _fingerprint(doc.text):
        raise InputError("the entities in this Doc's user_data were found in another text")
    found = [
        _entity(
            doc, n, label, tuple((start, end) for start, end in fragments), score, group, *fields
        )
        for group, entities in stored["groups"].items()
        for n, (label, fragments, score, *fields) in enumerate(entities)
    ]
    return tuple(sorted(found, key=lambda e: (e.fragments, e.label, e.group)))


def _entity(
    doc: Doc,
    n: int,
    label: str,
    fragments: tuple[Fragment, ...],
    score: float,
    group: str,
    fields: Mapping[str, Any] | None = None,
) -> SpacyEntity:
    spans = tuple(
        # Never None: only whitespace is outside spaCy's tokens.
        cast(Span, doc.char_span(start, end, label=label, span_id=str(n), alignment_mode="expand"))
        for start, end in fragments
    )
    text = " ".join(doc.text[start:end] for start, end in fragments)
    return SpacyEntity(label, fragments, spans, text, score, group, dict(fields or {}))


def _is_exact(span: Span, fragment: Fragment) -> bool:
    return (span.start_char, span.end_char) == fragment


def _fingerprint(text: str) -> str:
    return f"{len(text)}:{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"


if not Doc.has_extension(KEY):
    Doc.set_extension(KEY, getter=entities_of)


class EntityFinder(Pipe):
    """The pipeline component. It loads its model on first use.

    `widened` counts fragments with a wider span; the first one is logged as a warning.
    """

    def __init__(
        self,
        name: str,
        *,
        model: str,
        threshold: float | dict[str, float] = 0.0,
        group: str = KEY,
        device: str = "auto",
        batch_size: int = 32,
        qualifiers: bool = False,
        vocabulary: str | None = None,
    ) -> None:
        self.name = name
        self.model = model
        self.threshold = threshold
        self.group = group
        self.device = device
        self.batch_size = batch_size
        self.qualifiers = qualifiers
        self.vocabulary = vocabulary
        self.widened = 0
        self._folder: Path | None = None
        self._extractor: Extractor | None = None
        self._statistics = RunStatistics()

    @property
    def folder(self) -> Path:
        """The model's folder, downloaded if `model` is a name on the Hub."""
        if self._folder is None:
            self._folder = fetch(self.model)
        return self._folder

    @property
    def extractor(self) -> Extractor:
        """The loaded model. Raises the errors of `inference.load`."""
        if self._extractor is None:
            linkers = [Linker(read_vocabulary(self.vocabulary))] if self.vocabulary else []
            self._extractor = load(
                self.folder,
                device=self.device,
                batch_size=self.batch_size,
                threshold=self.threshold,
                qualifiers=self.qualifiers,
                annotators=linkers,
            )
        return self._extractor

    @property
    def labels(self) -> tuple[str, ...]:
        """The model's labels; none before it is downloaded, as spaCy asks while loading."""
        folder = self._folder or (BUNDLED if self.model == BUNDLED.name else Path(self.model))
        there = (folder / DESCRIPTION).is_file()
        return read_description(folder).labels if there else ()

    def notices(self) -> list[str]:
        """Messages about the texts so far, one for each thing worth knowing."""
        notices = self._statistics.notices()
        if self.widened:
            notices.append(
                f"{self.widened} fragments end inside a spaCy token: their spans are wider,"
                f" the exact characters are in doc._.{KEY}"
            )
        return notices

    def __call__(self, doc: Doc) -> Doc:
        """Adds the entities of its text to a Doc."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Adds entities to a stream of Docs; batching does not change them."""
        remaining = iter(stream)
        while docs := list(islice(remaining, batch_size)):
            self._annotate(docs)
            yield from docs

    def _annotate(self, docs: list[Doc]) -> None:
        """Add entities to Docs; one that fails costs no other one its own."""
        widened = self.widened
        try:
            for doc, document in zip(docs, self._found(docs), strict=True):
                self._set_annotations(doc, document)
        except Exception as error:
            self.widened = widened
            if len(docs) > 1 and self._extractor is not None:  # without a model all fail
                for doc in docs:
                    self._annotate([doc])
            else:  # spaCy's error handler decides; the default one raises
                self.get_error_handler()(self.name, self, docs, error)

    def _found(self, docs: Sequence[Doc]) -> list[Document]:
        documents = (Document(str(n), doc.text) for n, doc in enumerate(docs))
        statistics = RunStatistics()
        found = list(self.extractor.documents(documents, statistics))
        self._statistics.add(statistics)
        return found

    def _set_annotations(self, doc: Doc, document: Document) -> None:
        entities = [
            _entity(doc, n, e.label, e.fragments, float(e.score or 0.0), self.group, e.fields)
            for n, e in enumerate(document.entities)
        ]
        spans = [span for entity in entities for span in entity.spans]
        scores = [entity.score for entity in entities for _ in entity.spans]
        doc.spans[self.group] = SpanGroup(
            doc, name=self.group, spans=spans, attrs={"scores": scores}
        )
        before = doc.user_data.get(KEY)
        fingerprint = _fingerprint(doc.text)
        groups = before["groups"] if before and before["text"] == fingerprint else {}
        plain = [
            [e.label, [list(f) for f in e.fragments], e.score, *([e.fields] if e.fields else [])]
            for e in entities
        ]
        doc.user_data[KEY] = {"text": fingerprint, "groups": {**groups, self.group: plain}}
        self._count_widened(entities)

    def _count_widened(self, entities: Iterable[SpacyEntity]) -> None:
        is_logged = self.widened > 0
        for entity in entities:
            for span, fragment in zip(entity.spans, entity.fragments, strict=True):
                self.widened += not _is_exact(span, fragment)
        if self.widened and not is_logged:
            log.warning("%s: %s", self.name, self.notices()[-1])

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save model and vocabulary with the pipeline, which then needs no other files."""
        if "model" not in exclude:
            save_pretrained(self.folder, path)
            saved = Path(path) / VOCABULARY
            if not self.vocabulary:
                saved.unlink(missing_ok=True)  # of a pipeline that was saved there before
            elif not (saved.exists() and saved.samefile(self.vocabulary)):
                replace_together({saved: partial(shutil.copyfile, self.vocabulary)})

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> EntityFinder:
        """Use the model and vocabulary saved with the pipeline, not those in the config."""
        if "model" not in exclude:
            self._folder, self._extractor = Path(path), None
            if (saved := Path(path) / VOCABULARY).is_file():
                self.vocabulary = str(saved)
        return self


def create_component(
    nlp: Language,
    name: str,
    model: str,
    threshold: float | dict[str, float],
    group: str,
    device: str,
    batch_size: int,
    qualifiers: bool,
    vocabulary: str | None,
) -> EntityFinder:
    """The factory of `nlp.add_pipe("trigner")`. `model` is a folder or a name on the Hub."""
    return EntityFinder(
        name,
        model=model,
        threshold=threshold,
        group=group,
        device=device,
        batch_size=batch_size,
        qualifiers=qualifiers,
        vocabulary=vocabulary,
    )


Language.factory(
    KEY,
    default_config={
        "threshold": 0.0,
        "group": KEY,
        "device": "auto",
        "batch_size": 32,
        "qualifiers": False,
        "vocabulary": None,
    },
    assigns=["doc.spans", f"doc._.{KEY}"],
    func=create_component,
)
