from __future__ import annotations

import csv

import pytest

from trigner.linking.vocabulary import Concept, normalised, read_vocabulary


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "vocabulary.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pain in the lower legs", "lower leg pain"),
        ("Crohn's disease", "crohn disease"),
        ("HÉMORRHAGE", "hemorrhage"),
        ("swelling, of the face", "Face swelling"),
        ("allergies", "allergy"),
        ("die Straße", "DIE STRASSE"),
        ("Crohn 's disease", "Crohn's disease"),
        ("'swelling'", "Swelling"),
        ("the \u2019shock\u2019", "shock"),
        ("\u0925\u0915\u093e\u0928", "\u0925\u0915\u093e\u0928"),
    ],
)
def test_the_same_words(one, other):
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("leg pain", "arm pain"),
        ("loss of sight", "sight"),
        ("IT", "is"),
        ("dies", "dy"),
        ("gas", "ga"),
        ("pelvis", "pelvi"),
        ("loss", "los"),
        ("ガン", "カン"),
        ("काल", "कील"),
        ("ไข้", "ไข"),
    ],
)
def test_other_words(one, other):
    assert normalised(one) != normalised(other)


def test_little_words_alone_stay():
    assert normalised("It is") == "is it"


def test_rows(file):
    path = file(
        "\ufeffCode, Name ,System,Synonyms\nF1,Headache,nerves,head pain|| sore head |\n\n,,, \n"
        'F2,"Pain, in legs",limbs,\nF1,Cephalalgia,nerves,\n'
    )
    found = read_vocabulary(path)
    assert found.concepts == (
        Concept("F1", "Headache", ("head pain", "sore head", "Cephalalgia")),
        Concept("F2", "Pain, in legs"),
    )
    assert found.ignored == ("system",)


def test_another_encoding_may_be_tried(file, refused):
    path = file("code,name\nF1,Fièvre\n".encode("cp1252"))
    with refused():
        read_vocabulary(path)
    for encoding in ("cp1252", "auto"):
        found = read_vocabulary(path, otherwise=encoding)
        assert found.concepts == (Concept("F1", "Fièvre"),)
    with refused():
        read_vocabulary(path, otherwise="klingon")
    path = file("code,name\nF1,Fièvre\n")
    assert read_vocabulary(path, otherwise="cp1252").concepts == (Concept("F1", "Fièvre"),)


def test_long_cells(file):
    synonyms = tuple(f"sore head {number}" for number in range(20_000))
    path = file(f"code,name,synonyms\nF1,Headache,{'|'.join(synonyms)}\n")
    before = csv.field_size_limit(131_072)  # as the module has it
    try:
        assert read_vocabulary(path).concepts == (Concept("F1", "Headache", synonyms),)
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("between", [";", "\t"])
def test_other_delimiters(file, between):
    path = file(f"name{between}code\r\nHeadache{between}F1\r\n")
    assert read_vocabulary(path).concepts == (Concept("F1", "Headache"),)


def test_empty_lines_before_the_columns_do_not_matter(file):
    path = file("\r\n\r\nname;code\r\nHeadache;F1\r\n")
    assert read_vocabulary(path).concepts == (Concept("F1", "Headache"),)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("", None),
        ("\ufeff\n \n", None),
        ("name,synonyms\nHeadache,\n", 1),
        ("\nname,synonyms\n", 2),
        ("code,name\nF1,Headache\n,Nausea\n", 3),
        ("code,name\nF1,Headache\nF2, \n", 3),
        ("code,name\nF1\n", 2),
        ("code,name\nF1,Headache,pain\n", 2),
        ('code,name\nF1,"Head\n', 2),
        ("code,name\n", None),
        ("code,name,Name\nF1,Headache,Pain\n", 1),
        ("\n\ncode,name,Name\n", 3),
    ],
)
def test_files_that_are_no_vocabulary(file, content, line, refused):
    path = file(content)
    with refused() as raised:
        read_vocabulary(path)
    assert (raised.value.path, raised.value.line) == (path, line)
