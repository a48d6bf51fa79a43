from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from trigner.cli.extract import _print
from trigner.corpora.jsonl import LineWriter
from trigner.mentions import Document, Entity
from trigner.pipeline import chunks, extraction
from trigner.pipeline.found import PartialResult


def test_a_sentence(run, model):
    result = run("extract", "my left leg hurt . numb arm", "--model", model)
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert ["type", "entity", "characters", "score"] in [line.split() for line in lines]
    assert "my left leg hurt . numb arm" in lines[0]
    assert "ADR" in result.out or "Drug" in result.out


def test_json_lines_hold_offsets_into_the_file(run, model, gold):
    result = run("extract", gold, "--model", model, "--format", "jsonl")
    assert result.code == 0, result.err
    documents = [json.loads(line) for line in result.out.splitlines()]
    assert [d["id"] for d in documents] == ["one", "three", "two"]
    for document in documents:
        assert document["text"].encode() == (gold / f"{document['id']}.txt").read_bytes()
        for entity in document["entities"]:
            pieces = [document["text"][a:b] for a, b in entity["fragments"]]
            assert entity["text"] == " ".join(pieces)
            assert 0 <= entity["score"] <= 1


def test_own_fields_of_documents_are_kept_and_annotations_that_go_are_reported(
    run, model, tmp_path
):
    entity = {"label": "ADR", "fragments": [[0, 2]], "text": "my", "negated": True}
    item = {"id": "d", "text": "my arm hurt", "entities": [entity], "patient": {"age": 7}}
    (tmp_path / "a.jsonl").write_text(json.dumps(item))
    result = run("extract", tmp_path / "a.jsonl", "--model", model, "--format", "jsonl")
    assert result.code == 0, result.err
    assert json.loads(result.out)["patient"] == {"age": 7}
    assert "a.jsonl: 1 entity of the input is not written: the output contains" in result.err


def test_standard_input_in_a_format_that_is_not_read_from_it_is_refused(run, model, wording):
    result = run("extract", "-", "--from", "prodigy", "--model", model)
    assert result.code == 2
    wording(result.err)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("Pain in legs", "--lines"), "--lines is for standard input: give it as -"),
        (("Pain in legs", "--from", "jsonl"), "--from is the format of files: a text has none"),
        (("Pain in legs", "--link-threshold", "0.9"), "--link-threshold needs --link"),
    ],
)
def test_options_that_would_do_nothing_are_refused(run, model, given, told):
    result = run("extract", *given, "--model", model)
    assert (result.code, result.err) == (2, f"error: {told}\n")


def test_standard_input(run, model, monkeypatch, wording):
    class Bytes:
        buffer = io.BytesIO(b"my arm hurt")

    monkeypatch.setattr(sys, "stdin", Bytes)
    result = run("extract", "-", "--model", model, "--format", "jsonl")
    assert json.loads(result.out)["text"] == "my arm hurt"
    Bytes.buffer = io.BytesIO(b"my arm \xff")
    result = run("extract", "-", "--model", model)
    assert result.code == 2
    wording(result.err)


def feed(monkeypatch, lines):
    class Lines:
        buffer = iter(lines)

    monkeypatch.setattr(sys, "stdin", Lines)


@pytest.mark.parametrize("format", ["jsonl", "brat", "html", "bigbio", "grid", "inline"])
def test_a_stream_keeps_a_bounded_number_of_documents(run, model, monkeypatch, tmp_path, format):
    monkeypatch.setattr(chunks, "DOCUMENTS", 4)
    drawn, ahead = [], []

    def lines():
        for number in range(40):
            drawn.append(number)
            yield f"numb arm {number}\n".encode()

    whole = LineWriter.add

    def watched(writer, document, entities, *, is_last):
        whole(writer, document, entities, is_last=is_last)
        ahead.append(len(drawn) - len(ahead))

    monkeypatch.setattr(LineWriter, "add", watched)
    feed(monkeypatch, lines())
    out = tmp_path / "found"
    given = ("extract", "-", "--lines", "--model", model, "--format", format, "--out", out)
    result = run(*given)
    assert result.code == 0, result.err
    assert re.search(rf"^40 documents in \d+ files?: {out}$", result.err, re.M)
    assert (len(drawn), len(ahead)) == (40, 40)
    assert max(ahead) <= 4
    if format == "html":
        assert "<title>standard input</title>" in out.read_text("utf-8")
    else:
        stats = run("stats", out, "--from", format, "--json")
        assert json.loads(stats.out)["documents"] == 40


