"""ShARe/CLEF 2013 as it is unpacked.

Training: reports in `Task1TrainSetCorpus199/ALLREPORTS`, annotations of Knowtator (eHOST) in
`Task1TrainSetGOLD199knowtatorehost/ALLSAVED`, one `REPORT.txt.knowtator.xml` a report. Test:
reports in `Task1TestSetCorpus100/ALLREPORTS`, annotations in `Gold_SN2012`, one `REPORT.txt` with
lines `REPORT.txt||Disease_Disorder||CUI||start||end||start||end...`. The folders `train/text`,
`train/ann`, `test/text` and `test/ann`, into which preparation scripts move them, do as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from trigner.corpora import share_reports
from trigner.corpora.published import Counts
from trigner.corpora.reading import Reading, fault
from trigner.corpora.share_reports import WHOLE_TRAINING, Annotations, Part, entity
from trigner.corpora.surfaces import Surfaces
from trigner.corpora.xml_elements import Element, parse
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Extra, Fragment

NAME = "share13"
ENDINGS = (".txt", ".xml")

# Dai et al. count annotations of the same characters once; the 6 and 7 that cross sentences are
# not in their data, and so not in the paper's counts.
PUBLISHED = {
    None: Counts(18_767, 11_148, 1_088, distinct=True, crossing=13),
    WHOLE_TRAINING: Counts(9_758, 5_815, 870, distinct=True, crossing=6),
    "test": Counts(9_009, 5_333, 218, distinct=True, crossing=7),
}
"""By part; None is the whole corpus."""

# More digits than any text needs, and fewer than Python refuses to read.
_NUMBER = r"[0-9]{1,18}"

# What is no entity and yet content: codes (CUI) and the links to them.
_KEPT = {"classMention", "stringSlotMention", "booleanSlotMention", "complexSlotMention"}


def recognises(path: Path) -> bool:
    """A folder with the folders of the training or the test part, named as unpacked."""
    return share_reports.recognises(path, _parts(Surfaces(Reading())))


def read(path: Path, reading: Reading, split: str | None = None) -> Iterator[Document]:
    """One document a report, see `share_reports.read`."""
    surfaces = Surfaces(reading)
    yield from share_reports.read(path, reading, split, _parts(surfaces), PUBLISHED)
    surfaces.judge(path=path)


def _parts(surfaces: Surfaces) -> dict[str, Part]:
    return {
        "train": Part(
            ("Task1TrainSetCorpus199/ALLREPORTS", "Task1TrainSetCorpus199", "train/text"),
            ("Task1TrainSetGOLD199knowtatorehost/ALLSAVED", "ALLSAVED", "train/ann"),
            (".knowtator.xml",),
            partial(_read_knowtator, surfaces),
        ),
        "test": Part(
            ("Task1TestSetCorpus100/ALLREPORTS", "Task1TestSetCorpus100", "test/text"),
            ("Gold_SN2012", "test/ann"),
            (".txt",),
            _read_pipes,
        ),
    }


def _read_pipes(path: Path, report: str, text: str, reading: Reading) -> Annotations:
    entities: list[Entity] = []
    extras: list[Extra] = []
    for number, line in share_reports.pipe_lines(path):
        found = _pipe(line, report, text)
        if isinstance(found, str):
            reading.bad(found, path=path, line=number)
            continue
        entities.append(found)
        extras.append(Extra(NAME, line))
    return entities, extras


def _pipe(line: str, report: str, text: str) -> Entity | str:
    columns = [column.strip() for column in line.split("||")]
    offsets = columns[3:]
    if (
        len(offsets) < 2
        or len(offsets) % 2
        or not all(re.fullmatch(_NUMBER, offset) for offset in offsets)
    ):
        return "is no mention: expected report||type||CUI||start||end, more starts and ends by ||"
    if not share_reports.same_report(columns[0], report):
        return f"is on {columns[0]}, and the file on {report}"
    if not columns[1]:
        return "has no type"
    numbers = [int(offset) for offset in offsets]
    fragments = list(zip(numbers[::2], numbers[1::2], strict=True))
    wrong = fault(tuple(sorted(fragments)), len(text))
    return wrong if wrong is not None else entity(columns[1], fragments, text, None)


def _read_knowtator(
    surfaces: Surfaces, path: Path, report: str, text: str, reading: Reading
) -> Annotations:
    root = parse(path, reading)
    if root.tag != "annotations":
        raise InputError(
            f"is no Knowtator file: starts with <{root.tag}>, expected <annotations>",
            path=path,
            line=root.line,
        )
    source = root.attributes.get("textSource", report)
    if not share_reports.same_report(source, report):
        raise InputError(
            f"annotates {source}, and is named after {report}", path=path, line=root.line
        )
    labels = {
        mention.attributes.get("id"): kind.attributes.get("id")
        for mention in root.all("classMention")
        if (kind := mention.first("mentionClass")) is not None
    }
    entities: list[Entity] = []
    for annotation in root.all("annotation"):
        found = _annotation(annotation, labels, text)
        if isinstance(found, str):
            reading.bad(found, path=path, line=annotation.line)
            continue
        entities.append(found)
        spanned = annotation.first("spannedText")
        if spanned is not None:
            given = found.fragments if (spans := _spans(annotation)) is None else spans
            surfaces.check(spanned.text, text, given, path=path, line=annotation.line)
    extras = [Extra(NAME, child.written()) for child in root.children if child.tag in _KEPT]
    return entities, extras


def _annotation(
    annotation: Element, labels: dict[str | None, str | None], text: str
) -> Entity | str:
    mention = annotation.first("mention")
    name = None if mention is None else mention.attributes.get("id")
    label = labels.get(name)
    if name is None or not label:
        return f"annotation {name or 'without a mention'} has no class"
    spans = _spans(annotation)
    if spans is None:
        return f"annotation {name} has a span without start and end"
    wrong = fault(tuple(sorted(spans)), len(text))
    return f"annotation {name}: {wrong}" if wrong is not None else entity(label, spans, text, name)


def _spans(annotation: Element) -> tuple[Fragment, ...] | None:
    spans: list[Fragment] = []
    for span in annotation.all("span"):
        start, end = (span.attributes.get(key, "").strip() for key in ("start", "end"))
        if not (re.fullmatch(_NUMBER, start) and re.fullmatch(_NUMBER, end)):
            return None
        spans.append((int(start), int(end)))
    return tuple(spans)
