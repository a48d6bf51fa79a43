"""Declared grids of runs, their results and the reports made of them. Extra `lab`."""

from trigner.lab.studies.changes import Changes
from trigner.lab.studies.commands import (
    RunStatus,
    run_study,
    seconds_left,
    study_status,
    write_report,
)
from trigner.lab.studies.context import Parallelism, StudyContext, parallelism
from trigner.lab.studies.corpus import CorpusLocation, corpus_location, corpus_locations
from trigner.lab.studies.declaration import Study, find_study
from trigner.lab.studies.grid import TrainingRun, runs
from trigner.lab.studies.listing import Listed, listed
from trigner.lab.studies.protocols import Protocol, protocol
from trigner.lab.studies.results import Result

__all__ = [
    "Changes",
    "CorpusLocation",
    "Listed",
    "Parallelism",
    "Protocol",
    "Result",
    "RunStatus",
    "Study",
    "StudyContext",
    "TrainingRun",
    "corpus_location",
    "corpus_locations",
    "find_study",
    "listed",
    "parallelism",
    "protocol",
    "run_study",
    "runs",
    "seconds_left",
    "study_status",
    "write_report",
]
