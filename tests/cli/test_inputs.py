from __future__ import annotations

import io
import json
import sys
import weakref

import pytest

from trigner.cli.inputs import inputs
from trigner.corpora.formats import FORMATS
from trigner.corpora.reading import Reading
from trigner.errors import TrignerError
from trigner.mentions import Document


def feed(monkeypatch, data):
    class Bytes:
        buffer = io.BytesIO(data)

    monkeypatch.setattr(sys, "stdin", Bytes)


def many(folder, count):
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:03}.txt").write_text(f"numb arm {number}")
    return folder


def test_texts_and_files_in_their_order(gold):
    found = inputs(["numb arm", str(gold), "my leg"])
    assert [d.id for d in found] == ["text-1", "one", "three", "two", "text-3"]
    assert (found.total, found.title) == (5, "5 documents")
    assert [d.id for d in found] == ["text-1", "one", "three", "two", "text-3"]


def test_one_document_gives_the_title(gold):
    assert inputs([str(gold / "one.txt")]).title == "one"


def test_standard_input_as_one_text(monkeypatch):
    feed(monkeypatch, b"numb\narm\n")
    found = inputs(["-"])
    assert (found.total, list(found)) == (1, [Document("stdin", "numb\narm\n")])


def test_standard_input_line_by_line(monkeypatch):
    feed(monkeypatch, "numb\r\n\nÄrm".encode())
    found = inputs(["-"], lines=True)
    assert (found.total, found.title) == (None, "standard input")
    assert list(found) == [
        Document("stdin-1", "numb"),
        Document("stdin-2", ""),
        Document("stdin-3", "Ärm"),
    ]


def test_standard_input_is_read_as_it_comes(monkeypatch):
    taken = []

    class Lines:
        buffer = (taken.append(n) or b'{"text": "numb"}\n' for n in range(100))

    monkeypatch.setattr(sys, "stdin", Lines)
    documents = iter(inputs(["-"], format="jsonl"))
    assert [next(documents).id, next(documents).id] == ["stdin-1", "stdin-2"]
    assert len(taken) == 2


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"ok\nb\xff\n", True),
        (b'{"text": "a"}\n{"text": 1}\n', False),
        (b'{"text": "a", "id": "x"}\n' * 2, False),
        (b"", False),
    ],
)
def test_bad_lines_are_named_when_they_come(monkeypatch, data, lines, refused):
    feed(monkeypatch, data)
    with refused():
        list(inputs(["-"], lines=lines, format="jsonl"))


def test_annotations_left_out_of_standard_input_are_told(monkeypatch, capsys):
    line = json.dumps({"text": "a", "entities": [{"label": "X", "fragments": [[0, 9]]}]})
    feed(monkeypatch, line.encode())
    assert len(list(inputs(["-"], format="jsonl", reading=Reading(skip_bad=True)))) == 1
    assert "standard input: 1 invalid annotation skipped" in capsys.readouterr().err


def test_standard_input_comes_once(monkeypatch, refused):
    feed(monkeypatch, b"a\n")
    for lines in (True, False):
        with refused("standard input"):
            inputs(["-", "-"], lines=lines)


def test_what_is_wrong_with_a_file_is_told_before_the_first_document(gold, refused):
    (gold / "two.ann").write_text("T1\tADR 0 900\tx\n")
    with refused("two.ann", 1):
        inputs(["numb", str(gold)])


def test_notices_are_told_once(gold, capsys):
    (gold / "two.ann").write_text("T1\tADR 0 900\tx\n")
    assert len(list(inputs([str(gold)], reading=Reading(skip_bad=True)))) == 3
    assert capsys.readouterr().err.count("left out: fragment 0 900") == 1


def test_equal_ids_and_empty_files(gold, tmp_path, refused):
    with refused():
        inputs([str(gold), str(gold / "one.txt")])
    (tmp_path / "none.json").write_text("[]")
    with refused("none.json"):
        inputs([str(tmp_path / "none.json")], format="grid")


def test_every_document_is_checked_before_the_work(gold):
    seen = []

    def check(documents):
        for document in documents:
            seen.append(document)
            yield document

    inputs(["numb\x0b\x00\t\x0b", str(gold)], check=check)
    texts = {"text-1": "\x0b\x00", "one": "", "three": "", "two": ""}
    assert seen == [Document(name, text) for name, text in texts.items()]


def test_what_is_written_into_a_folder_meanwhile_is_not_read(tmp_path):
    folder = many(tmp_path / "notes", 3)
    found = []
    for document in inputs(["numb", str(folder)]):
        (folder / f"new-{document.id}.txt").write_text("")
        found.append(document.id)
    assert found == ["text-1", "000", "001", "002"]


def test_files_that_change_are_told(tmp_path, refused):
    folder = many(tmp_path / "notes", 3)
    found = inputs([str(folder)])
    (folder / "new.txt").write_text("")
    with refused(error=TrignerError):
        list(found)


