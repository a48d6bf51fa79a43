"""Declared grids of runs, what they leave behind and the reports made of it. Extra `study`."""

from trigner.studies.conducting import Setup, conduct, report, stand
from trigner.studies.corpus import Place, placed
from trigner.studies.declaration import Study, find_study
from trigner.studies.grid import Changes, Run, runs
from trigner.studies.jobs import Room, room
from trigner.studies.protocols import Protocol, protocol
from trigner.studies.running import Folders, Options

__all__ = [
    "Changes",
    "Folders",
    "Options",
    "Place",
    "Protocol",
    "Room",
    "Run",
    "Setup",
    "Study",
    "conduct",
    "find_study",
    "placed",
    "protocol",
    "report",
    "room",
    "runs",
    "stand",
]
