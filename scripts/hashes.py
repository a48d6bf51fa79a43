"""The files that pip would install, each by its SHA-256, out of pip's own report.

    python scripts/hashes.py report.json > hashes/NAME.txt         (or: make hashes)

They are those of one platform, one Python version and one package index: `docs/decisions/pins.md`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

HEAD = (
    "# Written by `make hashes`: what `make` may install on this platform, checked by its hash.\n"
)


def requirements(report: dict[str, Any]) -> str:
    """The text of a requirements file, for `pip install --only-binary :all:`.

    Packages that come as source alone are named as such. Raises ValueError for an archive without
    a hash.
    """
    lines, sources = {}, []
    for item in report["install"]:
        info, metadata = item["download_info"], item["metadata"]
        if "dir_info" in info:  # the project itself
            continue
        found = info.get("archive_info", {}).get("hashes", {}).get("sha256")
        if not found:
            raise ValueError(f"{metadata['name']}: no SHA-256")
        if not info["url"].partition("#")[0].endswith(".whl"):
            sources.append(f"--no-binary {metadata['name']}\n")
        version = metadata["version"].partition("+")[0]  # the same line for any build of it
        lines[metadata["name"].lower()] = f"{metadata['name']}=={version} --hash=sha256:{found}\n"
    return HEAD + "".join([*sorted(sources), *(lines[name] for name in sorted(lines))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    given = parser.parse_args()
    print(requirements(json.loads(given.report.read_text("utf-8"))), end="")


if __name__ == "__main__":
    main()