@pytest.mark.parametrize("kind", ["folder", "jsonl"])
def test_documents_are_not_kept(tmp_path, kind, monkeypatch):
    path = tmp_path / "notes"
    if kind == "folder":
        many(path, 50)
    else:
        path = tmp_path / "notes.jsonl"
        path.write_text("".join(json.dumps({"text": f"numb {n}"}) + "\n" for n in range(50)))
    alive: weakref.WeakSet[Watched] = weakref.WeakSet()

    class Watched(Document):
        """A document whose end can be watched."""

        __slots__ = ("__weakref__",)

        def __init__(self, *given, **named):
            super().__init__(*given, **named)
            alive.add(self)

        __hash__ = object.__hash__
        __eq__ = object.__eq__

    for reader in ("brat", "jsonl"):
        monkeypatch.setattr(f"trigner.corpora.{reader}.Document", Watched)
    most = []

    def check(documents):
        for document in documents:
            most.append(len(alive))
            yield document

    found = inputs([str(path)], check=check)
    assert len(most) == 50
    for _ in found:
        most.append(len(alive))
    assert len(most) == 100
    assert 0 < max(most) <= 3


def test_control_characters_of_names_do_not_reach_the_terminal(run, tmp_path, wording):
    name = "\x1b[31mred\x07\x9b.txt"
    (tmp_path / name).write_bytes(b"\xff")
    for command in (
        ("stats", tmp_path),
        ("stats", tmp_path, "--skip-bad"),
        ("stats", tmp_path / name),
        ("stats", f"{tmp_path / name}.gone"),
    ):
        result = run(*command)
        assert result.code == 2
        wording(result.err)
        assert not any(mark in result.err for mark in "\x1b\x07\x9b")


def test_ids_too_long_for_a_file_are_told_before_the_work(run, model, tmp_path):
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "x" * 300, "text": "numb"}))
    target = tmp_path / "out"
    command = ("extract", tmp_path / "a.jsonl", "--model", model, "--format", "brat")
    result = run(*command, "--out", target)
    assert (result.code, target.exists()) == (2, False)
    assert "is too long for the name of a file" in result.err


@pytest.mark.parametrize(
    ("format", "documents", "message"),
    [
        ("brat", [("a", "numb"), ("a.txt/b", "numb")], "'a.txt' would be a file and a folder"),
        ("cas", [("a", "numb"), ("b", "a\x0bb\x00")], "'b' has U+000B, which XML cannot hold"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(
    run, model, tmp_path, format, documents, message
):
    lines = (json.dumps({"id": id, "text": text}) for id, text in documents)
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    target = tmp_path / "out"
    for command in (("extract", "--model", model, "--format", format, "--out"), ("convert",)):
        more = ("--to", format) if command == ("convert",) else ()
        result = run(command[0], tmp_path / "a.jsonl", *command[1:], target, *more)
        assert (result.code, target.exists()) == (2, False)
        assert message in result.err


@pytest.mark.parametrize("text", ["nausea/vomiting", "pain.Nausea", "headache", "a/b/c", "n/a"])
def test_one_word_that_no_file_is_called_like_is_a_text(tmp_path, monkeypatch, text):
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path)
    (document,) = inputs([text])
    assert document.text == text


@pytest.mark.parametrize(
    "word",
    [
        "note",
        "notse/",
        "notes/ones",
        "post",
    ],
)
def test_one_word_that_is_nearly_the_name_of_a_file(tmp_path, monkeypatch, word, refused):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "one.txt").write_text("numb")
    (tmp_path / "posts.jsonl").write_text("")
    monkeypatch.chdir(tmp_path)
    with refused():
        inputs([word])
    assert next(iter(inputs([f"{word} hurt"]))).text == f"{word} hurt"


def test_a_link_that_leads_nowhere(tmp_path, refused):
    for name, target in (("gone", "nowhere"), ("loop", "loop")):
        (tmp_path / name).symlink_to(tmp_path / target)
        with refused():
            inputs([str(tmp_path / name)])


@pytest.mark.parametrize(
    "path", ["./absent", "../absent", "/absent", "absent/", "absent.txt", "~/a"]
)
def test_what_can_only_be_a_path(tmp_path, monkeypatch, path, refused):
    monkeypatch.chdir(tmp_path)
    with refused():
        inputs([path])


@pytest.mark.parametrize("ending", sorted({e for f in FORMATS.values() for e in f.endings}))
def test_a_word_with_the_ending_of_a_format_is_a_path(tmp_path, monkeypatch, ending, refused):
    monkeypatch.chdir(tmp_path)
    for path in (f"absent{ending}", f"absent{ending.upper()}"):
        with refused():
            inputs([path])
        assert next(iter(inputs([f"It hurt, see e.g. {path}"]))).text


def test_files_of_one_name_get_ids_by_their_paths(tmp_path, refused):
    for folder in ("a", "b/c"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "x.txt").write_text(folder)
    (tmp_path / "b/y.txt").write_text("alone")
    files = [str(tmp_path / name) for name in ("a/x.txt", "b/c/x.txt", "b/y.txt")]
    folders = [str(tmp_path / name) for name in ("a", "b/c")]
    for arguments, ids in ((files, ["a/x", "b/c/x", "b/y"]), (folders, ["a/x", "b/c/x"])):
        checked = []

        def check(documents, checked=checked):
            for document in documents:
                checked.append(document.id)
                yield document

        found = inputs(arguments, check=check)
        assert [d.id for d in found] == checked == ids
    assert [d.id for d in inputs(["numb", files[0], files[2]])] == ["text-1", "x", "y"]
    with refused():
        inputs([files[0], files[0]])