@pytest.mark.parametrize("format", [None, "jsonl", "grid"])
def test_what_is_found_in_a_long_document_is_handed_on_as_it_comes(
    run, model, monkeypatch, tmp_path, format
):
    monkeypatch.setattr(chunks, "WORDS", 10)
    cut, add = extraction.chunks, LineWriter.add
    drawn, added = [], []

    def watched_chunks(documents):
        for chunk in cut(documents):
            drawn.append(chunk)
            yield chunk

    def watched_add(writer, document, entities, *, is_last):
        assert len(drawn) == len(added) + 1, "the next chunk was not to be drawn yet"
        add(writer, document, entities, is_last=is_last)
        added.append((len(entities), is_last))

    monkeypatch.setattr(extraction, "chunks", watched_chunks)
    monkeypatch.setattr(LineWriter, "add", watched_add)
    feed(monkeypatch, [b"My left leg hurt . Numb arm . " * 20])
    out = () if format is None else ("--out", tmp_path / "found")
    given = ("extract", "-", "--lines", "--model", model, "--format", format or "jsonl", *out)
    result = run(*given)
    assert result.code == 0, result.err
    assert [is_last for _, is_last in added] == [False] * (len(drawn) - 1) + [True]
    assert len(drawn) >= 10
    assert sum(count > 0 for count, _ in added) >= 10


def test_standard_input_of_json_lines(run, model, monkeypatch):
    feed(monkeypatch, [b'{"id": "x", "text": "numb arm"}\n', b'{"text": "my leg"}\n'])
    result = run("extract", "-", "--from", "jsonl", "--model", model, "--format", "jsonl")
    assert [json.loads(line)["id"] for line in result.out.splitlines()] == ["x", "stdin-2"]
    feed(monkeypatch, [b"numb arm\n"])
    assert run("extract", "-", "--lines", "--model", model).out.startswith("stdin-1\n")


@pytest.mark.parametrize("format", ["jsonl", "brat", "html", "bigbio"])
def test_what_was_done_before_a_bad_line_is_told_and_kept(
    run, model, monkeypatch, tmp_path, format, wording
):
    out = tmp_path / "found"
    given = ("extract", "-", "--lines", "--model", model, "--format", format, "--out", out)
    feed(monkeypatch, [b"numb arm\n", b"my leg\n", b"\xff\n", b"pain\n"])
    result = run(*given)
    assert result.code == 2
    assert "standard input:3" in result.err
    wording(result.err)
    partial = out / ".partial" if format == "brat" else tmp_path / "found.partial"
    names = {partial.name, f"{partial.name}.record"}
    assert {path.name for path in partial.parent.iterdir()} == names
    lines = partial.read_text("utf-8").splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["numb arm", "my leg"]


def test_nothing_is_written_when_a_file_is_bad(run, model, gold, tmp_path, wording):
    (gold / "two.ann").write_text("T1\tADR 0 900\tx\n")
    for format in ("brat", "jsonl"):
        out = tmp_path / "found"
        result = run("extract", gold, "--model", model, "--format", format, "--out", out)
        assert result.code == 2
        assert "two.ann:1" in result.err
        wording(result.err)
        assert not out.exists()
        assert not (tmp_path / "found.partial").exists()


def test_ids_that_are_no_names_of_files_are_refused_before_the_work(run, model, tmp_path, wording):
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "good", "text": "pain"}\n{"id": "../a", "text": "pain"}\n')
    out = tmp_path / "found"
    result = run("extract", path, "--model", model, "--format", "brat", "--out", out)
    assert result.code == 2
    wording(result.err)
    assert not out.exists()


