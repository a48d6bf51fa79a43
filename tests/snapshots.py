"""What errors say, in one file for each room: `ROOM/__snapshots__/wording.ambr`."""

from __future__ import annotations

import re
from pathlib import Path

from syrupy.data import SnapshotCollections
from syrupy.extensions.amber import AmberSnapshotExtension

import trigner

PACKAGE = str(Path(trigner.__file__).parent)


class WordingOfRoom(AmberSnapshotExtension):
    """Snapshots of all test modules of a folder in one file, each named after test and module."""

    @classmethod
    def get_file_basename(cls, *, test_location, index):
        return "wording"

    @classmethod
    def get_snapshot_name(cls, *, test_location, index=0):
        name = super().get_snapshot_name(test_location=test_location, index=index)
        return f"{name} in {test_location.basename}"

    @classmethod
    def matches_test_location(cls, *, test_location, snapshot_location):
        return True

    def discover_snapshots(self, *, test_location, ignore_extensions=None):
        """None: syrupy would take those of the modules that a run leaves out for unused ones."""
        return SnapshotCollections()


OF_LIBRARIES = re.compile(
    r"(is not JSON: (?=[A-Z])|is not a Parquet file: |file is damaged: |ONNX Runtime |Got: "
    r"|does not match the model: (?=[A-Z])|is not a tokenizer: |is not valid JSON: (?=[Ee])"
    r"|is not valid YAML: |invalid base URL: |Connection error\. |while loading the model: The ).*",
    re.DOTALL,
)
"""What libraries say, other in every version; our own words begin in lower case."""

OF_A_RUN = (
    (re.compile(r"\b0x[0-9a-f]+"), "0x..."),
    (re.compile(r"(?<=-)[0-9a-f]{8}\b"), "HASH"),
    (re.compile(r"(?<=127\.0\.0\.1:)[0-9]{5}(?=:)"), "PORT"),
    (re.compile(r"\b((?:trigner|torch|transformers) )[0-9][\w.+]*"), r"\1VERSION"),
)
"""What is other in every run, environment or version of ours."""


def stable(text: str, folder: str) -> str:
    """A text without what differs from run to run: where tests and the package have their files."""
    text = text.replace(PACKAGE, "trigner")
    text = re.sub(rf"{re.escape(folder)}/[^/\s:'\"]+", "TMP", text)
    for pattern, name in OF_A_RUN:
        text = pattern.sub(name, text)
    return OF_LIBRARIES.sub(r"\1...", text)
