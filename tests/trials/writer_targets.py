"""Writers: of any documents the reader of the format has the same entities, or writing refuses."""

from __future__ import annotations

from pathlib import Path
from random import Random
from shutil import rmtree

from hypothesis import HealthCheck, given, settings

from trials.targets import Target
from trigner.errors import InputError
from written_documents import check_written, odd_documents


def writer(name: str, folder: Path) -> Target:
    """The writer of a format. The bytes of an input are the choices that hypothesis makes.

    What it refuses to write is an InputError, as of a reader, and so are bytes of no documents.
    """

    @settings(database=None, suppress_health_check=list(HealthCheck))
    @given(made=odd_documents())
    def written(made: object) -> None:
        try:
            check_written(made, folder / "out", name)
        finally:
            rmtree(folder / "out", ignore_errors=True)
            (folder / "out").unlink(missing_ok=True)

    def check(data: bytes) -> None:
        if written.hypothesis.fuzz_one_input(data) is None:
            raise InputError("no documents")

    return Target([b""], check, choices)


def choices(data: bytes, random: Random) -> bytes:
    """Other bytes: half of the time new ones, else some of the old."""
    if len(data) < 8 or random.random() < 0.5:
        return random.randbytes(random.randrange(8, 2000))
    changed = bytearray(data)
    for _ in range(random.randrange(1, 8)):
        changed[random.randrange(len(changed))] = random.choice((0, 1, 255, random.randrange(256)))
    return bytes(changed)
