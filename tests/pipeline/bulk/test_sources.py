from __future__ import annotations

import os
from pathlib import Path

import fsspec
import pytest

from rows import write_rows
from trigner.errors import InputError, TrignerError
from trigner.pipeline.bulk.sources import find_sources

ROWS = [{"text": "pain"}]


@pytest.fixture
def folder(tmp_path):
    """Files of every kind, and others."""
    root = tmp_path / "in"
    (root / "deep").mkdir(parents=True)
    (root / ".hidden").mkdir()
    for name in ("b.parquet", "a.jsonl", "deep/c.jsonl.gz", "d.csv", ".hidden/e.csv", "_f.csv"):
        write_rows(root / name, ROWS)
    for name in ("z.txt", "deep/y.txt"):
        (root / name).write_text("pain")
    (root / "notes.pdf").write_bytes(b"")
    return root


def names(sources, root):
    return [(os.path.relpath(own.name, root), own.kind, len(own.files)) for own in sources]


def test_a_folder_is_searched_through(folder, tmp_path):
    sources, notices = find_sources([str(folder)], out=tmp_path / "out")
    assert names(sources, folder) == [
        ("a.jsonl", "jsonl", 1),
        ("b.parquet", "parquet", 1),
        ("d.csv", "csv", 1),
        ("deep/c.jsonl.gz", "jsonl", 1),
        (".", "txt", 2),
    ]
    assert sources[-1].ids == ("deep/y", "z")
    assert notices == [f"{folder}: 1 file of another kind skipped"]


def test_the_output_is_no_input(folder):
    write_rows(folder / "d.parquet", ROWS)
    (folder / "found").mkdir()
    before = find_sources([str(folder)], out=folder / "found")
    write_rows(folder / "found/part-1.parquet", ROWS)
    assert find_sources([str(folder)], out=folder / "found") == before


