"""Kept runs: files, tables, and what packing leaves as it is."""

from __future__ import annotations

import lzma
import runpy
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trigner.errors import TrignerError
from trigner.lab.studies.store import corpora_with_runs, keep_run, kept_runs, pack_runs

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts/pack_results.py"

RUN = {"name": "a", "settings": {"optimisation.gone": 1e-08}, "found": None}
FOUND = '{"overall":[["ADR",0,4,0.5]]}'

names = st.text("abc-=.0", min_size=1).filter(lambda name: name.strip("."))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
runs = st.dictionaries(names, st.tuples(values, st.none() | values), max_size=5)


def keep(folder, name="a", found=FOUND, **changes):
    return keep_run(folder, "small", {**RUN, "name": name, **changes}, found)


def content(folder):
    return [(kept.name, kept.run, kept.found) for kept in kept_runs(folder, "small")]


@settings(max_examples=40)
@given(runs, runs)
def test_packed_runs_are_those_of_the_files(early, late):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in (early, {name: late[name] for name in late.keys() - early.keys()}):
            for name, (value, found) in part.items():
                keep(folder, name, None if found is None else f"[{found!r}]", value=value)
            before = content(folder)
            pack_runs(folder, "small")
            assert content(folder) == before
            assert not list(folder.rglob("*.json"))
        expected = {**late, **early}
        assert {name: run["value"] for name, run, _ in before} == {
            name: value for name, (value, _) in expected.items()
        }


def test_equal_runs_make_equal_tables(tmp_path):
    for order in (("a", "b"), ("b", "a")):
        for name in order:
            keep(tmp_path / order[0], name)
        pack_runs(tmp_path / order[0], "small")
    first, second = (tmp_path / name / "small.jsonl.xz" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()


def test_a_run_is_never_replaced(tmp_path):
    path = keep(tmp_path)
    assert keep(tmp_path) == path
    with pytest.raises(TrignerError):
        keep(tmp_path, settings={})
    assert content(tmp_path) == [("a", RUN, FOUND)]


def test_a_run_that_is_packed_already_is_packed_once(tmp_path):
    keep(tmp_path)
    pack_runs(tmp_path, "small")
    path = keep(tmp_path)
    keep(tmp_path, "b")
    packed = pack_runs(tmp_path, "small")
    assert (packed.runs, packed.added) == (2, 2)
    assert not path.exists()


def test_two_runs_of_one_name_are_both_named(tmp_path, refused):
    keep(tmp_path)
    pack_runs(tmp_path, "small")
    path = keep(tmp_path, found=None)
    for read in (kept_runs, pack_runs):
        with refused():
            read(tmp_path, "small")
    assert path.exists()


def test_what_is_nothing_of_a_run_stays_and_counts_for_no_corpus(tmp_path):
    keep(tmp_path)
    (tmp_path / "small" / "search.journal").touch()
    (tmp_path / "empty").mkdir()
    assert corpora_with_runs(tmp_path) == ["small"]
    pack_runs(tmp_path, "small")
    assert [path.name for path in (tmp_path / "small").iterdir()] == ["search.journal"]
    assert corpora_with_runs(tmp_path) == ["small"]
    before = (tmp_path / "small.jsonl.xz").stat()
    assert pack_runs(tmp_path, "small").added == 0
    assert (tmp_path / "small.jsonl.xz").stat() == before


LINE = b'{"run":{"name":"a"},"found":{}}\n'


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b'{"run":{"name":"a"}}',
        b'{"run":{}}\n',
        b'{"run":{"name":"a"},"more":1}\n',
        b'{"run":{"name":"a"\n',
        b'{"run":[]}\n',
        b'{"run":{"name":["a"]}}\n',
        b'{"run":' + b"[" * 100_000 + b"}\n",
        b'{"run":{"name":"\xff"}}\n',
    ],
)
def test_what_is_damaged_is_named_by_file_and_line(tmp_path, line, refused):
    table = tmp_path / "small.jsonl.xz"
    table.write_bytes(lzma.compress(LINE + line))
    with refused() as raised:
        kept_runs(tmp_path, "small")
    assert raised.value.path == table
    table.unlink()
    (tmp_path / "small").mkdir()
    path = tmp_path / "small" / "a.json"
    path.write_bytes(line)
    with refused() as raised:
        kept_runs(tmp_path, "small")
    assert (raised.value.path, raised.value.line) == (path, None)


def test_a_line_that_is_no_run_has_its_number(tmp_path, refused):
    (tmp_path / "small.jsonl.xz").write_bytes(lzma.compress(LINE + b"{}\n"))
    with refused() as raised:
        kept_runs(tmp_path, "small")
    assert raised.value.line == 2


@pytest.mark.parametrize("change", [lambda data: data[:-20], lambda data: b"no table"])
def test_a_table_that_is_cut_off_is_named(tmp_path, change, refused):
    table = tmp_path / "small.jsonl.xz"
    table.write_bytes(change(lzma.compress(LINE)))
    with refused() as raised:
        kept_runs(tmp_path, "small")
    assert raised.value.path == table


def test_a_file_of_another_name_than_its_run_is_damaged(tmp_path, refused):
    path = keep(tmp_path)
    path.rename(path.with_name("b.json"))
    with refused():
        kept_runs(tmp_path, "small")


def test_nothing_goes_when_the_runs_cannot_be_packed(tmp_path, monkeypatch, refused):
    keep(tmp_path)
    pack_runs(tmp_path, "small")
    keep(tmp_path, "b")
    before = content(tmp_path)
    other = lzma.compress(LINE)
    monkeypatch.setattr("trigner.lab.studies.store._compressed", lambda data: other)
    with refused(error=TrignerError):
        pack_runs(tmp_path, "small")
    assert content(tmp_path) == before


def test_nothing_goes_when_the_table_does_not_hold_it(tmp_path, monkeypatch, refused):
    path = keep(tmp_path)

    @contextmanager
    def lost(table):
        yield lambda data: table.write_bytes(lzma.compress(LINE))

    monkeypatch.setattr("trigner.lab.studies.store.atomic_write", lost)
    with refused(error=TrignerError):
        pack_runs(tmp_path, "small")
    assert path.exists()


def test_the_script_packs_every_corpus_and_refuses_what_is_too_large(tmp_path, capsys, monkeypatch):
    main = runpy.run_path(str(SCRIPT))["main"]
    keep(tmp_path)
    keep_run(tmp_path, "other", RUN, None)
    assert main(tmp_path) == 0
    assert not list(tmp_path.rglob("*.json"))
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("other: 1 runs, 1 of them new")
    assert second.startswith("small: 1 runs, 1 of them new")
    monkeypatch.setitem(main.__globals__, "MOST_BYTES", 10)
    assert main(tmp_path) == 1


def test_the_kept_runs_are_packed_and_small():
    tables = runpy.run_path(str(SCRIPT))
    folder = tables["RESULTS"]
    assert sum(path.stat().st_size for path in folder.glob("*.jsonl.xz")) <= tables["MOST_BYTES"]
    assert "spl-adr" in corpora_with_runs(folder)
