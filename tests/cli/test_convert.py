from __future__ import annotations

import json
import os
import stat

import pytest

from trigner.corpora import brat
from trigner.corpora.formats import FORMATS
from trigner.errors import TrignerError


@pytest.mark.parametrize("format", ["jsonl", "bigbio", "grid", "inline"])
def test_there_and_scored_again(run, gold, tmp_path, format):
    target = tmp_path / "converted.x"
    result = run("convert", gold, target, "--to", format)
    assert result.code == 0, result.err
    assert "3 documents" in result.err
    stats = run("stats", target, "--from", format, "--json")
    assert stats.code == 0, stats.err
    assert json.loads(stats.out)["entities"] == 5


def test_what_a_format_cannot_hold_is_told(run, gold, tmp_path):
    result = run("convert", gold, tmp_path / "x.json", "--to", "grid")
    assert result.code == 0
    assert "note: " in result.err


@pytest.mark.parametrize("format", ["grid", "conll", "inline", "gliner", "hf-tokens"])
def test_documents_without_words_are_counted_where_they_have_no_place(run, tmp_path, format):
    lines = tmp_path / "a.jsonl"
    texts = ["", " \n\u00a0", "pain. More."]
    lines.write_text("".join(json.dumps({"id": f"d{len(t)}", "text": t}) + "\n" for t in texts))
    result = run("convert", lines, tmp_path / "b", "--to", format)
    assert (
        "note: documents without words not written, as the format cannot hold them: 2" in result.err
    )
    assert "1 document in 1 file: " in result.err
    result = run("convert", lines, tmp_path / "c", "--to", format, "--json")
    assert json.loads(result.out)["documents"] == 1
    result = run("convert", lines, tmp_path / "d", "--to", "jsonl")
    assert "3 documents in 1 file: " in result.err


def test_an_existing_target_is_refused(run, gold, tmp_path, wording):
    (tmp_path / "there.jsonl").write_text("")
    result = run("convert", gold, tmp_path / "there.jsonl", "--to", "jsonl")
    assert result.code == 2
    wording(result.err)


def test_unknown_format(run, gold, tmp_path):
    for format, wrong in (("xml", "unknown format 'xml'"), ("cadec", "cadec is read-only")):
        result = run("convert", gold, tmp_path / "x", "--to", format)
        assert result.code == 2
        names = ", ".join(name for name, known in FORMATS.items() if known.write)
        assert result.err == f"error: {wrong}; writable formats: {names}\n"


def test_an_existing_target_is_replaced_when_asked(run, gold, tmp_path):
    target = tmp_path / "there.jsonl"
    target.write_text("old")
    assert run("convert", gold, target, "--to", "jsonl").code == 2
    assert target.read_text() == "old"
    assert run("convert", gold, target, "--to", "jsonl", "--overwrite").code == 0
    assert len(target.read_text().splitlines()) == 3
    assert {path.name for path in tmp_path.iterdir()} == {"gold", "there.jsonl"}


def test_a_folder_is_replaced_and_other_files_are_not(run, gold, tmp_path, wording):
    (gold / "thesis.doc").write_text("mine")
    lines = tmp_path / "lines.jsonl"
    lines.write_text('{"id": "new", "text": "pain"}\n')
    given = ("convert", lines, gold, "--to", "brat")
    assert run(*given).code == 2
    result = run(*given, "--overwrite")
    assert result.code == 2
    assert "thesis.doc" in result.err
    wording(result.err)
    assert (gold / "one.txt").exists()
    (gold / "thesis.doc").unlink()
    assert run(*given, "--overwrite").code == 0
    assert {path.name for path in gold.iterdir()} == {"new.ann", "new.txt"}


@pytest.mark.parametrize(
    ("to", "item"),
    [
        ("brat", {"id": "../three"}),
        ("brat", {"id": "n" * 201}),
        ("cas", {"id": "three", "text": "pain\f"}),
    ],
)
def test_a_folder_is_kept_when_a_document_cannot_be_written(run, tmp_path, to, item, wording):
    lines, out = tmp_path / "lines.jsonl", tmp_path / "out"
    lines.write_text('{"id": "old", "text": "pain"}\n')
    assert run("convert", lines, out, "--to", to).code == 0
    before = {path: path.read_bytes() for path in out.iterdir()}
    lines.write_text('{"id": "new", "text": "pain"}\n' + json.dumps({"text": "pain", **item}))
    result = run("convert", lines, out, "--to", to, "--overwrite")
    assert result.code == 2
    wording(result.err)
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_a_corpus_is_converted_in_place_or_kept(run, gold, monkeypatch):
    before = {path.name: path.read_bytes() for path in gold.iterdir()}
    given = ("convert", gold, gold, "--to", "brat", "--overwrite", "--map-labels", "ADR=Effect")
    write, left = brat.write_text, [3]

    def full(path, text):
        left[0] -= 1
        if not left[0]:
            raise TrignerError(f"cannot write {path}: No space left on device")
        write(path, text)

    with monkeypatch.context() as patch:
        patch.setattr(brat, "write_text", full)
        result = run(*given)
    place = gold / "three.ann"
    assert (result.code, f"cannot write {place}: No space" in result.err) == (1, True), result.err
    assert {path.name: path.read_bytes() for path in gold.iterdir()} == before
    result = run(*given)
    assert (result.code, "3 documents in 6 files" in result.err) == (0, True), result.err
    assert {path.name for path in gold.iterdir()} == {*before}
    assert (gold / "one.ann").read_text() == "T1\tEffect 3 11;12 16\tleft leg hurt\n"


