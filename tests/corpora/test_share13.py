from __future__ import annotations

import pytest

from trigner.corpora import read

TEXT = "The left atrium is\nmildly dilated. No fever.\n"
TRAIN = ("Task1TrainSetCorpus199/ALLREPORTS", "Task1TrainSetGOLD199knowtatorehost/ALLSAVED")
TEST = ("Task1TestSetCorpus100/ALLREPORTS", "Task1Gold_SN2012/Gold_SN2012")
ONE, TWO = "00001-REPORT", "00002-REPORT"

KNOWTATOR = """<?xml version="1.0" encoding="UTF-8"?>
<annotations textSource="00001-REPORT.txt">
    <annotation>
        <mention id="EHOST_1" />
        <annotator id="01">someone</annotator>
        <span start="26" end="33" />
        <span start="4" end="15" />
        <spannedText>left atrium ... dilated</spannedText>
    </annotation>
    <classMention id="EHOST_1">
        <hasSlotMention id="EHOST_2" />
        <mentionClass id="Disease_Disorder">left atrium ... dilated</mentionClass>
    </classMention>
    <stringSlotMention id="EHOST_2">
        <mentionSlot id="associatedCode" />
        <stringSlotMentionValue value="C0000001" />
    </stringSlotMention>
    <annotation>
        <mention id="EHOST_3" />
        <span start="38" end="43" />
        <spannedText>fever</spannedText>
    </annotation>
    <classMention id="EHOST_3">
        <mentionClass id="Disease_Disorder">fever</mentionClass>
    </classMention>
    <eHOST_Adjudication_Status version="1.0">
        <Adjudication_Others><CHECK_CLASSES>false</CHECK_CLASSES></Adjudication_Others>
    </eHOST_Adjudication_Status>
</annotations>
"""

PIPES = [
    f"{TWO}.txt||Disease_Disorder||C0000001||4||15||26||33",
    f"{TWO}.txt||Disease_Disorder||CUI-less||38||43",
]


def unpack(root, knowtator=KNOWTATOR, pipes=PIPES, train=TRAIN, test=TEST):
    for folder in (*train, *test):
        (root / folder).mkdir(parents=True)
    (root / train[0] / f"{ONE}.txt").write_text(TEXT)
    (root / train[1] / f"{ONE}.txt.knowtator.xml").write_text(knowtator)
    (root / test[0] / f"{TWO}.txt").write_text(TEXT)
    (root / test[1] / f"{TWO}.txt").write_text("".join(f"{line}\n" for line in pipes))
    return root


@pytest.mark.parametrize(
    ("train", "test"),
    [
        (TRAIN, TEST),
        (("train/text", "train/ann"), ("test/text", "test/ann")),
        (("Task1TrainSetCorpus199", "ALLSAVED"), ("Task1TestSetCorpus100", "Gold_SN2012")),
    ],
)
def test_both_parts_say_the_same_in_their_own_way(tmp_path, train, test):
    one, two = read(unpack(tmp_path, train=train, test=test), format="share13").documents
    assert (one.id, two.id) == (ONE, TWO)
    assert one.text == two.text == TEXT
    for document in (one, two):
        assert [(e.label, e.fragments, e.text) for e in document.entities] == [
            ("Disease_Disorder", ((4, 15), (26, 33)), "left atrium dilated"),
            ("Disease_Disorder", ((38, 43),), "fever"),
        ]
    assert [e.id for e in one.entities] == ["EHOST_1", "EHOST_3"]


def test_codes_are_kept(tmp_path):
    one, two = read(unpack(tmp_path), format="share13").documents
    assert [extra.content for extra in two.extras] == PIPES
    assert [extra.content.split()[0] for extra in one.extras] == [
        "<classMention",
        "<stringSlotMention",
        "<classMention",
    ]
    assert 'value="C0000001"' in one.extras[1].content


def test_the_layout_is_recognised_and_has_parts(tmp_path):
    unpack(tmp_path)
    corpus = read(tmp_path, split="test")
    assert corpus.format == "share13"
    assert [document.id for document in corpus.documents] == [TWO]
    assert [d.id for d in read(tmp_path, split="train").documents] == [ONE]


def test_counts_of_the_paper_are_told(tmp_path):
    corpus = read(unpack(tmp_path), format="share13", split="test")
    assert [notice.message for notice in corpus.notices] == [
        "read 2 mentions; the paper reports 5,333 and leaves out 7 that cross sentences",
        "read 1 discontinuous mentions; the paper reports 218",
    ]


@pytest.mark.parametrize(
    "line",
    [
        f"{TWO}.txt||Disease_Disorder||C1||4||99",
        f"{TWO}.txt||Disease_Disorder||C1||15||4",
        f"{TWO}.txt||Disease_Disorder||C1||4||15||26",
        f"{TWO}.txt||Disease_Disorder||C1",
        f"{TWO}.txt|Disease_Disorder|C1|4|15",
        f"{TWO}.txt||Disease_Disorder||C1||4||-15",
        f"{TWO}.txt||||C1||4||15",
        "00009-REPORT.txt||Disease_Disorder||C1||4||15",
    ],
)
def test_bad_lines_are_named_by_file_and_line(tmp_path, line, refused):
    unpack(tmp_path, pipes=[*PIPES, "", line])
    with refused("00002-REPORT.txt", 4):
        read(tmp_path, format="share13")
    corpus = read(tmp_path, format="share13", skip_bad=True)
    assert len(corpus.documents[1].entities) == 2
    assert sum("left out" in str(notice) for notice in corpus.notices) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('start="38" end="43"', 'start="38" end="430"'),
        ('start="38" end="43"', 'start="38"'),
        ('<span start="38" end="43" />', ""),
        ('<classMention id="EHOST_3">', "<classMention>"),
    ],
)
def test_bad_annotations_are_named_by_file_and_line(tmp_path, old, new, refused):
    unpack(tmp_path, KNOWTATOR.replace(old, new))
    with refused("00001-REPORT.txt.knowtator.xml", 18):
        read(tmp_path, format="share13")
    corpus = read(tmp_path, format="share13", skip_bad=True)
    assert [e.id for e in corpus.documents[0].entities] == ["EHOST_1"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("</annotations>", ""),
        ("<annotations ", "<!DOCTYPE annotations>\n<annotations "),
        ("00001-REPORT.txt", "00007-REPORT.txt"),
        ("annotations", "notes"),
    ],
)
def test_files_that_are_not_what_they_should_be(tmp_path, old, new, refused):
    unpack(tmp_path, KNOWTATOR.replace(old, new))
    with refused("00001-REPORT.txt.knowtator.xml"):
        read(tmp_path, format="share13", skip_bad=True)


def test_a_surface_that_differs_is_reported(tmp_path):
    unpack(tmp_path, KNOWTATOR.replace("<spannedText>fever<", "<spannedText>fewer<"))
    corpus = read(tmp_path, format="share13")
    assert any("annotated text 'fewer' differs" in str(notice) for notice in corpus.notices)
    assert corpus.documents[0].entities[1].text == "fever"
