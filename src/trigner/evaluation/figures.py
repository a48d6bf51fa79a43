"""Figures: matplotlib is an extra, and a wrong file name is refused before the work."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from trigner.errors import InputError, TrignerError
from trigner.machine import staged

# What each format calls its date; None leaves it out.
_DATE = {"svg": "Date", "svgz": "Date", "pdf": "CreationDate"}


def check_figure(path: str | Path | None) -> None:
    """Find out before long work whether a figure, if one is wanted, can be drawn.

    Raises what `figure_for` does.
    """
    if path is not None:
        figure_for(Path(path), width=1, height=1)


def figure_for(path: Path, *, width: float, height: float) -> Any:
    """An empty figure (a `matplotlib.figure.Figure`, sizes in inches) to be saved to `path`.

    The folder is made. Raises TrignerError when matplotlib is not installed (extra `plots`) or the
    folder cannot be made, InputError when there is no format of that suffix.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
        from matplotlib.figure import Figure
    except ImportError as error:
        raise TrignerError("figures need matplotlib: pip install 'trigner[plots]'") from error
    known = sorted(FigureCanvasBase.get_supported_filetypes())
    if path.suffix.lower().removeprefix(".") not in known:
        raise InputError(f"unknown figure format; known formats: {', '.join(known)}", path=path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TrignerError(f"cannot write {path}: {error.strerror}") from error
    return Figure(figsize=(width, height), layout="constrained")


def plain_legend(axes: Any, lines: Sequence[Any], names: Sequence[str], **options: Any) -> None:
    """The legend of some axes, with names as they are.

    matplotlib leaves out labels that begin with `_` and reads what is between two `$` as TeX.
    """
    legend = axes.legend(lines, ["-"] * len(lines), **options)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=name, parse_math=False)


def save_figure(
    figure: Any,
    target: Path | IO[str],
    file_format: str | None = None,
    *,
    overwrite: bool = True,
) -> None:
    """Write a figure, in the format of the path's suffix if none is named.

    Without `overwrite` a file that is there by then is left as it is: TrignerError. In SVG text
    stays text. In SVG, PDF and PNG equal figures are equal files: they hold no date and no chance
    in names.
    """
    import matplotlib

    chosen = (file_format or Path(str(target)).suffix.removeprefix(".")).lower()
    metadata = {_DATE[chosen]: None} if chosen in _DATE else None
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "trigner"}):
        if not isinstance(target, Path):
            figure.savefig(target, format=chosen, metadata=metadata)
            return
        with staged(target, overwrite=overwrite) as path:
            figure.savefig(path, format=chosen, metadata=metadata)
