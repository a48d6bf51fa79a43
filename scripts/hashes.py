"""The files that pip would install, each by its SHA-256, out of pip's own report.

    python scripts/hashes.py report.json > hashes/NAME.txt         (or: make hashes)
    python scripts/hashes.py --part serve hashes/NAME.txt > hashes/image/serve-PLATFORM.txt

The second form takes those lines alone that the image or `make demo` needs: of what runs (`core`,
`serve`, `train`), of what a wheel is built with (`build`), by the packages of this environment.
`core` has the latter too, as `make demo` installs the checkout.

They are those of one platform, one Python version and one package index
(`research/decisions/pins.md`).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

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


def part(text: str, names: Collection[str]) -> str:
    """The lines of a requirements file that are of these packages, by their normalised names.

    Raises ValueError for a package that has none.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        if "==" in line and not line.startswith("#"):
            found[canonicalize_name(line.partition("==")[0])] = f"{line}\n"
    if missing := {*names} - {*found}:
        raise ValueError(f"without a hash: {', '.join(sorted(missing))}")
    return HEAD + "".join(found[name] for name in sorted(names))


def names(part: str) -> set[str]:
    """The packages of a part, by their normalised names and by this environment's metadata."""
    from licences import needed  # beside this file

    runs = set() if part == "build" else {*needed(part.replace("core", ""))}
    return runs | ({*needed(name="hatchling")} if part in ("core", "build") else set())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report", type=Path)
    parts = ("core", "serve", "train", "build")
    parser.add_argument("--part", choices=parts, help="of a requirements file")
    given = parser.parse_args()
    text = given.report.read_text("utf-8")
    print(part(text, names(given.part)) if given.part else requirements(json.loads(text)), end="")


if __name__ == "__main__":
    main()
