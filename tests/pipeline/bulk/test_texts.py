from __future__ import annotations

import pytest

from tiny_models import TEXT
from trigner.errors import LONGEST
from trigner.mentions import Document
from trigner.pipeline.bulk.texts import annotate_texts
from trigner.pipeline.statistics import RunStatistics

pd = pytest.importorskip("pandas", reason="pandas is not installed (extra `lab`)")


def alone(extractor, text):
    """What is found in a text that is read alone."""
    return [
        {
            "label": e.label,
            "fragments": [{"start": start, "end": end} for start, end in e.fragments],
            "text": e.text,
            "score": e.score,
        }
        for e in extractor(text).entities
    ]


def test_each_text_has_what_it_has_alone(model_annotator):
    extractor = model_annotator.extractor
    texts = [TEXT, "", "my leg", "  numb\r\narm \N{PILE OF POO} hurt", TEXT * 3] * 30
    found, statistics = annotate_texts(extractor, texts)
    assert [each.entities for each in found] == [alone(extractor, text) for text in texts]
    assert any(each.entities for each in found)
    assert all(each.error is None for each in found)
    assert statistics == sum_of(extractor, texts)


def test_a_table_is_refused_in_place_of_texts(model_annotator, refused):
    frame = pd.DataFrame({"text": [TEXT], "author": ["me"]})
    with refused():
        model_annotator.texts(frame)
    assert model_annotator.texts(frame["text"]) == model_annotator.texts([TEXT])


def sum_of(extractor, texts):
    statistics = RunStatistics()
    for text in texts:
        run = extractor.documents([Document("1", text)])
        list(run)
        statistics.add(run.statistics)
    return statistics


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "the text is null"),
        (float("nan"), "the text is null"),
        (pd.NA, "the text is null"),
        (pd.NaT, "the text is null"),
        (17, "the text is of type int, not a string"),
        (1.5, "the text is of type float, not a string"),
        ([TEXT], "the text is of type list, not a string"),
        (b"pain", "the text is of type bytes, not a string"),
        ("pain " * 21, "the text has 105 characters, of 100 at most"),
        ("pain \ud83d", "the text has a lone surrogate"),
        ("pain \udcff", "the text is not UTF-8"),
    ],
    ids=str,
)
def test_a_value_that_is_no_text_is_an_error_of_its_own(model_annotator, value, why):
    texts = [TEXT, value, TEXT]
    found, _ = annotate_texts(model_annotator.extractor, texts, most_characters=100)
    assert found[1].entities is None
    assert found[1].error.startswith(why)
    assert found[0] == found[2]
    assert found[0].error is None


def test_a_text_may_have_as_many_characters_as_are_allowed(model_annotator):
    found, _ = annotate_texts(model_annotator.extractor, ["pain " * 20], most_characters=100)
    assert found[0].error is None


def test_no_error_is_longer_than_a_message(model_annotator, monkeypatch):
    def fail(predictor, sentences):
        raise RuntimeError("pain " * 1000)

    monkeypatch.setattr(type(model_annotator.extractor.predictor), "prepare", fail)
    found, _ = annotate_texts(model_annotator.extractor, [TEXT])
    assert len(found[0].error) == LONGEST


def test_a_text_that_the_model_fails_on_is_an_error_of_its_own(model_annotator, monkeypatch):
    extractor = model_annotator.extractor
    predict = type(extractor.predictor).prepare

    def fail(predictor, sentences):
        if any("tablet" in sentence.words for sentence in sentences):
            raise RuntimeError("no \ud83d memory")
        return predict(predictor, sentences)

    monkeypatch.setattr(type(extractor.predictor), "prepare", fail)
    found, _ = annotate_texts(extractor, ["my left leg", TEXT, "my arm"])
    assert [each.error for each in found] == [None, "RuntimeError: no ? memory", None]
    assert found[0].entities == alone(extractor, "my left leg")
