"""Files in other encodings than UTF-8: read where they are named or guessed, else left out."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigner.corpora import read
from trigner.corpora.encodings import EncodingError, checked_encoding, decoded, is_utf_8

FRENCH = "Le patient a présenté des céphalées sévères après la première dose, puis de la fièvre."
RUSSIAN = "Пациент жалуется на головную боль и тошноту после приема препарата, жар прошел."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "utf-8"),
        (FRENCH, "cp1252"),
        (FRENCH, "utf-16"),
        (FRENCH, "utf-32"),
        (RUSSIAN, "shift_jis"),
        (RUSSIAN, "koi8_r"),
        (RUSSIAN, "utf-16"),
        ("plain", "ascii"),
        ("", "ascii"),
    ],
)
def test_what_is_guessed(tmp_path, text, encoding):
    assert decoded(text.encode(encoding), "auto", tmp_path)[0] == text


WESTERN = [
    "Fever of 39°C and fatigue after 5 µg.",
    "Übelkeit und naïve Schmerzen.",
    "Temp 38.5°C, took 50 µg twice daily.",
    "Æbler og smørrebrød gav mavepine.",
    "39 °C fever",
    "RR 120/80, T 38,5°C, 5 µg",
    "Schmerzen in den Füßen und Übelkeit, später Müdigkeit.",
    "El niño presentó náuseas y vómitos después de la dosis.",
    "Ménière’s disease after 20 µg – vertigo.",
    "The patient said “it hurts” – badly.",
    "I felt awful… couldn’t sleep — at all!",
    "Pressure ±5 mmHg, 3×2 cm lesion, ½ tablet.",
    "5 µg",
    "39°C",
]


@pytest.mark.parametrize("text", WESTERN)
def test_single_letters_and_signs_are_neither_east_asian_nor_utf_16(tmp_path, text):
    assert decoded(text.encode("cp1252"), "auto", tmp_path) == (text, "cp1252")


JAPANESE = "患者は頭痛と吐き気を訴えた。薬を飲んだ後に発疹が出た。"
CHINESE = "患者主诉头痛和恶心,服药后出现皮疹。"
TRADITIONAL = "患者主訴頭痛和噁心,服藥後出現皮疹。"
KOREAN = "환자는 두통과 메스꺼움을 호소했다. 약을 복용한 후 발진이 나타났다."


def as_words(text):
    """A document of the format grid with a word of each character, each alone among ASCII."""
    ner = [{"index": [4, 5], "type": "ADR"}]
    return json.dumps([{"sentence": list(text), "ner": ner}], ensure_ascii=False)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (JAPANESE, "shift_jis"),
        (CHINESE, "gbk"),
        (KOREAN, "cp949"),
        (KOREAN, "johab"),
        (json.dumps({"id": "1", "text": CHINESE}, ensure_ascii=False), "gbk"),
        (json.dumps({"id": "1", "text": KOREAN}, ensure_ascii=False), "johab"),
        (f"The patient complained of this and took a tablet afterwards: {CHINESE}", "gbk"),
        (as_words(CHINESE), "gbk"),
        (as_words(TRADITIONAL), "big5"),
    ],
)
def test_east_asian_text_is_guessed_as_such(tmp_path, text, encoding):
    assert decoded(text.encode(encoding), "auto", tmp_path)[0] == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_utf_8_is_never_taken_for_anything_else(text):
    assert decoded(text.encode(), "auto", None) == (text, "utf-8")


@given(st.binary())
def test_any_bytes_are_characters_or_an_error(data):
    for encoding in ("auto", "utf-8", "cp1252", "utf-16", "shift_jis", "punycode", "utf-7"):
        with suppress(EncodingError):
            decoded(data, encoding, None)[0].encode()  # no halves of characters


def test_names(refused):
    assert [checked_encoding(name) for name in ("auto", "UTF8", "cp1252")]
    assert is_utf_8("UTF-8")
    assert is_utf_8("utf_8")
    assert not is_utf_8("utf-8-sig")
    for name in ("latinx", "hex", "rot13", "", "a\0b"):
        with refused():
            checked_encoding(name)


def french_folder(root, format):
    """A good file and one in cp1252, each with an entity after a letter that is no ASCII."""
    start = FRENCH.index("céphalées")
    line = f"T1\tADR {start} {start + 9}\tcéphalées\n"
    item = {"text": FRENCH, "entities": [{"label": "ADR", "fragments": [[start, start + 9]]}]}
    words = FRENCH.split()
    grid = {"sentence": words, "ner": [{"index": [words.index("céphalées")], "type": "ADR"}]}
    contents = {
        "brat": {".txt": FRENCH, ".ann": line},
        "jsonl": {".jsonl": json.dumps(item, ensure_ascii=False)},
        "grid": {".json": json.dumps([grid], ensure_ascii=False)},
        "inline": {".inline": f"{' '.join(words)}\n5,5 ADR\n\n"},
    }[format]
    for name, encoding in (("a", "utf-8"), ("b", "cp1252")):
        for ending, content in contents.items():
            (root / f"{name}{ending}").write_bytes(content.encode(encoding))
    return root


def files_left_out(corpus):
    return sum(notice.file_left_out for notice in corpus.notices)


@pytest.mark.parametrize("format", ["brat", "jsonl", "grid", "inline"])
def test_one_file_in_another_encoding(tmp_path, format, refused):
    folder = french_folder(tmp_path, format)
    with refused():
        read(folder)
    corpus = read(folder, skip_bad=True)
    assert [len(d.entities) for d in corpus.documents] == [1]
    (notice,) = corpus.notices
    assert (notice.path.stem, notice.file_left_out, corpus.left_out) == ("b", True, 0)
    guessed = read(folder, encoding="auto")
    assert [d.text for d in guessed.documents] == [FRENCH] * 2
    assert all(d.entities[0].text == "céphalées" for d in guessed.documents)
    assert {(n.path.stem, n.message) for n in guessed.notices} == {
        ("b", "is not UTF-8: read as cp1252, a guess")
    }


RUSSIAN = "После приёма таблеток у меня сильно болела голова и рука."  # noqa: RUF001
FIRST, LAST = RUSSIAN[:5], RUSSIAN[-5:-1]


def test_a_guess_is_of_one_file_and_not_of_others_of_its_name(tmp_path):
    for name, text, encoding in (("test", FRENCH, "cp1252"), ("train", RUSSIAN, "cp1251")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.txt").write_bytes(text.encode(encoding))
    (tmp_path / "train" / "1.ann").write_bytes(f"T1\tADR 0 5\t{FIRST}\n".encode("cp1251"))
    assert [d.text for d in read(tmp_path, encoding="auto").documents] == [FRENCH, RUSSIAN]


@pytest.mark.parametrize(
    ("format", "text", "annotations", "content"),
    [
        ("brat", "1.txt", "1.ann", f"T1\tADR 0 5\t{FIRST}\n#1\tAnnotatorNotes T1\t{LAST}\n"),
        ("cadec", "text/1.txt", "original/1.ann", f"T1\tADR 0 5\t{FIRST}\n"),
        ("share14", "test/text/1.txt", "test/ann/1.pipe.txt", f"1.txt|0-5|{LAST}|\n"),
        ("share13", "test/text/1.txt", "test/ann/1.txt", f"1.txt||{LAST}||C1||0||5\n"),
    ],
)
def test_annotations_are_in_the_guessed_encoding_of_their_text(
    tmp_path, format, text, annotations, content
):
    for name, own in ((text, RUSSIAN), (annotations, content)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(own.encode("cp1251"))
    corpus = read(tmp_path, format=format, encoding="auto")
    (document,) = corpus.documents
    assert document.text == RUSSIAN
    assert document.entities[0].text == FIRST
    kept = [*document.extras, document.entities[0].label]
    assert format == "cadec" or LAST in str(kept)


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16"])
def test_a_named_encoding_is_taken(tmp_path, encoding, refused):
    line = json.dumps({"id": "d", "text": FRENCH}, ensure_ascii=False)
    (tmp_path / "a.jsonl").write_bytes(f"{line}\n".encode(encoding))
    (document,) = read(tmp_path, encoding=encoding).documents
    assert document.text == FRENCH
    with refused():
        read(tmp_path, encoding="klingon")


def test_what_is_not_in_the_named_encoding_is_told(tmp_path, refused):
    (tmp_path / "a.txt").write_bytes(b"ab\x81")
    with refused("a.txt", 1):
        read(tmp_path, encoding="cp1252")
    assert files_left_out(read(tmp_path, encoding="cp1252", skip_bad=True)) == 1


@pytest.mark.parametrize(
    ("encoding", "half"),
    [("utf-7", "+2AA-"), ("unicode_escape", r"\ud800"), ("raw_unicode_escape", r"\ud800")],
)
@pytest.mark.parametrize("line", ['{"id": "H"}', '{"text": "H"}', '{"H": 1}', '{"label": ["H"]}'])
def test_half_characters_that_an_encoding_lets_in_are_refused(
    tmp_path, encoding, half, line, refused
):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n' + line.replace("H", half))
    with refused("a.jsonl", 2):
        read(tmp_path, encoding=encoding)
    (tmp_path / "b.jsonl").write_text('{"text": "b"}')
    corpus = read(tmp_path, encoding=encoding, skip_bad=True)
    assert ([d.text for d in corpus.documents], files_left_out(corpus)) == (["b"], 1)


def test_a_line_that_is_not_utf_8_is_left_out_alone(tmp_path, refused):
    lines = [b'{"text": "a"}', b'{"text": "caf\xe9"}', b'{"text": "b"}']
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    with refused("a.jsonl", 2):
        read(tmp_path)
    corpus = read(tmp_path, skip_bad=True)
    assert [d.text for d in corpus.documents] == ["a", "b"]
    assert [n.line for n in corpus.notices] == [2]


def test_posts_and_their_annotations_are_left_out_together(tmp_path):
    (tmp_path / "text").mkdir()
    (tmp_path / "original").mkdir()
    for name, data in (("a", b"T1\tADR 0 4\tpain\n"), ("b", b"#1\tAnnotatorNotes T1\tcaf\xe9\n")):
        (tmp_path / "text" / f"{name}.txt").write_bytes(b"pain")
        (tmp_path / "original" / f"{name}.ann").write_bytes(data)
    corpus = read(tmp_path, format="cadec", skip_bad=True)
    assert [d.id for d in corpus.documents] == ["a"]
    assert files_left_out(corpus) == 1


def test_a_text_is_left_out_with_its_annotations(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"pain")
    (tmp_path / "a.ann").write_bytes(b"#1\tAnnotatorNotes T1\tcaf\xe9\n")
    (tmp_path / "b.txt").write_bytes(b"pain")
    corpus = read(tmp_path, skip_bad=True)
    assert [d.id for d in corpus.documents] == ["b"]
    assert files_left_out(corpus) == 1
