from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixed_predictors import Scored
from tiny_models import extractor
from trigner.pipeline.extraction import Extractor
from trigner.serving.work import extraction

LINES = [
    "my left leg hurt, no pain in arm, numb after the tablet. No pain.",
    "",
    " \r\n\t",
    "left \x00 leg \x1b[1m e\u0301 hurt",
    "😀 my 👩‍⚕️ leg hurt 🇬🇧.",
    "كان الألم في leg hurt",
    "my leg\r\nhurt .\r\n\r\nno pain",
    " ".join(["my left leg hurt and numb"] * 20),  # through windows: the encoder reads 40 subwords
]


def same(found, documents):
    for own, document in zip(found, documents, strict=True):
        assert [(e.label, e.fragments, e.text) for e in own.entities] == [
            (e.label, e.fragments, e.text) for e in document.entities
        ]
        for ours, expected in zip(own.entities, document.entities, strict=True):
            assert ours.score == pytest.approx(expected.score, abs=1e-4)


@pytest.mark.parametrize("at_a_time", [1, 3, 50])
def test_the_same_entities_as_the_extractor_finds(extract, run, at_a_time):
    found = run(extraction(extract, LINES), at_a_time)
    assert sum(len(own.entities) for own in found) > 5
    same(found, extract.stream(LINES))


@settings(max_examples=30)
@given(st.lists(st.text(max_size=60), max_size=4))
def test_any_text(tiny, run, texts):
    extract = extractor(tiny())
    same(run(extraction(extract, texts), 4), extract.stream(texts))


def test_run_statistics_are_those_of_each_text(extract, run):
    found = run(extraction(extract, LINES), 4)
    notices = [" ".join(own.statistics.notices()) for own in found]
    assert ["windows" in notice for notice in notices] == [False] * 7 + [True]
    assert found[0].statistics.sentences == 2


def test_a_bound_that_several_windows_hit_is_one_sentences(tiny, run):
    extract = extractor(tiny("mac"))
    (found,) = run(extraction(extract, LINES[-1:]), 4)
    stream = extract.stream(LINES[-1:])
    list(stream)
    assert (found.statistics.bounded, found.statistics.windowed) == (1, 1)
    assert found.statistics == stream.statistics


def test_the_best_mentions_of_a_sentence_are_kept_and_not_of_its_windows(run):
    scores = [n / 2000 for n in range(1500)]
    (found,) = run(extraction(Extractor(Scored(scores), "scored"), ["word " * 1500]), 7)
    assert sorted(e.score for e in found.entities) == [round(score, 4) for score in scores[500:]]
    assert found.statistics.bounded == 1


def test_a_threshold_replaces_the_extractors_own(extract, run):
    everything = run(extraction(extract, LINES), 8)
    scores = sorted(e.score for own in everything for e in own.entities)
    middle = scores[len(scores) // 2]
    none = replace(extract, threshold=1.0, thresholds={"ADR": 1.0})
    assert not any(own.entities for own in run(extraction(none, LINES), 8))
    some = run(extraction(none.with_threshold(middle), LINES), 8)
    assert sum(len(own.entities) for own in some) == sum(score >= middle for score in scores)
    by_label = replace(extract, thresholds={"ADR": 1.1})
    found = run(extraction(by_label, LINES), 8)
    labels = {e.label for own in everything for e in own.entities}
    assert {e.label for own in found for e in own.entities} == labels - {"ADR"}


def test_long_texts_are_segmented_while_they_are_scored(extract):
    work = extraction(extract, ["My leg hurt. " * 500, "no pain."])
    first = work.take()
    assert first is not None
    assert work.started
    assert not work.future.done()


def test_cancelled_work_gets_no_result(extract):
    work = extraction(extract, [""])
    assert work.future.cancel()
    assert work.take() is None
    work.finish()
    work.fail(ValueError())
    assert work.future.cancelled()
