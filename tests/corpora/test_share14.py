from __future__ import annotations

import pytest

from trigner.corpora import read

TEXT = "The left atrium is\r\nmildly dilated. No fever.\n"
TRAIN = (
    "2014ShAReCLEFeHealthTasks2_training_10Jan2014/2014ShAReCLEFeHealthTask2_training_corpus",
    "2014ShAReCLEFeHealthTasks2_training_10Jan2014/"
    "2014ShAReCLEFeHealthTask2_training_pipedelimited",
)
TEST = (
    "ShAReCLEFeHealth2014Task2_test_default_values_with_corpus/"
    "ShAReCLEFeHealth2104Task2_test_data_corpus",
    "ShAReCLEFeHealth2014_test_data_gold",
)
ONE, TWO = "00001-REPORT", "00002-REPORT"
REST = (
    "no|null|patient|null|no|null|unmarked|null|unmarked|null|false|null|false|null|CUI-less|null|"
)


def lines_of(report):
    return [
        f"{report}.txt|4-15,27-34|C0000001|{REST}",
        f"{report}.txt|39-44|CUI-less|{REST}",
    ]


def unpack(root, lines=None, ending=".pipe.txt"):
    for folder in (*TRAIN, *TEST):
        (root / folder).mkdir(parents=True)
    for (texts, gold), report in ((TRAIN, ONE), (TEST, TWO)):
        (root / texts / f"{report}.txt").write_bytes(TEXT.encode())
        told = lines if lines is not None and report == TWO else lines_of(report)
        (root / gold / f"{report}{ending}").write_text("".join(f"{line}\n" for line in told))
    return root


@pytest.mark.parametrize("ending", [".pipe.txt", ".txt.pipe", ".pipe", ".txt"])
def test_disorders_and_their_attributes(tmp_path, ending):
    one, two = read(unpack(tmp_path, ending=ending), format="share14").documents
    assert (one.id, two.id) == (ONE, TWO)
    assert one.text == TEXT
    for document in (one, two):
        assert [(e.label, e.fragments, e.text) for e in document.entities] == [
            ("Disease_Disorder", ((4, 15), (27, 34)), "left atrium dilated"),
            ("Disease_Disorder", ((39, 44),), "fever"),
        ]
        assert [extra.content for extra in document.extras] == lines_of(document.id)


def test_the_layout_is_recognised_and_has_parts(tmp_path):
    unpack(tmp_path)
    corpus = read(tmp_path, split="test")
    assert corpus.format == "share14"
    assert [document.id for document in corpus.documents] == [TWO]
    assert [d.id for d in read(tmp_path, split="train").documents] == [ONE]


def test_the_input_of_the_task_is_not_taken_for_its_gold(tmp_path, refused):
    unpack(tmp_path)
    (tmp_path / TEST[1]).rename(tmp_path / "ShAReCLEFeHealth2014Task2_test_default_values")
    with refused(tmp_path):
        read(tmp_path, format="share14")


def test_counts_of_the_paper_are_told(tmp_path):
    corpus = read(unpack(tmp_path), format="share14")
    assert [notice.message for notice in corpus.notices] == [
        "read 4 mentions; the paper reports 19,073",
        "read 2 discontinuous mentions; the paper reports 1,658",
    ]


def test_a_line_of_column_names_is_no_disorder(tmp_path):
    header = "DD_DocName|DD_Spans|DD_CUI|Norm_NI|Cue_NI|"
    corpus = read(unpack(tmp_path, [header, *lines_of(TWO)]), format="share14")
    assert len(corpus.documents[1].entities) == 2


def test_spans_in_any_order_are_sorted(tmp_path):
    corpus = read(unpack(tmp_path, [f"{TWO}.txt|27-34, 4-15|C1|{REST}"]), format="share14")
    assert corpus.documents[1].entities[0].fragments == ((4, 15), (27, 34))


@pytest.mark.parametrize(
    "line",
    [
        f"{TWO}.txt|4-99|C1|{REST}",
        f"{TWO}.txt|15-4|C1|{REST}",
        f"{TWO}.txt|4-15,10-20|C1|{REST}",
        f"{TWO}.txt|4-15,|C1|{REST}",
        f"{TWO}.txt|null|C1|{REST}",
        f"{TWO}.txt|4-15",
        f"{TWO}.txt||Disease_Disorder||C1||4||15",
        f"00009-REPORT.txt|4-15|C1|{REST}",
    ],
)
def test_bad_lines_are_named_by_file_and_line(tmp_path, line, refused):
    unpack(tmp_path, [*lines_of(TWO), line])
    with refused("00002-REPORT.pipe.txt", 3):
        read(tmp_path, format="share14")
    corpus = read(tmp_path, format="share14", skip_bad=True)
    assert len(corpus.documents[1].entities) == 2