@pytest.mark.parametrize("path", ["notes/absent.txt", "absent.txt", "absent/"])
def test_what_looks_like_a_path_and_is_none(run, model, path, wording):
    result = run("extract", path, "--model", model)
    assert result.code == 2
    assert path in result.err
    wording(result.err)


@pytest.mark.parametrize("text", ["pain", "and/or both hurt", "It hurt. Now.", "8.5 mg/dl now"])
def test_what_is_a_text(run, model, text):
    assert run("extract", text, "--model", model).code == 0


def test_threshold_and_empty_text(run, model):
    result = run("extract", "pain", "--model", model, "--threshold", "1")
    assert result.out.strip() == "no entities found"
    assert run("extract", "", "--model", model).code == 0
    assert run("extract", "pain", "--model", model, "--threshold", "2").code == 2


def test_bad_usage(run, model, gold, tmp_path, wording):
    assert "unknown format" in run("extract", "a", "--model", model, "--format", "xml").err
    assert "needs --out" in run("extract", "a", "--model", model, "--format", "brat").err
    full = tmp_path / "full"
    full.mkdir()
    (full / "x").write_text("")
    result = run("extract", "a", "--model", model, "--format", "brat", "--out", full)
    assert result.code == 2
    wording(result.err)
    result = run("extract", gold, gold, "--model", model)
    assert result.code == 2
    wording(result.err)


