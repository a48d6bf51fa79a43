"""ShARe/CLEF 2013 as it is unpacked.

Training: reports in `Task1TrainSetCorpus199/ALLREPORTS`, annotations of Knowtator (eHOST) in
`Task1TrainSetGOLD199knowtatorehost/ALLSAVED`, one `REPORT.txt.knowtator.xml` a report. Test:
reports in `Task1TestSetCorpus100/ALLREPORTS`, annotations in `Gold_SN2012`, one `REPORT.txt` with
lines `REPORT.txt||Disease_Disorder||CUI||start||end||start||end...`. The folders `train/text`,
`train/ann`, `test/text` and `test/ann`, into which preparation scripts move them, do as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from trigner.corpora import share_reports
from trigner.corpora.published import Counts
from trigner.corpora.reading import Reading
from trigner.corpora.share_reports import WHOLE_TRAINING, Annotations, ReportPart
from trigner.corpora.surfaces import Surfaces
from trigner.corpora.xml_elements import Element, parse
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Extra, Fragment

NAME = "share13"
ENDINGS: tuple[str, ...] = (".txt", ".xml")

# Dai et al. count annotations of the same characters once; the 6 and 7 that cross sentences are
# not in their data, and so not in the paper's counts.
PUBLISHED: Mapping[str | None, Counts] = {
    None: Counts(18_767, 11_148, 1_088, distinct=True, crossing=13),
    WHOLE_TRAINING: Counts(9_758, 5_815, 870, distinct=True, crossing=6),
    "test": Counts(9_009, 5_333, 218, distinct=True, crossing=7),
}
"""By part; None is the whole corpus."""

# More digits than any text needs, and fewer than Python refuses to read.
_NUMBER = r"[0-9]{1,18}"

# Content that is not an entity: codes (CUI) and the links to them.
_KEPT = {"classMention", "stringSlotMention", "booleanSlotMention", "complexSlotMention"}


def recognises(path: Path) -> bool:
    """A folder with the folders of the training or the test part, named as unpacked."""
    return share_reports.recognises(path, _parts(Surfaces(Reading())))


def read(path: Path, reading: Reading, split: str | None = None) -> Iterator[Document]:
    """One document a report, see `share_reports.read`."""
    surfaces = Surfaces(reading)
    yield from share_reports.read(path, reading, split, _parts(surfaces), PUBLISHED)
    surfaces.check_total(path=path)


def _parts(surfaces: Surfaces) -> dict[str, ReportPart]:
    return {
        "train": ReportPart(
            ("Task1TrainSetCorpus199/ALLREPORTS", "Task1TrainSetCorpus199", "train/text"),
            ("Task1TrainSetGOLD199knowtatorehost/ALLSAVED", "ALLSAVED", "train/ann"),
            (".knowtator.xml",),
            partial(_read_knowtator, surfaces),
        ),
        "test": ReportPart(
            ("Task1TestSetCorpus100/ALLREPORTS", "Task1TestSetCorpus100", "test/text"),
            ("Gold_SN2012", "test/ann"),
            (".txt",),
            share_reports.pipe_reader(_pipe, NAME),
        ),
    }


def _pipe(line: str, report: str, text: str) -> Entity:
    columns = [column.strip() for column in line.split("||")]
    offsets = columns[3:]
    whole = all(re.fullmatch(_NUMBER, offset) for offset in offsets)
    if len(offsets) < 2 or len(offsets) % 2 or not whole:
        raise ValueError("is not a mention: expected report||type||CUI||start||end||start||end...")
    share_reports.check_report(columns[0], report)
    if not columns[1]:
        raise ValueError("has no type")
    return Entity.in_text(text, columns[1], share_reports.pairs(offsets))


def _read_knowtator(
    surfaces: Surfaces, path: Path, report: Path, text: str, reading: Reading
) -> Annotations:
    root = parse(path, reading)
    if root.tag != "annotations":
        raise InputError(
            f"is not a Knowtator file: it starts with <{root.tag}>, expected <annotations>",
            path=path,
            line=root.line,
        )
    source = root.attributes.get("textSource", report.name)
    if not share_reports.same_report(source, report.name):
        raise InputError(
            f"annotates {source}, but is named after {report.name}", path=path, line=root.line
        )
    labels = {
        mention.attributes.get("id"): kind.attributes.get("id")
        for mention in root.all("classMention")
        if (kind := mention.first("mentionClass")) is not None
    }
    entities: list[Entity] = []
    for annotation in root.all("annotation"):
        with reading.annotation(path=path, line=annotation.line):
            entities.append(_annotation(annotation, labels, text))
            if (spanned := annotation.first("spannedText")) is not None:
                spans = _spans(annotation)
                surfaces.check(spanned.text, text, spans, path=path, line=annotation.line)
    extras = [Extra(NAME, child.written()) for child in root.children if child.tag in _KEPT]
    return entities, extras


def _annotation(annotation: Element, labels: dict[str | None, str | None], text: str) -> Entity:
    mention = annotation.first("mention")
    name = None if mention is None else mention.attributes.get("id")
    label = labels.get(name)
    if name is None or not label:
        raise ValueError(f"annotation {name or 'without a mention'} has no class")
    try:
        return Entity.in_text(text, label, _spans(annotation), id=name)
    except ValueError as error:
        raise ValueError(f"annotation {name}: {error}") from error


def _spans(annotation: Element) -> tuple[Fragment, ...]:
    numbers = [
        span.attributes.get(key, "").strip()
        for span in annotation.all("span")
        for key in ("start", "end")
    ]
    if not all(re.fullmatch(_NUMBER, number) for number in numbers):
        raise ValueError("a span without start and end")
    return share_reports.pairs(numbers)
