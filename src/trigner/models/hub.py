"""Model folders on the Hugging Face Hub: save with a card, upload.

PyTorch and exported folders are treated alike: a few files that `trigner.json` describes.
See research/decisions/hub.md.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from trigner import __version__
from trigner.errors import InputError, TrignerError, first_line
from trigner.machine import replace_together
from trigner.models.card import model_card
from trigner.models.fetching import HUB_NAME, fetch
from trigner.models.folder import (
    CARD,
    CONFIG,
    GRAPH,
    TOKENIZER,
    WEIGHTS,
    Description,
    check_files,
    read_description,
)


class Loaded(Protocol):
    """An extractor: `source.folder` is the model folder that it was loaded from."""

    @property
    def source(self) -> Any:
        """Where it was loaded from; None where it was made in memory."""
        ...


def save_pretrained(
    model: str | Path | Loaded, folder: str | Path, *, licence: str | None = None
) -> Path:
    """Write a model and its card to a folder, in the layout of the Hub.

    `model` is a folder of either kind, a Hub name, or an extractor that was loaded from one of
    them, whose files are copied: its threshold and other options are not saved. A folder's own card
    is kept unless `licence` is given. Other files in `folder` stay. Returns the folder. Raises
    InputError for a folder that is not a trigner model and for an extractor that was not loaded
    from a folder, TrignerError when writing fails.
    """
    out = Path(folder)
    if out.is_file():
        raise InputError("exists and is not a folder", path=out)
    source, description = _saved(model)
    card = _card_of(source, description, None, licence)
    writers: dict[Path, Callable[[Path], object]] = {out / CARD: lambda p: p.write_bytes(card)}
    if not (out.exists() and out.samefile(source)):
        for name in description.all_files:
            writers[out / name] = partial(shutil.copyfile, source / name)
    try:
        for path in writers:
            path.parent.mkdir(parents=True, exist_ok=True)
        replace_together(writers)
    except OSError as error:
        raise TrignerError(f"cannot save the model in {out}: {error}") from error
    return out


def push_to_hub(
    model: Loaded | str | Path,
    repo_id: str,
    *,
    private: bool | None = None,
    token: str | bool | None = None,
    revision: str | None = None,
    message: str = "Upload a trigner model",
    licence: str | None = None,
) -> str:
    """Upload a model (see `save_pretrained`) in one commit and return the commit's URL.

    Creates the repository if needed, `private` or not. Uploads the model's own files and its
    README.md or a generated card, nothing else in the folder; deletes files that a model of the
    other kind left in the repository. Raises InputError for a folder that is not a trigner model
    and for an invalid `repo_id`, TrignerError when the Hub refuses or cannot be reached.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    source, description = _saved(model)
    name = HUB_NAME.fullmatch(str(repo_id))
    if name is None or name["revision"]:
        raise InputError(f"a repository is named user/name; got {repo_id!r}")
    card = _card_of(source, description, repo_id, licence)
    files = description.all_files
    api = HfApi(token=token, library_name="trigner", library_version=__version__)
    try:
        api.create_repo(repo_id, private=private, exist_ok=True)
        held = set(api.list_repo_files(repo_id, revision=revision))
        stale = ({GRAPH, CONFIG, WEIGHTS, TOKENIZER} - set(files)) & held
        commit = api.create_commit(
            repo_id,
            [
                CommitOperationAdd(CARD, card),
                *(CommitOperationAdd(file, source / file) for file in files),
                *(CommitOperationDelete(file) for file in sorted(stale)),
            ],
            commit_message=message,
            revision=revision,
        )
    except Exception as error:  # huggingface_hub passes on those of its HTTP library
        raise TrignerError(f"cannot upload to {repo_id}: {first_line(error)}") from error
    return str(commit.commit_url)


def _saved(model: str | Path | Loaded) -> tuple[Path, Description]:
    """The folder of a model and its description.

    Raises InputError if it is none or is damaged.
    """
    if isinstance(model, (str, Path)):
        folder = fetch(model)
    elif model.source is not None:
        folder = model.source.folder
    else:
        raise InputError(
            "this extractor was not loaded from a folder, so there are no files to copy: give the"
            " folder that its training wrote"
        )
    description = read_description(folder)
    check_files(folder, description)
    return folder, description


def _card_of(
    folder: Path, description: Description, name: str | None, licence: str | None
) -> bytes:
    own = folder / CARD
    if own.is_file() and licence is None:
        return own.read_bytes()
    return model_card(description, name=name, licence=licence).encode("utf-8")
