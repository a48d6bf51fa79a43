"""Model folders on the Hugging Face Hub: save with a card, load by name, upload.

Both kinds of folder, PyTorch's and exported ones, are the same here: a handful of files that
`trigner.json` describes. See docs/decisions/hub.md.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trigner import __version__
from trigner.atomic_files import replace_together
from trigner.errors import InputError, TrignerError
from trigner.inference.fetching import HUB_NAME, fetch
from trigner.inference.loading import load
from trigner.integrations.card import model_card
from trigner.model_folder import (
    CARD,
    DESCRIPTION,
    check_hashes,
    files_of,
    need,
    read_description,
)

if TYPE_CHECKING:
    from trigner.inference import Extractor
    from trigner.networks import Model


def from_pretrained(
    model: str | Path,
    *,
    revision: str | None = None,
    cache_dir: str | Path | None = None,
    token: str | bool | None = None,
    device: str = "auto",
    batch_size: int = 32,
    threshold: float = 0.0,
) -> Extractor:
    """The model in a folder or with a name on the Hub, ready to extract.

    `revision` is a branch, tag or commit. Raises as `inference.fetch` and `inference.load`.
    """
    folder = fetch(model, revision=revision, cache_dir=cache_dir, token=token)
    return load(folder, device=device, batch_size=batch_size, threshold=threshold)


def save_pretrained(
    model: Model | str | Path, folder: str | Path, *, licence: str | None = None
) -> Path:
    """Write a model to a folder as the Hub wants it, with its card.

    `model` is one in memory (`networks.Model`), a folder of either kind, or a Hub name; a folder's
    own card is kept unless `licence` is given. Other files of `folder` stay. Returns the folder.
    Raises InputError for what is no model of ours, TrignerError when it cannot be written.
    """
    out = Path(folder)
    if out.is_file():
        raise InputError("exists already and is no folder", path=out)
    writers: dict[Path, Callable[[Path], object]] = {}
    if isinstance(model, (str, Path)):
        source = fetch(model)
        description = _checked(source)
        card = _card_of(source, description, None, licence)
        if not (out.exists() and out.samefile(source)):
            for name in files_of(description):
                writers[out / name] = partial(shutil.copyfile, source / name)
    else:
        from trigner.networks import save

        save(model, out)
        card = model_card(read_description(out), licence=licence).encode("utf-8")
    try:
        for path in writers:
            path.parent.mkdir(parents=True, exist_ok=True)
        replace_together({out / CARD: lambda path: path.write_bytes(card), **writers})
    except OSError as error:
        raise TrignerError(f"cannot save the model in {out}: {error}") from error
    return out


def push_to_hub(
    folder: str | Path,
    repo_id: str,
    *,
    private: bool | None = None,
    token: str | bool | None = None,
    revision: str | None = None,
    message: str = "Upload a trigner model",
    licence: str | None = None,
) -> str:
    """Upload a model folder in one commit and return the commit's address.

    The repository is created when it is not there (`private` then counts). The model's own files
    are uploaded, nothing else in the folder, with its README.md or a generated card; files of
    a model of the other kind that stood there are deleted. Raises InputError for what is no model
    of ours or no repository's name, TrignerError when the Hub refuses or cannot be reached.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi

    source = Path(folder)
    description = _checked(source)
    name = HUB_NAME.fullmatch(repo_id)
    if name is None or name["revision"]:
        raise InputError(f"a repository's name is user/name, not {repo_id!r}")
    card = _card_of(source, description, repo_id, licence)
    files = files_of(description)
    api = HfApi(token=token, library_name="trigner", library_version=__version__)
    try:
        api.create_repo(repo_id, private=private, exist_ok=True)
        held = set(api.list_repo_files(repo_id, revision=revision))
        stale = ({*files_of({}), *files_of({"runtime": {}})} - set(files)) & held
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
    except Exception as error:  # whatever the HTTP library of the day raises
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise TrignerError(f"cannot upload to {repo_id}: {reason}") from error
    return str(commit.commit_url)


def _checked(folder: Path) -> dict[str, Any]:
    """The description of a whole model folder. Raises InputError for another or a damaged one."""
    description = read_description(folder)
    files = files_of(description)
    need(folder, files)
    hashes = description.get("files")
    if not isinstance(hashes, dict) or not isinstance(description.get("labels"), list):
        raise InputError("is damaged: it has no hashes or no labels", path=folder / DESCRIPTION)
    # Only names of our own: what a description says is no reason to look elsewhere on the disk.
    check_hashes(folder, {name: str(hashes[name]) for name in files if name in hashes})
    return description


def _card_of(
    folder: Path, description: dict[str, Any], name: str | None, licence: str | None
) -> bytes:
    own = folder / CARD
    if own.is_file() and licence is None:
        return own.read_bytes()
    return model_card(description, name=name, licence=licence).encode("utf-8")