@pytest.mark.parametrize("given", ["in", "in/**/*.parquet", "in/*", "in/f*"])
@pytest.mark.parametrize("out", ["in/found", "in/deep/../found", "link/found", "in/way"])
def test_the_output_is_no_input_however_both_are_spelt(
    folder, tmp_path, monkeypatch, given, out, refused
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("in")
    (folder / "way").symlink_to("found")
    (folder / "f.parquet").write_bytes(b"")
    before = find_sources([given], out=Path(out))
    for name in ("part-1.parquet", "_annotate/journal.jsonl", "_annotate/x.parquet"):
        (folder / "found/_annotate").mkdir(parents=True, exist_ok=True)
        write_rows(folder / "found" / name, ROWS)
    assert find_sources([given], out=Path(out)) == before
    with refused():
        find_sources(["in/found"], out=Path(out))
    for inside in ("in/found/part-1.parquet", "in/found/*.parquet"):
        with refused():
            find_sources([inside], out=Path(out))


def test_folders_that_a_glob_does_not_name_are_passed_over_where_they_are_hidden(folder, tmp_path):
    for name in ("_work/g.csv", "deep/.git/h.csv"):
        (folder / name).parent.mkdir()
        write_rows(folder / name, ROWS)

    def found(glob):
        sources, _ = find_sources([f"{folder}/{glob}"], out=tmp_path / "out")
        return [os.path.relpath(own.name, folder) for own in sources if own.kind == "csv"]

    assert found("**/*.csv") == ["_f.csv", "d.csv"]  # a file's own name is what the glob says
    assert found("*") == ["_f.csv", "d.csv"]
    assert found("_*") == ["_f.csv", "_work/g.csv"]
    assert found("_work/*.csv") == ["_work/g.csv"]
    assert found("**/.*/*.csv") == [".hidden/e.csv", "deep/.git/h.csv"]


@pytest.mark.parametrize("again", ["in/deep/../b.parquet", "link/b.parquet", "in/c.parquet"])
def test_a_file_that_is_given_twice_is_noticed_however_it_is_spelt(
    folder, tmp_path, monkeypatch, again, refused
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("in")
    (folder / "c.parquet").symlink_to("b.parquet")
    with refused():
        find_sources(["in/b.parquet", again], out=tmp_path / "out")


def test_globs_files_and_urls(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    given = ["b.parquet", "*.csv", "deep/*"]
    sources, _ = find_sources(given, out=tmp_path / "out")
    assert [own.kind for own in sources] == ["parquet", "csv", "csv", "jsonl", "txt"]
    assert sources[0].name == str(folder / "b.parquet")
    with fsspec.open("memory://bucket/x.jsonl", "wb") as file:
        file.write(b'{"text": "pain"}\n')
    for url in ("memory://bucket/x.jsonl", "memory://bucket", "memory://bucket/*.jsonl"):
        (source,), _ = find_sources([url], out=tmp_path / "out")
        assert source.name == "memory:///bucket/x.jsonl"
        assert source.size == 17
        with source.files[0].open() as file:
            assert file.read() == b'{"text": "pain"}\n'


def test_a_name_that_a_chain_of_file_systems_could_have(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "x::y.csv").write_text("text\npain\n")
    (source,), _ = find_sources(["x::y.csv"], out=tmp_path / "out")
    assert source.name == str(folder / "x::y.csv")
    with source.files[0].open() as file:
        assert file.read() == b"text\npain\n"


def test_ids_of_texts_are_paths_below_the_glob_and_differ(folder, tmp_path):
    (folder / "deep/y.TXT").write_text("pain")

    def ids(glob):
        return find_sources([f"{folder}/{glob}"], out=tmp_path / "out")[0][-1].ids

    assert ids("*.txt") == ("z",)
    assert ids("*") == ("deep/y.TXT", "deep/y.txt", "z")
    assert ids("dee?/*.txt") == ("deep/y",)


def test_names_that_are_not_utf_8_are_escaped(tmp_path):
    bad = os.fsdecode(b"a\xff")
    (tmp_path / f"{bad}.txt").write_text("pain")
    (tmp_path / f"{bad}.csv").write_text("text\npain\n")
    sources, _ = find_sources([str(tmp_path)], out=tmp_path / "out")
    assert [own.ids for own in sources] == [(), ("a\\xff",)]
    assert sources[0].name == f"{tmp_path}/a\\xff.csv"
    assert all(file.open().read() for own in sources for file in own.files)


def test_a_changed_file_is_another(folder, tmp_path):
    def identities():
        return [own.identity() for own in find_sources([str(folder)], out=tmp_path / "out")[0]]

    before = identities()
    assert identities() == before
    os.utime(folder / "deep/y.txt", (1, 1))
    changed = [one != other for one, other in zip(identities(), before, strict=True)]
    assert changed == [False, False, False, False, True]


@pytest.mark.parametrize(
    "given",
    [
        [""],
        ["nothing.csv"],
        ["in/*.parq"],
        ["in/notes.pdf"],
        ["in/posts.json"],
        ["in/posts.tsv"],
        ["out"],
        ["in/b.parquet", "in"],
        ["empty"],
        ["nosuch://bucket/a.csv"],
    ],
)
def test_what_is_no_input(folder, tmp_path, monkeypatch, given, refused):
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "out"):
        (tmp_path / name).mkdir()
    for name in ("posts.json", "posts.tsv"):
        (tmp_path / "in" / name).touch()
    with refused(error=(InputError, TrignerError)):
        find_sources(given, out=tmp_path / "out")


@pytest.mark.parametrize("name", ["fifo.csv", "fifo.parquet", "fifo.txt", "fifo.jsonl.gz"])
def test_what_could_be_read_without_end_is_refused(folder, tmp_path, name, refused):
    os.mkfifo(folder / name)
    for given in (folder / name, folder, folder / "f*"):
        with refused():
            find_sources([str(given)], out=tmp_path / "out")
    (folder / name).rename(folder / "fifo")  # which is no input
    find_sources([str(folder)], out=tmp_path / "out")
