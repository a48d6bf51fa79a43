from __future__ import annotations

import json
import os

import pytest

pytest.importorskip("rapidfuzz")

TEXT = "my legs hurt and nausae"


@pytest.fixture
def vocabulary(tmp_path):
    path = tmp_path / "findings.csv"
    path.write_text("code,name,synonyms,group\nF1,Leg pain,legs hurt,limbs\nF2,Nausea,,\n")
    return path


@pytest.fixture
def found(tmp_path):
    path = tmp_path / "found.jsonl"
    entities = [
        {"label": "ADR", "fragments": [[3, 12]], "code": "F1", "negated": True},
        {"label": "ADR", "fragments": [[17, 23]], "code": "F2"},
        {"label": "ADR", "fragments": [[0, 2]]},
    ]
    path.write_text(json.dumps({"id": "one", "text": TEXT, "entities": entities}) + "\n")
    return path


def test_one_text(run, vocabulary):
    result = run("link", "leg pains", "--vocabulary", vocabulary)
    assert result.code == 0, result.err
    assert result.out.splitlines()[1].split() == [
        "F1",
        "Leg",
        "pain",
        "Leg",
        "pain",
        "words",
        "1.000",
    ]
    assert "columns ignored: group" in result.err
    told = json.loads(run("link", "leg pains", "--vocabulary", vocabulary, "--json").out)
    assert (told["text"], told["code"], told["candidates"][0]["name"]) == (
        "leg pains",
        "F1",
        "Leg pain",
    )
    assert (
        "no similar entry in the vocabulary" in run("link", "zzz", "--vocabulary", vocabulary).out
    )