def test_into_a_device_and_through_a_link(run, gold, tmp_path):
    assert run("convert", gold, "/dev/null", "--to", "jsonl").code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    (tmp_path / "link").symlink_to("target.json")
    assert run("convert", gold, tmp_path / "link", "--to", "bigbio").code == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target.json").is_file()


FIELDS = {"negated": True, "code": "C1", "sure": 0.5}


def annotated_with_fields(tmp_path):
    entity = {"label": "ADR", "fragments": [[0, 4]], "text": "pain", **FIELDS}
    item = {"id": "d", "text": "pain in my hands", "entities": [entity], "patient": "p 1"}
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(item) + "\n")
    return path


@pytest.mark.parametrize("format", ["jsonl", "brat", "bigbio", "grid"])
def test_own_fields_come_back_from_formats_that_hold_them(run, tmp_path, format):
    target, back = tmp_path / "there", tmp_path / "back.jsonl"
    result = run("convert", annotated_with_fields(tmp_path), target, "--to", format)
    assert (result.code, "fields of" in result.err) == (0, False)
    assert run("convert", target, back, "--from", format, "--to", "jsonl").code == 0
    found = json.loads(back.read_text())
    assert found["patient"] == "p 1"
    assert {name: found["entities"][0][name] for name in FIELDS} == FIELDS


def test_own_fields_are_counted_where_a_format_cannot_hold_them(run, tmp_path):
    result = run("convert", annotated_with_fields(tmp_path), tmp_path / "x", "--to", "inline")
    assert "note: fields of documents not written, as the format cannot hold them: 1" in result.err
    assert "note: fields of entities not written, as the format cannot hold them: 3" in result.err


def test_names_that_mean_something_in_the_format_are_counted(run, tmp_path):
    path = tmp_path / "own.jsonl"
    entity = {"label": "X", "fragments": [[0, 4]], "type": "a", "offsets": "b"}
    path.write_text(json.dumps({"text": "pain", "entities": [entity], "passages": "c", "a": 1}))
    result = run("convert", path, tmp_path / "x.json", "--to", "bigbio", "--from", "jsonl")
    assert result.code == 0, result.err
    assert "note: fields of documents not written, as the format cannot hold them: 1" in result.err
    assert "note: fields of entities not written, as the format cannot hold them: 2" in result.err


def test_endings_choose_between_forms_of_a_format(run, tmp_path):
    source = tmp_path / "a.conll"
    source.write_text("my O\nleg B-X\n")
    for name, start in (("b.parquet", b"PAR1"), ("b.jsonl", b"{"), ("b.tsv", b"id\ttext")):
        to = "csv" if name.endswith("tsv") else "hf-tokens"
        result = run("convert", source, tmp_path / name, "--to", to)
        assert result.code == 0, result.err
        assert (tmp_path / name).read_bytes().startswith(start)


def test_columns_are_named_by_options(run, tmp_path):
    (tmp_path / "a.csv").write_text("case,narrative\n7,pain in my leg\n")
    arguments = ("convert", tmp_path / "a.csv", tmp_path / "b.jsonl", "--to", "jsonl")
    result = run(*arguments)
    assert result.code == 2
    assert "name one with --text-column; columns: 'case', 'narrative'" in " ".join(
        result.err.split()
    )
    result = run(*arguments, "--text-column", "narrative", "--id-column", "case")
    assert result.code == 0, result.err
    assert json.loads((tmp_path / "b.jsonl").read_text()) == {
        "id": "7",
        "text": "pain in my leg",
        "entities": [],
    }


def related(tmp_path):
    folder = tmp_path / "related"
    folder.mkdir()
    (folder / "d.txt").write_text("Aspirin caused a rash.")
    entities = "T1\tDrug 0 7\tAspirin\nT2\tADR 17 21\trash\n"
    others = "R1\tCauses Arg1:T1 Arg2:T2\nE1\tADR:T2 Cause:T1\n#1\tAnnotatorNotes T2\tbad\n"
    (folder / "d.ann").write_text(entities + others)
    return folder


@pytest.mark.parametrize("format", ["brat", "jsonl"])
def test_what_names_entities_that_types_leaves_out_is_counted(run, tmp_path, format):
    given, target = related(tmp_path), tmp_path / "out"
    result = run("convert", given, target, "--to", format, "--types", "ADR")
    assert result.code == 0, result.err
    told = "relations, events or notes not written, as they name entities that --types leaves out"
    assert f"note: {told}: 2\n" in result.err
    written = (target / "d.ann" if format == "brat" else target).read_text()
    assert "T1" not in written
    assert "AnnotatorNotes T2" in written
    kept = run("convert", given, tmp_path / "all", "--to", "brat", "--types", "ADR,Drug")
    assert "relations" not in kept.err
    assert (tmp_path / "all" / "d.ann").read_text() == (given / "d.ann").read_text()


def test_types_inside_events_keep_their_names_and_that_is_told(run, tmp_path):
    given = related(tmp_path)
    told = "note: types inside relations and events keep their names: --map-labels renames entities"
    result = run("convert", given, tmp_path / "a", "--to", "brat", "--map-labels", "ADR=Sign")
    assert (result.code, told in result.err) == (0, True)
    result = run("convert", given, tmp_path / "b", "--to", "brat", "--map-labels", "Drug=Medicine")
    assert (result.code, told in result.err) == (0, False)