def test_a_long_line_is_read_whole(run, model, tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("pain arm numb tablet " * 750)
    result = run("extract", path, "--model", model, "--format", "jsonl")
    assert result.code == 0
    assert "overlapping windows" in result.err
    assert json.loads(result.out)["entities"][-1]["fragments"][0][0] > 14000


def test_texts_that_are_no_names_of_files(run, model, tmp_path, monkeypatch, wording):
    assert run("extract", "pain in my arm " * 30, "--model", model).code == 0
    (tmp_path / "note.txt").write_text("pain")
    (tmp_path / "note.ann").write_text("no annotation")
    monkeypatch.chdir(tmp_path)
    assert run("extract", "", "--model", model).out.strip() == "no entities found"
    result = run("extract", "pain \udcff here", "--model", model)
    assert result.code == 2
    wording(result.err)


def test_what_looks_like_markup_is_shown(capsys):
    text = "numb [see label] arm [/b]"
    entity = Entity("[adr]", ((0, 16), (17, 25)), "numb [see label] arm [/b]", 0.5)
    _print([PartialResult(Document("note", text), (entity,), len(text), True)], many=False)
    shown = capsys.readouterr().out
    assert "[adr]" in shown
    assert "numb [see label] arm [/b]" in shown


def test_html(run, model, gold, tmp_path, wording):
    out = tmp_path / "found.html"
    result = run("extract", gold, "--model", model, "--format", "html", "--out", out)
    assert result.code == 0, result.err
    assert "<title>3 documents</title>" in out.read_text("utf-8")
    assert "needs --out" in run("extract", "a", "--model", model, "--format", "html").err
    again = run("extract", "a", "--model", model, "--format", "html", "--out", out)
    assert again.code == 2
    empty = tmp_path / "empty"
    empty.mkdir()
    again = run("extract", "a", "--model", model, "--format", "html", "--out", empty)
    assert again.code == 2
    wording(again.err)


def test_entities_are_drawn_under_their_text(capsys):
    text = "Pain in my hands."
    entity = Entity("ADR", ((0, 4), (11, 16)), "Pain hands", 0.5)
    _print([PartialResult(Document("note", text), (entity,), len(text), True)], many=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.rstrip() for line in lines[:2]] == [
        "          Pain in my hands.",
        "ADR 0.50  ┗━━┛╌╌╌╌╌╌╌┗━━━┛",
    ]


def test_a_long_text_is_drawn_as_it_comes(capsys):
    first, second, third = "Pain in my hands.", "Nothing here.", "Then a bad rash."
    text = f"{first} {second}\n{third}"
    pain = Entity("ADR", ((0, 4), (11, 16)), "Pain hands", 0.5)
    rash = Entity("ADR", ((text.index("rash"), text.index("rash") + 4),), "rash", 0.9)
    document, shown = Document("note", text), []
    ends = [len(first), len(f"{first} {second}"), len(text)]
    for number, (entities, end) in enumerate(zip([(pain,), (), (rash,)], ends, strict=True)):
        shown.append(PartialResult(document, entities, end, is_last=number == 2))
    drawn = []
    for many in (False, True):
        _print(shown, many=many)
        drawn.append([line.rstrip() for line in capsys.readouterr().out.splitlines()])
    alone = [
        *("          Pain in my hands.", "ADR 0.50  ┗━━┛╌╌╌╌╌╌╌┗━━━┛", ""),
        *("type  entity        characters  score", "ADR   Pain … hands  0-4 11-16   0.500", ""),
        *("          Then a bad rash.", "ADR 0.90             ┗━━┛", ""),
        *("type  entity  characters  score", "ADR   rash    43-47       0.900"),
    ]
    assert drawn == [alone, ["note", *alone, "", "2 entities"]]


def test_a_long_text_without_entities_says_so_once(capsys):
    document = Document("note", "Nothing. Nothing.")
    nothing = [PartialResult(document, (), end, is_last=end == 17) for end in (8, 17)]
    _print(nothing, many=False)
    assert capsys.readouterr().out == "no entities found\n"


def test_control_characters_do_not_reach_the_terminal(capsys):
    entity = Entity("ADR", ((0, 9),), "", 0.5)
    document = Document("\x1b]0;title\x07", "\x1b[2Jrash\x00")
    _print([PartialResult(document, (entity,), 9, True)], many=True)
    assert not set(capsys.readouterr().out) & {"\x1b", "\x07", "\x00"}


def test_thresholds_drop_entities_of_their_type(run, model, gold, wording):
    def scores(option):
        printed = run(
            *("extract", gold, "--model", model, "--format", "jsonl", "--threshold", option)
        ).out
        entities = [e for line in printed.splitlines() for e in json.loads(line)["entities"]]
        return sorted((e["label"], e["score"]) for e in entities)

    whole = scores("0")
    cut = sorted(score for label, score in whole if label == "ADR")[-1]
    assert scores(f"ADR={cut}") == [(a, s) for a, s in whole if a != "ADR" or s >= cut]
    assert scores(str(cut)) == [(a, s) for a, s in whole if s >= cut]
    result = run("extract", gold, "--model", model, "--threshold", "2")
    assert result.code == 2
    wording(result.err)


@pytest.mark.parametrize("more", [[], ["--overwrite"], ["--resume"]])
@pytest.mark.parametrize(
    ("given", "format", "out", "told"),
    [
        ("gold", "brat", "gold", "is the input"),
        ("gold", "brat", "link", "is the input"),
        ("link", "brat", "gold/../gold", "is the input"),
        ("gold", "brat", ".", "contains the input"),
        ("gold/one.txt", "brat", "gold", "contains the input"),
        ("gold", "jsonl", "gold/one.ann", "is input"),
        ("gold/one.txt", "jsonl", "gold/one.ann", "is input"),
        ("gold/one.ann", "html", "gold/one.txt", "is input"),
        ("gold/one.txt", "html", "link/one.txt", "is the input"),
        (".", "brat", "gold", "contains input"),
    ],
)
def test_what_is_read_is_not_replaced(
    run, model, gold, tmp_path, monkeypatch, given, format, out, told, more
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(gold)
    before = {path: path.read_bytes() for path in gold.iterdir()}
    result = run("extract", given, "--model", model, "--format", format, "--out", out, *more)
    assert result.code == 2
    assert result.err == f"error: {Path(out)}: {told}: choose another --out\n"
    assert {path: path.read_bytes() for path in gold.iterdir()} == before


def test_an_output_next_to_what_is_read_may_be_replaced(run, model, gold):
    for given, format in ((gold, "html"), (gold / "one.txt", "jsonl")):
        out = gold / f"found.{format}"
        for more in ([], ["--overwrite"]):
            result = run(
                "extract", given, "--model", model, "--format", format, "--out", out, *more
            )
            assert result.code == 0, result.err
