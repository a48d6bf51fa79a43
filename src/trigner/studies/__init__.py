"""Declared grids of runs, their results and the reports made of them. Extra `study`."""

from trigner.studies.changes import Changes
from trigner.studies.commands import (
    RunStatus,
    run_study,
    seconds_left,
    study_status,
    write_report,
)
from trigner.studies.context import Parallelism, StudyContext, parallelism
from trigner.studies.corpus import CorpusLocation, corpus_location, corpus_locations
from trigner.studies.declaration import Study, find_study
from trigner.studies.grid import TrainingRun, runs
from trigner.studies.listing import Listed, listed
from trigner.studies.protocols import Protocol, protocol

__all__ = [
    "Changes",
    "CorpusLocation",
    "Listed",
    "Parallelism",
    "Protocol",
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
