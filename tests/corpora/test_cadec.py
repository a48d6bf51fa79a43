from __future__ import annotations

import pytest

from trigner.corpora import cadec, read
from trigner.corpora.reading import Reading

POSTS = {
    "ONE.1": (
        "My left arm and both feet went numb.\nStopped taking Xyl.\n",
        [
            "T1\tADR 31 35;3 11\tnumb left arm",
            "#1\tAnnotatorNotes T1\tsee the guide",
            "T2\tADR 21 25;26 35\tfeet  went numb",
            "T3\tDrug 52 55\tXyl",
        ],
    ),
    "ONE.2": ("No trouble at all.\n", []),
    "TWO.10": ("Slept bad\u00adly.\r\nHead hurt.", ["T1\tADR 15 24\tHead hurt"]),
}


def unpack(root, posts=POSTS):
    for folder in ("text", "original", "meddra"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    for name, (text, lines) in posts.items():
        (root / "text" / f"{name}.txt").write_bytes(text.encode())
        content = "".join(f"{line}\n" for line in lines)
        (root / "original" / f"{name}.ann").write_bytes(content.encode())
        (root / "meddra" / f"{name}.ann").write_text("TT1\t100 3 11\tleft arm\n")
    return root


def documents(path, **options):
    return {document.id: document for document in read(path, **options).documents}


def test_posts_and_their_entities(tmp_path):
    found = documents(unpack(tmp_path / "cadec"), format="cadec")
    assert list(found) == ["ONE.1", "ONE.2", "TWO.10"]
    assert {name: document.text for name, document in found.items()} == {
        name: text for name, (text, _) in POSTS.items()
    }
    numb, feet, drug = found["ONE.1"].entities
    assert (numb.label, numb.fragments) == ("ADR", ((3, 11), (31, 35)))
    assert (numb.text, numb.id) == ("left arm numb", "T1")
    assert feet.text == "feet went numb"
    assert drug.label == "Drug"
    assert found["ONE.2"].entities == ()
    assert found["TWO.10"].entities[0].text == "Head hurt"


def test_notes_of_annotators_are_kept(tmp_path):
    found = documents(unpack(tmp_path / "cadec"))
    assert [extra.content for extra in found["ONE.1"].extras] == [
        "#1\tAnnotatorNotes T1\tsee the guide"
    ]


@pytest.mark.parametrize("inside", ["", "cadec", "CADEC.v2/cadec"])
def test_the_folder_may_lie_deeper_and_is_recognised(tmp_path, inside):
    unpack(tmp_path / inside)
    corpus = read(tmp_path)
    assert corpus.format == "cadec"
    assert len(corpus.documents) == 3


def test_a_brat_folder_is_not_taken_for_it(tmp_path):
    unpack(tmp_path)
    for folder in ("text", "original"):
        (tmp_path / folder / "x.txt").write_text("x")
        (tmp_path / folder / "x.ann").write_text("")
    assert not cadec.recognises(tmp_path)


def test_a_missing_folder_says_what_was_looked_for(tmp_path, refused):
    unpack(tmp_path)
    for file in (tmp_path / "original").iterdir():
        file.unlink()
    (tmp_path / "original").rmdir()
    with refused(tmp_path):
        read(tmp_path, format="cadec")


def test_a_file_is_no_corpus(tmp_path, refused):
    unpack(tmp_path)
    with refused("ONE.1.txt"):
        read(tmp_path / "text" / "ONE.1.txt", format="cadec")


def test_annotations_of_a_post_that_is_not_there(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / "original" / "THREE.3.ann").write_text("T1\tADR 0 2\tab\n")
    with refused("THREE.3.ann"):
        read(tmp_path, format="cadec")


def test_posts_without_annotations_are_counted(tmp_path):
    unpack(tmp_path)
    (tmp_path / "original" / "ONE.2.ann").unlink()
    corpus = read(tmp_path, format="cadec")
    assert len(corpus.documents) == 3
    assert any("no .ann for 1 of 3 texts" in str(notice) for notice in corpus.notices)


@pytest.mark.parametrize(
    "line",
    [
        "T4\tADR 30 90\tnumb",
        "T4\tADR 35 31\tnumb",
        "T4 ADR 31 35 numb",
        "T4\tADR 3 11;5 12\tleft arm",
    ],
)
def test_bad_annotations_are_named_by_file_and_line(tmp_path, line, refused):
    text, lines = POSTS["ONE.1"]
    unpack(tmp_path, POSTS | {"ONE.1": (text, [*lines, line])})
    with refused("ONE.1.ann", 5):
        read(tmp_path, format="cadec")
    corpus = read(tmp_path, format="cadec", skip_bad=True)
    assert len(corpus.documents[0].entities) == 3
    assert any("ONE.1.ann:5: left out" in str(notice) for notice in corpus.notices)


def test_a_surface_that_differs_is_reported_and_its_offsets_kept(tmp_path):
    unpack(tmp_path, {"A.1": ("rena failure came\n", ["T1\tADR 0 12\trenal failure"])})
    corpus = read(tmp_path, format="cadec")
    assert corpus.documents[0].entities[0].text == "rena failure"
    assert any("annotated text 'renal failure' differs" in str(n) for n in corpus.notices)


def test_annotations_of_other_texts_are_refused(tmp_path, refused):
    lines = [f"T{n}\tADR {n} {n + 3}\tpain" for n in range(9)]
    unpack(tmp_path, {"A.1": ("all was well with me\n", lines)})
    with refused(tmp_path):
        read(tmp_path, format="cadec")


def test_only_adrs_are_held_against_the_paper(tmp_path):
    corpus = read(unpack(tmp_path), format="cadec")
    assert any(n.message == "read 3 ADR mentions; the paper reports 6,318" for n in corpus.notices)


def test_parts_by_lists(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / "splits").mkdir()
    (tmp_path / "splits" / "train.txt").write_text("TWO.10\nONE.1\n")
    (tmp_path / "splits" / "test.txt").write_text("ONE.2\n")
    assert list(documents(tmp_path, format="cadec", split="train")) == ["ONE.1", "TWO.10"]
    assert list(documents(tmp_path, split="test")) == ["ONE.2"]
    with refused(tmp_path):
        read(tmp_path, format="cadec", split="dev")


def test_without_lists_there_are_no_parts(tmp_path, refused):
    with refused("cadec"):
        read(unpack(tmp_path / "x" / "cadec"), format="cadec", split="test")


def test_a_listed_post_must_exist(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / "splits").mkdir()
    (tmp_path / "splits" / "test.txt").write_text("ONE.1\nNINE.9\n")
    with refused("test.txt", 2):
        read(tmp_path, format="cadec", split="test")


def test_bytes_that_are_not_utf8_are_named(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / "text" / "ONE.2.txt").write_bytes(b"fine\ncaf\xe9\n")
    with refused("ONE.2.txt", 2):
        list(cadec.read(tmp_path, Reading()))
