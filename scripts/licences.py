"""The licences of everything that trigner installs with its extras, by what each package says.

    python scripts/licences.py > research/results/licences.md           (or: make licences)

Read from the metadata of the packages in this environment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HEAD = """# Licences of dependencies

What each package states in its metadata, by licence. Written by `make licences` in the environment
of `make env` (Linux, CPython 3.11, PyTorch for CPUs; that for CUDA brings NVIDIA's own packages and
licences). `constraints.txt` has the versions.
"""

PARTS = ("What `pip install trigner` brings", 'What `pip install "trigner[all]"` adds')

KNOWN = {
    "mit license": "MIT",
    "mit": "MIT",
    "bsd license": "BSD",
    "bsd": "BSD",
    "bsd-3-clause": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "apache software license": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "apache-2.0": "Apache-2.0",
    "apache": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license v2.0": "Apache-2.0",
    "apache 2.0 license": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "python software foundation license": "PSF-2.0",
    "psf": "PSF-2.0",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "isc license (iscl)": "ISC",
    "the unlicense (unlicense)": "Unlicense",
}
"""What packages write, to the names of SPDX."""

COPYLEFT = re.compile(r"\b(A?GPL|LGPL|SSPL|EUPL|CC-BY-NC)", re.IGNORECASE)
"""Licences that would ask something of whoever gives a program with trigner on."""


def needed(extra: str = "", *, name: str = "trigner") -> dict[str, Distribution]:
    """What a package needs with an extra, needs of needs included, and itself, without trigner."""
    found: dict[str, Distribution] = {}
    waiting = [(name, extra)]
    seen = set(waiting)
    while waiting:
        name, own = waiting.pop()
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # of another platform, or an extra that pip left out
        found[canonicalize_name(name)] = package
        for below in _requirements(package, own):
            if below not in seen:
                seen.add(below)
                waiting.append(below)
    found.pop("trigner", None)
    return dict(sorted(found.items()))


def _requirements(package: Distribution, extra: str) -> Iterator[tuple[str, str]]:
    for text in package.requires or []:
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            for own in requirement.extras or {""}:
                yield requirement.name, own
            if requirement.extras:
                yield requirement.name, ""


def licence(package: Distribution) -> str:
    """What a package says of its licence: an SPDX expression, a classifier or its own words."""
    metadata = package.metadata
    (expression,) = metadata.get_all("License-Expression") or [""]
    if expression:
        return str(expression)
    marked = [own.split(" :: ") for own in metadata.get_all("Classifier") or []]
    classes = [own[-1] for own in marked if own[0] == "License" and len(own) > 2]
    words = "".join(metadata.get_all("License") or []).strip()
    said = classes or ([words] if words and "\n" not in words and len(words) < 80 else [])
    if not said and words:
        said = [words.splitlines()[0].strip()]
    return " or ".join(dict.fromkeys(KNOWN.get(own.lower(), own) for own in said)) or "not stated"


def page() -> str:
    """The report."""
    core = needed()
    added = {name: package for name, package in needed("all").items() if name not in core}
    return HEAD + "".join(map(_table, PARTS, (core, added)))


def _table(title: str, packages: Mapping[str, Distribution]) -> str:
    said: dict[str, list[str]] = {}
    for package in packages.values():
        said.setdefault(licence(package), []).append(package.metadata["Name"])
    rows = [(name, ", ".join(own)) for name, own in sorted(said.items())]
    lines = [("licence", "packages"), ("---", "---"), *rows]
    return f"\n## {title}\n\n" + "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    print(page(), end="")
