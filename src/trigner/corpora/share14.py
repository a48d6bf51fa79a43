"""ShARe/CLEF 2014 task 2 as it is unpacked.

Training: reports in `2014ShAReCLEFeHealthTask2_training_corpus`, annotations in
`2014ShAReCLEFeHealthTask2_training_pipedelimited`. Test: reports in
`ShAReCLEFeHealth2104Task2_test_data_corpus` (so spelt), annotations in
`ShAReCLEFeHealth2014_test_data_gold`. One `REPORT.pipe.txt` a report, a line a disorder:
`REPORT.txt|start-end,start-end|CUI|...`, the other columns being its attributes. The folders
`train/text`, `train/ann`, `test/text` and `test/ann`, into which preparation scripts move them, do
as well. The files of the test set with default values are the task's input, not its gold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from trigner.corpora import share_reports
from trigner.corpora.published import Counts
from trigner.corpora.reading import Reading
from trigner.corpora.share_reports import LABEL, WHOLE_TRAINING, ReportPart
from trigner.mentions import Document, Entity

NAME = "share14"
ENDINGS: tuple[str, ...] = (".txt", ".pipe")

# Dai et al. count annotations of the same characters once.
PUBLISHED: Mapping[str | None, Counts] = {
    None: Counts(34_618, 19_073, 1_658, distinct=True),
    WHOLE_TRAINING: Counts(None, 11_151, 1_092, distinct=True),
    "test": Counts(None, 7_922, 566, distinct=True),
}
"""By part; None is the whole corpus."""

_ANNOTATION_ENDINGS = (".pipe.txt", ".txt.pipe", ".pipe", ".txt")
# More digits than any text needs, and fewer than Python refuses to read.
_SPAN = r"[0-9]{1,18}-[0-9]{1,18}"
_SPANS = re.compile(rf"{_SPAN}(,{_SPAN})*")


def recognises(path: Path) -> bool:
    """A folder with the folders of the training or the test part, named as unpacked."""
    return share_reports.recognises(path, _PARTS)


def read(path: Path, reading: Reading, split: str | None = None) -> Iterator[Document]:
    """One document a report, see `share_reports.read`."""
    yield from share_reports.read(path, reading, split, _PARTS, PUBLISHED)


def _pipe(line: str, report: str, text: str) -> Entity:
    columns = [column.strip() for column in line.split("|")]
    spans = "".join(columns[1].split()) if len(columns) > 2 else ""
    if not _SPANS.fullmatch(spans):
        raise ValueError("is not a disorder: expected report|start-end,start-end|CUI|attributes")
    share_reports.check_report(columns[0], report)
    return Entity.in_text(text, LABEL, share_reports.pairs(re.findall(r"[0-9]+", spans)))


_read_pipes = share_reports.pipe_reader(_pipe, NAME, header="DD_DocName|")

_PARTS = {
    "train": ReportPart(
        ("2014ShAReCLEFeHealthTask2_training_corpus", "train/text"),
        ("2014ShAReCLEFeHealthTask2_training_pipedelimited", "train/ann"),
        _ANNOTATION_ENDINGS,
        _read_pipes,
    ),
    "test": ReportPart(
        (
            "ShAReCLEFeHealth2104Task2_test_data_corpus",
            "ShAReCLEFeHealth2014Task2_test_data_corpus",
            "ShAReCLEFTask2TestTemplatesDefaultValuesWithCorpus_CORRECTED/TestCorpus",
            "test/text",
        ),
        ("ShAReCLEFeHealth2014_test_data_gold", "test/ann"),
        _ANNOTATION_ENDINGS,
        _read_pipes,
    ),
}
