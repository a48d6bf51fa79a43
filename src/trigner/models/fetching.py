"""From a model's name to its folder: a path is that folder, a Hub name is downloaded.

Only the files of a model folder and its card are fetched, the description first: a repository that
holds something else is refused before its weights are on the way. Nothing fetched is executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from trigner import __version__
from trigner.encoders import is_path
from trigner.errors import InputError, TrignerError, first_line
from trigner.mentions import shortened
from trigner.models.folder import BUNDLED, CARD, DESCRIPTION, read_description

HUB_NAME = re.compile(r"(?P<name>\w[\w.-]*/[\w.-]+)(?:@(?P<revision>[^@\s]+))?", re.ASCII)
"""`user/name`, with `@revision` (branch, tag or commit) where it matters."""


def fetch(
    model: str | Path,
    *,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    token: str | bool | None = None,
) -> Path:
    """The folder of a model: `model` itself, or where the Hub's model of that name was put.

    The string `bundled` is the model that ships with the package. What is written as a path
    (`encoders.is_path`) and every Path is never looked up on the Hub. `token` is
    huggingface_hub's: a string, or None for the one that is logged in. Raises InputError when there
    is no such folder, the Hub has no such model or it is not one of ours, TrignerError when it
    cannot be had.
    """
    if not isinstance(model, str | Path):
        raise InputError(f"a model is named by its folder or name, not by {shortened(model)}")
    found = None if is_path(model) else HUB_NAME.fullmatch(str(model))
    if found is None:
        if revision is not None:
            raise InputError(
                f"has no revision {revision!r}: it is not a name on the Hub", path=model
            )
        folder = BUNDLED if model == BUNDLED.name else Path(model)
        try:
            there = model != "" and folder.exists()
        except OSError as error:  # a name that is too long, a folder that cannot be searched
            raise InputError(f"cannot be read: {error.strerror}", path=model) from error
        if not there:
            advice = "" if is_path(model) else "; on the Hub, a model is called user/name"
            raise InputError(f"no model folder at {str(model) or repr(model)}{advice}")
        return folder
    name, revision = found["name"], revision or found["revision"]
    with _told(name, revision):
        first = _download(name, revision, [DESCRIPTION], cache_dir, token)
    if not (first / DESCRIPTION).is_file():
        raise InputError(
            f"is not a trigner model: this Hub repository has no {DESCRIPTION}", path=name
        )
    try:
        files = (*read_description(first).all_files, CARD)
    except InputError as error:
        raise InputError(error.message, path=f"{name}/{DESCRIPTION}") from error
    with _told(name, revision):
        # The folder is named after its commit: both parts come from the same.
        return _download(name, first.name, files, cache_dir, token)


def _download(
    name: str,
    revision: str | None,
    files: Iterable[str],
    cache_dir: str | Path | None,
    token: str | bool | None,
) -> Path:
    from huggingface_hub import snapshot_download

    folder: str = snapshot_download(
        name,
        revision=revision,
        allow_patterns=list(files),
        cache_dir=cache_dir,
        token=token,
        library_name="trigner",
        library_version=__version__,
    )
    return Path(folder)


@contextmanager
def _told(name: str, revision: str | None) -> Iterator[None]:
    """What goes wrong between here and the Hub, as our errors."""
    from huggingface_hub.errors import (
        HFValidationError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        yield
    except RevisionNotFoundError as error:
        raise InputError(f"has no revision {revision!r} on the Hub", path=name) from error
    except (RepositoryNotFoundError, HFValidationError) as error:
        raise InputError(
            "no folder of this name, and no such model on the Hub (a private one needs a token)",
            path=name,
        ) from error
    except Exception as error:  # whatever the HTTP library of the day raises
        raise TrignerError(
            f"{name}: no folder of this name, and it cannot be fetched from the Hub:"
            f" {first_line(error)}"
        ) from error