@pytest.mark.parametrize("text", ["", "leg pains " * 40])
def test_what_is_text_in_extract_is_text_here(run, vocabulary, text, tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    result = run("link", text, "--vocabulary", vocabulary, "--json")
    assert result.code == 0, result.err
    assert json.loads(result.out)["text"] == text


def test_a_path_that_leads_nowhere(run, vocabulary, found, wording):
    result = run("link", found.with_name("foumd.jsonl"), "--vocabulary", vocabulary)
    assert result.code == 2
    wording(result.err)


def test_documents_are_shown_and_written(run, vocabulary, found, tmp_path):
    shown = run("link", found, "--vocabulary", vocabulary)
    assert shown.out.endswith("\n2 of 3 entities have a code: 1 exact, 1 alike\n")
    assert "note: codes of the input: 2 kept\n" in shown.err
    rows = [line.split() for line in shown.out.splitlines()]
    assert rows[0] == ["entities", "text", "code", "name", "match", "score"]
    assert rows[1] == ["1", "legs", "hurt", "F1", "Leg", "pain", "exact", "1.000"]
    assert rows[2] == ["1", "nausae", "F2", "Nausea", "alike", "0.833"]
    assert rows[3] == ["1", "my"]
    strict = run("link", found, "--vocabulary", vocabulary, "--link-threshold", "0.9").out
    assert strict.splitlines()[2].split() == ["1", "nausae", "0.833"]
    assert strict.endswith("\n1 of 3 entities has a code: 1 exact\n")
    out = tmp_path / "linked.jsonl"
    written = run("link", found, "--vocabulary", vocabulary, "--out", out)
    assert (written.code, written.out) == (0, "")
    told = f"1 document in 1 file: {out}; 2 of 3 entities have a code: 1 exact, 1 alike\n"
    assert written.err.endswith(told)
    entities = json.loads(out.read_text())["entities"]
    assert [e.get("code") for e in entities] == ["F1", "F2", None]
    assert entities[0]["negated"] is True
    printed = run("link", found, "--vocabulary", vocabulary, "--json").out
    assert printed == out.read_text()


@pytest.mark.parametrize(
    ("places", "told"),
    [
        ([[0, 2]], "0 of 1 entity has a code"),
        ([], "0 of 0 entities have a code"),
        ([[3, 12], [0, 2], [0, 2]], "1 of 3 entities has a code: 1 exact"),
        ([[0, 12]], "1 of 1 entity has a code: 1 by the same words"),
    ],
)
def test_how_codes_were_found_is_told(run, vocabulary, tmp_path, places, told):
    path = tmp_path / "found.jsonl"
    entities = [{"label": "ADR", "fragments": [place]} for place in places]
    path.write_text(json.dumps({"id": "one", "text": TEXT, "entities": entities}) + "\n")
    assert run("link", path, "--vocabulary", vocabulary).out.splitlines()[-1] == told


def test_brat_has_codes_as_attributes(run, vocabulary, found, tmp_path):
    out = tmp_path / "brat"
    result = run("link", found, "--vocabulary", vocabulary, "--out", out, "--format", "brat")
    assert result.code == 0, result.err
    assert "code T1 F1" in (out / "one.ann").read_text()
    again = tmp_path / "again.jsonl"
    assert run("convert", out, again, "--to", "jsonl").code == 0
    assert json.loads(again.read_text())["entities"][0]["code"] == "F1"
    assert json.loads(again.read_text())["entities"][0]["candidates"][0]["name"] == "Leg pain"


@pytest.mark.parametrize(
    ("codes", "told"),
    [
        (["F1", "F2"], ["2 kept"]),
        (["F1", "F9"], ["1 kept, 1 replaced"]),
        (["F1", None, "F9"], ["1 kept, 1 removed, as nothing in the vocabulary reaches --link-"]),
        (["F9", "F1", "F9"], ["2 replaced, 1 removed, as nothing"]),
        ([None, None], []),
    ],
)
def test_what_became_of_codes_is_told(run, vocabulary, tmp_path, codes, told):
    path = tmp_path / "coded.jsonl"
    places = ([3, 12], [17, 23], [0, 2])  # the last one is like nothing in the vocabulary
    entities = [
        {"label": "ADR", "fragments": [place], "code": code}
        for place, code in zip(places, codes, strict=False)
    ]
    path.write_text(json.dumps({"id": "one", "text": TEXT, "entities": entities}) + "\n")
    result = run("link", path, "--vocabulary", vocabulary)
    notes = [line for line in result.err.splitlines() if "codes of the input" in line]
    assert len(notes) == len(told)
    for note, expected in zip(notes, told, strict=True):
        assert note.startswith(f"note: codes of the input: {expected}")


def test_evaluation(run, vocabulary, found):
    told = "with a code: 2 of 3 entities; it is the best candidate for 2 and among 5 candidates for"
    result = run("link", found, "--vocabulary", vocabulary, "--evaluate")
    assert result.code == 0, result.err
    assert told in result.out
    told = json.loads(run("link", found, "--vocabulary", vocabulary, "--evaluate", "--json").out)
    assert told["best"]["f1"] == 1.0
    strict = run(
        "link", found, "--vocabulary", vocabulary, "--evaluate", "--link-threshold", "1", "--json"
    )
    assert json.loads(strict.out) == told  # of all thresholds


@pytest.mark.parametrize(
    "arguments",
    [
        ["some text", "--evaluate"],
        ["some text", "--out", "x"],
        ["absent.jsonl"],
        ["absent.spacy"],
        ["absent.XMI"],
    ],
)
def test_refusals(run, vocabulary, arguments, wording):
    result = run("link", *arguments, "--vocabulary", vocabulary)
    assert result.code == 2
    wording(result.err)


def test_a_vocabulary_in_the_encoding_of_the_documents(run, tmp_path, wording):
    path = tmp_path / "old.csv"
    path.write_bytes("code,name\nF1,Fièvre\n".encode("cp1252"))
    result = run("link", "Fièvre", "--vocabulary", path)
    assert result.code == 2
    assert "--encoding" in result.err
    wording(result.err)
    result = run("link", "Fièvre", "--vocabulary", path, "--encoding", "cp1252")
    assert (result.code, "F1" in result.out) == (0, True), result.err


def test_codes_that_are_no_texts_are_refused(run, vocabulary, tmp_path, wording):
    path = tmp_path / "coded.jsonl"
    for code in (["a", "b"], 1):
        entity = {"label": "ADR", "fragments": [[0, 4]], "text": "pain", "code": code}
        path.write_text(json.dumps({"id": "d", "text": "pain", "entities": [entity]}))
        result = run("link", path, "--vocabulary", vocabulary, "--evaluate")
        assert result.code == 2
        wording(result.err)


def test_nothing_is_replaced_unasked(run, vocabulary, found, tmp_path):
    out = tmp_path / "there.jsonl"
    out.write_text("mine")
    assert run("link", found, "--vocabulary", vocabulary, "--out", out).code == 2
    assert out.read_text() == "mine"
    assert run("link", found, "--vocabulary", vocabulary, "--out", out, "--overwrite").code == 0


def test_a_vocabulary_may_come_from_a_command_and_not_from_a_fifo(run, vocabulary, tmp_path):
    os.mkfifo(tmp_path / "fifo.csv")
    result = run("link", "leg pains", "--vocabulary", tmp_path / "fifo.csv")
    assert (result.code, result.out) == (2, "")
    assert "fifo.csv: is not a regular file" in result.err
    read, write = os.pipe()
    os.write(write, vocabulary.read_bytes())
    os.close(write)
    result = run("link", "leg pains", "--vocabulary", f"/dev/fd/{read}")
    os.close(read)
    assert (result.code, "F1" in result.out) == (0, True)
