from __future__ import annotations

import sys
from pathlib import Path

import pytest

from trigner.errors import TrignerError
from trigner.evaluation.figures import check_figure, figure_for, save_figure


def test_an_empty_figure_of_this_size(refused):
    pytest.importorskip("matplotlib")
    assert figure_for(Path("a.PNG"), width=3, height=2).get_size_inches().tolist() == [3, 2]
    with refused():
        figure_for(Path("a.txt"), width=3, height=2)


def test_without_matplotlib_the_cure_is_told(monkeypatch, refused):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backend_bases", None)
    with refused(error=TrignerError):
        figure_for(Path("a.png"), width=3, height=2)


def test_a_figure_is_checked_before_the_work(tmp_path, refused):
    pytest.importorskip("matplotlib")
    check_figure(None)
    check_figure(tmp_path / "new" / "deep" / "a.svg")
    assert list((tmp_path / "new" / "deep").iterdir()) == []
    with refused():
        check_figure(tmp_path / "a.xyz")
    (tmp_path / "file").write_text("")
    with refused(error=TrignerError):
        check_figure(tmp_path / "file" / "a.svg")


@pytest.mark.parametrize("suffix", ["svg", "PDF", "png"])
def test_equal_figures_are_equal_files(tmp_path, suffix, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    written = []
    for name in ("first", "second"):
        path = tmp_path / f"{name}.{suffix}"
        figure = figure_for(path, width=3, height=2)
        figure.subplots().bar([1, 2], [3, 4])
        save_figure(figure, path)
        written.append(path.read_bytes())
    assert written[0] == written[1]
    assert b"CreationDate" not in written[0]
    assert b"<dc:date>" not in written[0]


def test_a_figure_that_is_there_stays_unless_it_may_be_replaced(tmp_path, refused):
    pytest.importorskip("matplotlib")
    path = tmp_path / "a.svg"
    path.write_text("theirs")
    figure = figure_for(path, width=3, height=2)
    with refused(error=TrignerError):
        save_figure(figure, path, overwrite=False)
    assert path.read_text() == "theirs"
    save_figure(figure, path)
    assert path.read_text() != "theirs"
