from __future__ import annotations

import os

from trigner.corpora import read
from trigner.corpora.folders import (
    files_below,
    files_in,
    find_folder,
    folders_below,
    walk,
    without_ending,
)


def put(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


def test_a_folder_is_found_by_the_end_of_its_path_at_any_depth(tmp_path):
    put(tmp_path, "unpacked/Corpus/REPORTS/a.txt", "unpacked/Other/REPORTS/b.txt")
    assert find_folder(tmp_path, ("Corpus/REPORTS",)) == tmp_path / "unpacked/Corpus/REPORTS"
    assert find_folder(tmp_path, ("Nowhere", "corpus/reports")) is not None


def test_the_folder_itself_counts(tmp_path):
    put(tmp_path, "Corpus/REPORTS/a.txt")
    root = tmp_path / "Corpus" / "REPORTS"
    assert find_folder(root, ("Corpus/REPORTS",)) == root


def test_the_first_name_that_fits_wins(tmp_path):
    put(tmp_path, "train/text/a.txt", "Corpus/b.txt")
    assert find_folder(tmp_path, ("Corpus", "train/text")) == tmp_path / "Corpus"
    assert find_folder(tmp_path, ("train/text", "Corpus")) == tmp_path / "train/text"


def test_nothing_fits(tmp_path):
    put(tmp_path, "MyCorpus/a.txt")
    assert find_folder(tmp_path, ("Corpus",)) is None


def test_a_folder_with_nothing_but_folders_does_not_count(tmp_path):
    put(tmp_path, "Corpus/Corpus/a.txt", "Corpus/.DS_Store")
    assert find_folder(tmp_path, ("Corpus",)) == tmp_path / "Corpus/Corpus"


def test_two_that_fit_are_refused_and_named(tmp_path, refused):
    put(tmp_path, "one/Corpus/a.txt", "two/Corpus/a.txt")
    with refused(tmp_path):
        find_folder(tmp_path, ("Corpus",))


def test_what_archives_from_a_mac_leave_is_not_seen(tmp_path):
    put(tmp_path, "Corpus/a.txt", "Corpus/._a.txt", "__MACOSX/Corpus/._a.txt", ".git/Corpus/a.txt")
    assert list(folders_below(tmp_path)) == [tmp_path / "Corpus"]
    assert find_folder(tmp_path, ("Corpus",)) == tmp_path / "Corpus"
    assert files_below(tmp_path, (".txt",)) == [tmp_path / "Corpus/a.txt"]


def test_files_are_sorted_and_have_the_ending(tmp_path):
    put(tmp_path, "b.txt", "a.txt", "c.ann", "deep/d.txt")
    assert [file.name for file in files_in(tmp_path, (".txt",))] == ["a.txt", "b.txt"]
    assert [file.name for file in files_below(tmp_path, (".txt",))] == ["a.txt", "b.txt", "d.txt"]


def test_endings_are_those_of_any_case(tmp_path):
    put(tmp_path, "a.TXT", "b.Txt", "c.ann")
    assert [file.name for file in files_in(tmp_path, (".txt",))] == ["a.TXT", "b.Txt"]
    assert without_ending("a.Pipe.TXT", (".pipe.txt", ".txt")) == "a"
    assert without_ending("a.md", (".txt",)) == "a.md"


def test_hidden_files_are_found_apart(tmp_path):
    put(tmp_path, "a.txt", ".b.txt", ".c/d.txt", "__MACOSX/._a.txt", "e/.f/g.txt", "e/.h.ann")
    assert list(walk(tmp_path, (".txt",))) == [tmp_path / "a.txt"]
    hidden = {file.name for file in walk(tmp_path, (".txt",), hidden=True)}
    assert hidden == {".b.txt", "d.txt", "._a.txt", "g.txt"}


def test_linked_folders_are_searched_and_none_twice(tmp_path):
    put(tmp_path, "there/train/b.txt", "there/c.txt", "corpus/a.txt", "corpus/.cache/d.txt")
    root = tmp_path / "corpus"
    (root / "deep").mkdir()
    for name, target in [
        ("elsewhere", tmp_path / "there"),
        ("elsewhere2", tmp_path / "there"),
        ("train", tmp_path / "there" / "train"),
        ("fetched", ".cache"),
        (".hidden", tmp_path / "there"),
        ("deep/self", "."),
        ("deep/up", "../.."),
        ("same", "deep"),
    ]:
        (root / name).symlink_to(target)
    (tmp_path / "there" / "back").symlink_to(root)
    found = [file.relative_to(root).as_posix() for file in walk(root, (".txt",))]
    assert found == ["a.txt", "elsewhere/c.txt", "elsewhere/train/b.txt", "fetched/d.txt"]


def test_documents_of_linked_folders_are_read(tmp_path):
    put(tmp_path, "there/b.txt", "corpus/a.txt")
    (tmp_path / "corpus" / "more").symlink_to(tmp_path / "there")
    assert [document.id for document in read(tmp_path / "corpus").documents] == ["a", "more/b"]


def test_where_the_root_itself_lies_does_not_matter(tmp_path):
    put(tmp_path, ".hidden/a.txt")
    assert len(list(walk(tmp_path / ".hidden", (".txt",)))) == 1


def test_a_folder_that_may_not_be_read_is_told(tmp_path, monkeypatch, refused):
    put(tmp_path, "open/a.txt", "closed/b.txt")
    scan = os.scandir

    def scandir(folder):
        if str(folder).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return scan(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    with refused("closed"):
        list(walk(tmp_path, (".txt",)))
