from __future__ import annotations

import pytest

from trigner.corpora.parts import (
    PARTS,
    check,
    check_present,
    known_part,
    lists_beside,
    shipped_lists,
    shipped_pairs,
)
from trigner.corpora.reading import Reading


def put(folder, **lists):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in lists.items():
        (folder / f"{name}.txt").write_text(text)
    return folder.parent


def test_lists_name_one_document_a_line(tmp_path):
    root = put(tmp_path / "splits", train="a\n\nb.txt\n", dev=" c \n", test="d")
    lists = lists_beside(root)
    assert lists.parts == {"train": {"a": 1, "b": 3}, "dev": {"c": 1}, "test": {"d": 1}}
    assert lists.of("b") == "train"
    assert lists.of("e") is None


def test_lists_may_lie_beside_the_data(tmp_path):
    put(tmp_path / "splits", test="d")
    (tmp_path / "data").mkdir()
    assert set(lists_beside(tmp_path / "data").parts) == {"test"}
    put(tmp_path / "data" / "splits", dev="d")  # nearer
    assert set(lists_beside(tmp_path / "data").parts) == {"dev"}


def test_other_endings_of_lists(tmp_path):
    (tmp_path / "splits").mkdir()
    (tmp_path / "splits" / "train.id").write_text("a\n")
    (tmp_path / "splits" / "dev.list").write_text("b\n")
    assert lists_beside(tmp_path).parts == {"train": {"a": 1}, "dev": {"b": 1}}


def test_no_lists(tmp_path):
    data = tmp_path / "holder" / "data"
    data.mkdir(parents=True)
    assert lists_beside(data) is None


def test_a_folder_without_lists_says_what_was_looked_for(tmp_path, refused):
    put(tmp_path / "splits", notes="a")
    with refused("splits"):
        lists_beside(tmp_path)


def test_two_lists_of_one_part_are_refused(tmp_path, refused):
    put(tmp_path / "splits", train="a")
    (tmp_path / "splits" / "train.id").write_text("a")
    with refused("splits"):
        lists_beside(tmp_path)


@pytest.mark.parametrize(
    ("lists", "file", "line"),
    [({"train": "a\nb", "test": "c\nb"}, "test.txt", 2), ({"dev": "a\nb\na.txt"}, "dev.txt", 3)],
)
def test_lists_must_be_disjoint(tmp_path, lists, file, line, refused):
    put(tmp_path / "splits", **lists)
    with refused(file, line):
        lists_beside(tmp_path)


def test_a_listed_id_must_exist(tmp_path, refused):
    root = put(tmp_path / "splits", train="a\nmissing\n")
    with refused("train.txt", 2):
        check(lists_beside(root), {"a"}, Reading(), root=root)


def test_documents_in_no_list_are_counted_and_told(tmp_path):
    root = put(tmp_path / "splits", train="a\n")
    reading = Reading()
    check(lists_beside(root), {"a", *(f"x{n}" for n in range(7))}, reading, root=root)
    check(lists_beside(root), {"a", *(f"x{n}" for n in range(5))}, reading, root=root)
    assert [notice.message for notice in reading.notices] == [
        "7 documents in no list: x0, x1, x2, x3, x4 ...",
        "5 documents in no list: x0, x1, x2, x3, x4",
    ]


def test_nothing_to_tell_when_all_are_listed(tmp_path):
    root = put(tmp_path / "splits", train="a\n", test="b\n")
    reading = Reading()
    check(lists_beside(root), {"a", "b"}, reading, root=root)
    assert reading.notices == []


@pytest.mark.parametrize("name", ["valid", "Train", ""])
def test_unknown_parts_are_refused(tmp_path, name, refused):
    with refused(tmp_path):
        known_part(name, path=tmp_path)


def test_the_shipped_lists_of_drugs():
    lists = shipped_lists("spl-adr")
    assert {part: len(names) for part, names in lists.parts.items()} == {
        "train": 69,
        "dev": 12,
        "test": 20,
    }
    drugs = [drug for part in PARTS for drug in lists.parts[part]]
    assert len(set(drugs)) == 101
    assert all(drug.isalpha() and drug.isupper() for drug in drugs)
    assert lists.of("AXITINIB") == "dev"


def test_each_listed_drug_has_one_product_name():
    products = shipped_pairs("spl-adr", "label-names.txt")
    lists = shipped_lists("spl-adr")
    drugs = {drug for part in PARTS for drug in lists.parts[part]}
    assert set(products.values()) == drugs
    assert len(products) == len(drugs)
    assert products["INLYTA"] == "AXITINIB"


def test_of_a_shipped_list_some_may_be_missing(tmp_path):
    lists = shipped_lists("spl-adr")
    reading = Reading()
    there = {"AXITINIB", "SOMETHING"}
    check_present(lists, "dev", there, reading, root=tmp_path)
    messages = [notice.message for notice in reading.notices]
    assert messages[0].startswith("11 of 12 documents of the part 'dev' missing: ")
    assert messages[1] == "1 document in no list: SOMETHING"


def test_of_a_shipped_list_not_all_may_be_missing(tmp_path, refused):
    with refused(tmp_path):
        check_present(shipped_lists("spl-adr"), "test", {"AXITINIB"}, Reading(), root=tmp_path)
