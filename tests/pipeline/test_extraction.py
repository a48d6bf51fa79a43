from __future__ import annotations

import copy
import gc
import tracemalloc
from dataclasses import dataclass, replace
from random import Random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixed_predictors import FixedInput, Scored
from tiny_models import extractor
from trigner.batches.collation import Batch
from trigner.batches.examples import Prepared
from trigner.batches.windows import windows
from trigner.corpora.jsonl import as_json_line
from trigner.corpora.words import document_of
from trigner.errors import InputError, TrignerError
from trigner.mentions import Document, Mention, ScoredMention
from trigner.pipeline import chunks
from trigner.pipeline.extraction import Extractor
from trigner.pipeline.found import Extracted
from trigner.pipeline.loading import load
from trigner.pipeline.statistics import RunStatistics
from trigner.systems.protocols import Prediction
from trigner.text import sentences
from trigner.text.segmentation import segment

TEXTS = [
    "my left leg hurt . no pain in the arm",
    "numb\r\nafter the second tablet \u200b pain",
    "",
    "   \n\n ",
    "pain",
    "the right arm and left leg felt numb , then my arm hurt",
]


@pytest.fixture(scope="module", params=[0, 8], ids=lambda words: f"context{words}")
def extract(tiny, request):
    return extractor(tiny(context_words=request.param))


def with_predictor(extract, max_subwords=None, **changes):
    """The extractor with another scorer or limit of its predictor."""
    if max_subwords is not None:
        changes["inputs"] = replace(extract.predictor.inputs, max_subwords=max_subwords)
    return replace(extract, predictor=replace(extract.predictor, **changes))


def found(document):
    return [(e.label, e.fragments, round(e.score, 4)) for e in document.entities]


WRONG = {
    "the score nan:": Prediction((ScoredMention(Mention((0,), "ADR"), float("nan")),)),
    "the score -0.1:": Prediction((ScoredMention(Mention((0,), "ADR"), -0.1),)),
    "the score 1.5: a score is a number from 0 to 1": Prediction(
        (ScoredMention(Mention((0,), "ADR"), 1.5),)
    ),
    "the score None:": Prediction((ScoredMention(Mention((0,), "ADR"), None),)),
    "found a 'WEIRD', which is none of the model's types: ADR": Prediction(
        (ScoredMention(Mention((0,), "WEIRD"), 0.5),)
    ),
    "the score 1.001:": Prediction((ScoredMention(Mention((0,), "ADR"), 1.001),)),
    r"found the words \(1, 9\) in a sentence of 3 words: the first is 0": Prediction(
        (ScoredMention(Mention((1, 9), "ADR"), 0.5),)
    ),
    r"found the words \(3,\) in a sentence of 3 words": Prediction(
        (ScoredMention(Mention((3,), "ADR"), 0.5),)
    ),
}


@pytest.mark.parametrize("told", WRONG)
def test_what_no_system_may_predict_is_told(told, monkeypatch, refused):
    monkeypatch.setattr(Scored, "predict", lambda self, inputs: [WRONG[told]] * len(inputs))
    with refused(error=TrignerError):
        Extractor(Scored([0.5]), "fixed")("my leg hurts")


@pytest.mark.parametrize("given", [0, 2])
def test_a_prediction_too_few_or_too_many_is_told(monkeypatch, given, refused):
    monkeypatch.setattr(Scored, "predict", lambda self, inputs: [Prediction(())] * given)
    with refused(error=TrignerError):
        Extractor(Scored([0.5]), "fixed")("my leg hurts")


def test_scores_may_be_numbers_of_numpy():
    (entity,) = Extractor(Scored([np.float32(0.5)]), "fixed")("my leg hurts").entities
    assert type(entity.score) is float


def test_context_changes_scores_and_is_the_documents_own(tiny):
    extract = extractor(tiny(context_words=3))
    text = "my left leg hurt .\n\npain in arm .\n\nnumb after the tablet ."
    middle = text.index("pain"), text.index("\n\nnumb")

    def of_the_middle(text, start, end):
        (document,) = extract.documents([Document("d", text)])
        return [
            (e.label, [(a - start, b - start) for a, b in e.fragments], e.score)
            for e in document.entities
            if start <= e.fragments[0][0] < end
        ]

    whole = of_the_middle(text, *middle)
    alone = of_the_middle(text[slice(*middle)], 0, 99)
    assert whole
    assert whole != alone
    farther = "no fever . " + text  # words beyond the three nearest
    assert of_the_middle(farther, middle[0] + 11, middle[1] + 11) == whole


def test_offsets_index_the_callers_text(extract):
    assert any(len(e.fragments) > 1 for text in TEXTS for e in extract(text).entities)
    for text in TEXTS:
        document = extract(text)
        assert document.text == text
        for entity in document.entities:
            assert entity.text == " ".join(text[a:b] for a, b in entity.fragments)
            assert 0 <= entity.score <= 1


@given(st.permutations(range(len(TEXTS))), st.integers(1, 5))
@settings(max_examples=15)
def test_nothing_depends_on_batch_mates(extract, order, batch_size):
    alone = [found(extract(text)) for text in TEXTS]
    texts = [TEXTS[i] for i in order]
    together = list(extract.stream(texts, batch_size=batch_size))
    assert [d.text for d in together] == texts
    assert [found(d) for d in together] == [alone[i] for i in order]


def test_stream_is_lazy(extract):
    drawn = []

    def texts():
        for number in range(1000):
            drawn.append(number)
            yield "pain ."

    first = next(iter(extract.stream(texts())))
    assert first.text == "pain ."
    assert len(drawn) < 200


@given(
    st.permutations(range(len(TEXTS))),
    st.integers(1, 40),
    st.integers(1, 3),
    st.lists(st.sampled_from(TEXTS), max_size=3),
)
@settings(max_examples=15)
def test_nothing_depends_on_chunks_or_on_other_documents(extract, order, words, ending, others):
    alone = [found(extract(text)) for text in TEXTS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "WORDS", words)
        patch.setattr(chunks, "DOCUMENTS", ending)
        texts = [*others, *(TEXTS[i] for i in order), *others]
        together = list(extract.stream(texts))
    own = together[len(others) : len(others) + len(order)]
    assert [found(d) for d in own] == [alone[i] for i in order]
    assert [d.id for d in together] == [str(n) for n in range(len(texts))]


def pairs_of(ids):
    """Places of a 1 and the 2 that follows it next, no other 1 between."""
    for place, word in enumerate(ids):
        following = [n for n in range(place + 1, len(ids)) if ids[n] in (1, 2)]
        if word == 1 and following and ids[following[0]] == 2:
            yield place, following[0]


def pair_finder(extract):
    """An extractor that finds every `left ... arm`, and nothing else."""
    tokenizer = extract.predictor.inputs.tokenizer
    (subwords,) = tokenizer([["left", "arm"]])
    specials = len(tokenizer.special_words)
    numbers = {int(subwords.ids[subwords.word_subwords[specials + n, 0]]): n + 1 for n in range(2)}

    def scorer(batch: Batch):
        rows, length, _ = batch.word_subwords.shape
        scores = np.zeros((rows, length, length, 4), dtype=np.float32)
        scores[..., 0] = 5
        for row in range(rows):
            first_subwords = batch.word_subwords[row, : batch.lengths[row], 0]
            ids = [numbers.get(int(batch.input_ids[row, at]), 0) for at in first_subwords]
            for head, tail in pairs_of(ids):
                scores[row, head, tail, 1] = 9
                scores[row, tail, head, 2] = 9
        return scores

    return with_predictor(extract, scorer=scorer)


@given(
    st.lists(st.sampled_from(["left", "arm", "my", "and", "pain"]), min_size=1, max_size=150),
    st.integers(9, 40),
    st.integers(1, 4),
)
@settings(max_examples=60, deadline=None)
def test_windows_neither_duplicate_nor_shift_nor_drop(extract, words, limit, batch_size):
    """What some window holds whole is found once and in its place, and nothing else is."""
    finder = with_predictor(pair_finder(extract), max_subwords=limit)
    overhead = extract.predictor.inputs.tokenizer.overhead
    spans = windows([1] * len(words), limit - overhead)
    ids = [{"left": 1, "arm": 2}.get(word, 0) for word in words]
    expected = [
        (head, tail)
        for head, tail in pairs_of(ids)
        if any(w.start <= head and tail < w.stop for w in spans)
    ]
    run = replace(finder, batch_size=batch_size).documents([document_of("d", words)])
    (document,) = run
    starts = [start for start, _ in document.words]
    assert [
        (starts.index(e.fragments[0][0]), starts.index(max(a for a, _ in e.fragments)))
        if len(e.fragments) > 1
        else (starts.index(e.fragments[0][0]), starts.index(e.fragments[0][0]) + 1)
        for e in document.entities
    ] == expected
    overlap = (limit - overhead) // 4
    assert {p for p in pairs_of(ids) if p[1] - p[0] < overlap} <= {*expected}
    assert run.statistics.windowed == (len(spans) > 1)


def test_mentions_that_no_window_holds_are_counted(extract):
    words = ["my", "arm"] * 50
    spans = [(0, 1), (20, 80), (3, 99)]
    gold = document_of("d", words, [Mention(span, "ADR") for span in spans])
    assert extract.beyond_windows([gold, Document("e", "my arm .")]) == 2
    assert with_predictor(extract, max_subwords=500).beyond_windows([gold]) == 0


@pytest.mark.slow
def test_memory_grows_by_the_text_alone(extract):
    def scorer(batch: Batch):
        length = batch.word_subwords.shape[1]
        return np.zeros((len(batch.lengths), length, length, 4), dtype=np.float32)

    quiet = replace(with_predictor(extract, scorer=scorer), batch_size=512)

    def peak(sentences):
        text = "Pain in my left arm. " * sentences
        peaks = []
        for _ in range(
            3
        ):  # the garbage of cycles is freed at any time: the least is what is needed
            gc.collect()
            tracemalloc.start()
            try:
                quiet(text)
                peaks.append(tracemalloc.get_traced_memory()[1])
            finally:
                tracemalloc.stop()
        return len(text), min(peaks)

    peak(10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "WORDS", 2000)
        patch.setattr(sentences, "STRETCH", 10_000)
        (short, less), (long, more) = peak(2000), peak(5000)  # both fill chunks
    assert more - less < 3 * (long - short)


def test_ready_words(extract, refused):
    words = ["my", "arm", "New York", ","]
    document = extract(words=words)
    assert document.text == "my arm New York ,"
    assert [document.text[a:b] for a, b in document.words] == words
    empty = extract(words=["", "arm", ""])
    assert empty.words == ((0, 0), (1, 4), (5, 5))
    assert all(e.text.strip() == "arm" for e in empty.entities)
    with refused():
        extract("a", words=["a"])
    with refused():
        extract(None)


def test_fragments_without_characters_are_left_out(extract):
    words = ["my", "", "arm", "", "leg", "", "numb"]
    document = extract(words=words)
    assert document.entities
    assert Document.from_dict(document.to_dict()) == document


@given(st.integers(1, 12), st.integers(1, 3))
@settings(max_examples=15)
def test_partial_results_are_what_documents_finds(extract, words, ending):
    documents = [Document(str(n), text) for n, text in enumerate([" ".join(TEXTS), *TEXTS])]
    whole = list(extract.documents(documents))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "WORDS", words)
        patch.setattr(chunks, "DOCUMENTS", ending)
        partial_results = list(extract.partial_results(documents, RunStatistics()))
    assert [p.document.id for p in partial_results if p.is_last] == [d.id for d in documents]
    for document in whole:
        own = [p for p in partial_results if p.document.id == document.id]
        assert [e for p in own for e in p.entities] == list(document.entities)
        ends = [p.end for p in own]
        assert ends == sorted(ends)
        assert ends[-1] == len(document.text)
        stops = {sentence.offsets[-1][1] for sentence in segment(document).sentences}
        assert {*ends[:-1]} <= stops
    assert any(not p.is_last for p in partial_results)


def test_scores_have_four_digits_and_thresholds_see_no_more():
    predictor = Scored([0.12345, 0.123449, 0.5])
    entities = Extractor(predictor, "scored")("one two three").entities
    assert [e.score for e in entities] == [0.1235, 0.1234, 0.5]
    assert len(Extractor(predictor, "scored", threshold=0.1235)("one two three").entities) == 2


def test_a_score_that_is_1_but_for_rounding_is_1():
    entities = Extractor(Scored([1.00009, 1.0, 0.5]), "scored")("one two three").entities
    assert [e.score for e in entities] == [1.0, 1.0, 0.5]


def test_the_bound_is_the_sentences_and_not_its_windows():
    scores = [n / 2000 for n in range(1500)]
    extract = Extractor(Scored(scores), "scored")
    run = extract.stream(["word " * 1500, "word " * 1500])
    for document in run:
        assert sorted(e.score for e in document.entities) == sorted(
            round(score, 4) for score in scores[500:]
        )
    assert run.statistics.bounded == 2


def test_order_and_batch_size_change_no_byte(extract):
    """Of the scores; test_nothing_depends_on_batch_mates looks at what is found."""
    random = Random(5)
    words = ["my", "left", "right", "leg", "arm", "hurt", "numb", ".", "pain", ",", "and"]
    texts = [" ".join(random.choices(words, k=random.randint(1, 40))) for _ in range(60)]
    documents = [Document(str(n), text) for n, text in enumerate(texts)]

    def lines(order, batch_size):
        found = replace(extract, batch_size=batch_size).documents([documents[n] for n in order])
        return sorted(as_json_line(document) for document in found)

    expected = lines(range(60), 32)
    assert sum(line.count('"score"') for line in expected) > 100
    for batch_size in (1, 3, 64):
        assert lines(random.sample(range(60), 60), batch_size) == expected


def test_of_words_of_nothing(extract):
    assert extract(words=[]).entities == ()


def test_a_line_of_3000_words_is_read_through_windows(extract):
    words = ["pain", "arm", "numb", "tablet"] * 750
    run = extract.documents([document_of("d", words)])
    (document,) = run
    assert run.statistics.windowed == 1
    assert any("overlapping windows" in notice for notice in run.statistics.notices())
    last = max(e.fragments[-1][1] for e in document.entities)
    assert last > len(document.text) * 0.9


def test_threshold_drops_and_keeps(extract):
    everything = extract(TEXTS[0]).entities
    scores = sorted(e.score for e in everything)
    middle = scores[len(scores) // 2]
    kept = replace(extract, threshold=middle)(TEXTS[0]).entities
    assert kept == tuple(e for e in everything if e.score >= middle)
    assert 0 < len(kept) < len(everything) or scores[0] == middle


def test_statistics_are_those_of_the_documents_drawn_so_far(extract):
    run = extract.documents(Document(str(n), "Pain. Numb.") for n in range(1000))
    assert run.statistics.sentences == 0
    next(run)
    assert 0 < run.statistics.sentences < 1000
    assert len(list(run)) == 999
    assert run.statistics.sentences == 2000


def test_runs_share_nothing_unless_they_are_given_the_same_statistics(extract):
    one, other = extract.stream(TEXTS), extract.stream(TEXTS[:1])
    assert (len(list(one)), len(list(other))) == (len(TEXTS), 1)
    assert (one.statistics.sentences, other.statistics.sentences) == (4, 1)
    together = RunStatistics()
    for _ in range(2):
        run = extract.documents([Document("a", TEXTS[0])], together)
        assert run.statistics is together
        assert len(list(run)) == 1
    assert together.sentences == 2


def test_notices_are_for_what_was_met():
    assert RunStatistics(sentences=3).notices() == []
    met = RunStatistics(9, bounded=1, on_special_words=2, windowed=3, truncated=4)
    assert met.notices() == [
        "1 of 9 sentences hit a bound of decoding: the result may be incomplete",
        "3 of 9 sentences exceeded the encoder's maximum length: read through overlapping windows",
        "2 predictions on [POS] or [NEG] left out",
        "4 very long words truncated to the first subwords",
    ]
    (told,) = RunStatistics(1, bounded=1).notices()
    assert told.startswith("1 of 1 sentence hit")


def test_counts_of_parts_and_of_other_runs_are_added():
    met = RunStatistics(bounded=2, on_special_words=6)
    for _ in range(3):
        met.add_prepared(2, Prepared((), windowed=1, truncated=3))
    assert met == RunStatistics(6, bounded=2, on_special_words=6, windowed=3, truncated=9)
    met.add(RunStatistics(10, 20, 30, 40, 50))
    assert met == RunStatistics(16, 22, 36, 43, 59)


def test_fields_of_all_annotators_are_kept_and_of_one_name_the_last():
    annotators = (lambda *_: {"a": 1, "b": 1}, lambda *_: None, lambda *_: {"b": 2})
    (entity,) = Extractor(Scored([0.5]), "fixed", annotators=annotators)("pain").entities
    assert entity.fields == {"a": 1, "b": 2}


def test_white_space_is_no_entity():
    found = Extractor(Scored([0.5, 0.5]), "fixed")(words=[" ", "pain"])
    assert [e.text for e in found.entities] == ["pain"]


@dataclass
class Fixed:
    """Finds the first word of each sentence, without any network; has one limit of its own."""

    labels = ("ADR",)

    def prepare(self, sentences):
        inputs = tuple(FixedInput(n, s.words) for n, s in enumerate(sentences))
        return Prepared(inputs, lost=(), windowed=0, truncated=0)

    def predict(self, inputs):
        if any("boom" in own.words for own in inputs):
            raise RuntimeError("boom")
        if any("worse" in own.words for own in inputs):
            raise TrignerError("is not there")
        if any("bad" in own.words for own in inputs):
            raise InputError("cannot be read", path="x", line=3)
        first = (ScoredMention(Mention((0,), "ADR"), 0.5),)
        return [Prediction(first, bounded="many" in own.words) for own in inputs]


def test_any_predictor_extracts():
    extract = Extractor(Fixed(), "fixed")
    run = extract.stream(["Pain in my arm. Numb.", "Many came. Then many went."])
    assert [[e.text for e in d.entities] for d in run] == [["Pain", "Numb"], ["Many", "Then"]]
    assert (run.statistics.sentences, run.statistics.bounded) == (4, 1)
    assert extract.labels == ("ADR",)


@pytest.mark.parametrize(
    ("text", "message"),
    [("boom", "RuntimeError: boom"), ("bad", "x:3: cannot be read"), ("worse", "is not there")],
)
def test_one_documents_failure_is_that_documents_error(text, message):
    documents = [Document("a", "Pain."), Document("b", text), Document("c", "Numb. Pain.")]
    extract = Extractor(Fixed(), "fixed")
    found, statistics = extract.batch(documents)
    assert [each.id for each in found] == ["a", "b", "c"]
    assert [each.error for each in found] == [None, message, None]
    assert found[1].document is None
    for n in (0, 2):
        (alone,) = extract.documents([documents[n]])
        assert found[n].document == alone
    assert statistics.sentences == 4


def test_a_batch_without_failures_is_one_run(extract):
    documents = [Document(f"{n}", text) for n, text in enumerate(TEXTS)]
    found, statistics = extract.batch(documents)
    run = extract.documents(documents)
    assert found == [Extracted(d.id, d) for d in run]
    assert statistics == run.statistics
    assert extract.batch([]) == ([], RunStatistics())


def test_documents_may_be_gone_through_again_and_again(extract):
    documents = [Document(str(n), text) for n, text in enumerate(TEXTS)]
    again = extract.repeatedly(iter(documents))
    assert again() == again() == list(extract.documents(documents))


def test_predictions_are_best_first(extract):
    sentences = [s for text in TEXTS for s in segment(Document("d", text)).sentences]
    statistics = RunStatistics()
    found = extract.predictions(sentences, statistics)
    assert len(found) == len(sentences) == statistics.sentences
    assert any(len(mentions) > 1 for mentions in found)
    for mentions in found:
        scores = [scored.score for scored in mentions]
        assert scores == sorted(scores, reverse=True)


def test_thresholds_of_single_labels_stand_above_the_common_one(extract):
    everything = extract(TEXTS[0]).entities
    of_one = replace(extract, thresholds={"ADR": 1.1})(TEXTS[0]).entities
    assert of_one == tuple(e for e in everything if e.label == "Drug")
    assert replace(extract, threshold=1.1, thresholds={"Drug": 0.0})(TEXTS[0]).entities == of_one
    assert len(of_one) < len(everything)


def test_documents_keep_id_and_lose_gold(extract):
    document = Document("d", "pain .", entities=())
    (predicted,) = extract.documents([document])
    assert predicted.id == "d"
    assert extract.labels == ("ADR", "Drug")


@pytest.mark.parametrize(
    "given",
    [
        {"text": b"pain"},
        {"text": 3},
        {"words": "my leg"},
        {"words": {"my": 1, "leg": 2}},
        {"words": 3},
        {"words": ["my", 3]},
    ],
)
def test_what_is_neither_a_text_nor_words_is_refused(saved_model, given, refused):
    with refused():
        load(saved_model, device="cpu")(**given)


def test_a_call_takes_texts_and_documents(extract):
    alone = [extract(text) for text in TEXTS]
    many = extract(TEXTS)
    assert [d.id for d in many] == [str(n) for n in range(len(TEXTS))]
    assert [found(d) for d in many] == [found(d) for d in alone]
    assert extract(tuple(TEXTS)) == extract(iter(TEXTS)) == many
    given = Document("post-1", TEXTS[0], fields={"patient": "p1"})
    one = extract(given)
    assert (one.id, one.fields, found(one)) == ("post-1", {"patient": "p1"}, found(alone[0]))
    assert extract([given, TEXTS[1]]) == [one, many[1]]
    assert extract([]) == []


@pytest.mark.parametrize("wrong", [None, float("nan"), 3, b"pain", ["my", "arm"]])
def test_what_is_no_text_is_named_by_its_place(extract, wrong, refused):
    with refused():
        extract(["pain", wrong])
    with refused():
        list(extract.stream(["pain", wrong]))


@pytest.mark.parametrize("wrong", [3, {"text": "pain"}, float("nan")])
def test_what_is_neither_text_nor_list_is_refused(extract, wrong, refused):
    with refused():
        extract(wrong)


class Frame(list):
    """As polars has it: who goes through it meets its columns."""

    columns = ("text",)


class Rows(list):
    """As data sets of Hugging Face have it."""

    column_names = ("text",)


TABLES = [
    pd.DataFrame({"text": ["pain"], "author": ["me"]}),
    pa.table({"text": ["pain"]}),
    Frame([["pain"]]),
    Rows([["pain"]]),
]


@pytest.mark.parametrize("table", TABLES, ids=lambda table: type(table).__module__)
def test_tables_are_refused_in_place_of_texts_and_words(extract, table, refused):
    for read in (extract, extract.stream, lambda words: extract(words=words)):
        with refused():
            read(table)


def test_a_column_of_a_table_is_a_list_of_texts(extract):
    frame = pd.DataFrame({"text": ["my leg hurt", "pain"]}, index=["columns", "column_names"])
    wanted = extract(list(frame["text"]))
    assert extract(frame["text"]) == list(extract.stream(frame["text"])) == wanted
    assert extract(words=frame["text"]) == extract(words=list(frame["text"]))


class Texts:
    """As data sets of PyTorch are: places and a length, and no iterator."""

    def __len__(self):
        return len(TEXTS)

    def __getitem__(self, place):
        return TEXTS[place]


def test_a_data_set_without_an_iterator_is_a_list_of_texts(extract):
    assert extract(Texts()) == list(extract.stream(Texts())) == extract(TEXTS)


@pytest.mark.parametrize("wrong", [{"pain": 1}, Document("d", "pain"), b"pain", 3])
def test_stream_refuses_at_once_what_has_no_texts(extract, wrong, refused):
    with refused():
        extract.stream(wrong)


def test_stream_refuses_a_single_string(extract, refused):
    with refused():
        extract.stream("pain")


def test_a_threshold_of_all_types_or_of_those_that_it_names(extract):
    first, second = "ADR", "Drug"
    assert extract.labels == (first, second)
    given = replace(extract, threshold=0.5, thresholds={second: 0.25})

    def of(threshold):
        changed = given.with_threshold(threshold)
        return changed.threshold, dict(changed.thresholds)

    assert of(None) == of({}) == (0.5, {second: 0.25})
    assert of(0.75) == (0.75, {})
    assert of({first: 1}) == (0.5, {first: 1, second: 0.25})
    assert of({second: 0}) == (0.5, {second: 0})
    for wrong, message in (
        (2, "threshold: must be a number from 0 to 1, got 2"),
        ({first: True}, f"threshold of {first}: must be a number from 0 to 1, got True"),
        ({"Weather": 0.5}, f"threshold of Weather: no such type; the model has {first}, {second}"),
    ):
        with pytest.raises(InputError) as raised:
            given.with_threshold(wrong)
        assert str(raised.value) == message


def test_types_that_a_call_does_not_name_keep_their_threshold(extract):
    text = TEXTS[0]
    found = {(e.label, e.fragments) for e in extract(text).entities}
    assert {label for label, _ in found} == {"ADR", "Drug"}
    strict = replace(extract, threshold=1.0)
    assert not strict(text).entities
    again = {(e.label, e.fragments) for e in strict(text, threshold={"ADR": 0}).entities}
    assert again == {(label, where) for label, where in found if label == "ADR"}


def test_thresholds_and_batch_sizes_of_a_call(extract, refused):
    text = TEXTS[0]
    scores = [e.score for e in extract(text).entities]
    middle = sorted(scores)[len(scores) // 2]
    kept = [score for score in scores if score >= middle]
    assert 0 < len(kept) < len(scores) or len(set(scores)) == 1
    label = extract.labels[0]
    for wanted in (middle, {label: middle} if len(extract.labels) == 1 else middle):
        assert [e.score for e in extract(text, threshold=wanted).entities] == kept
        (document,) = extract.stream([text], threshold=wanted, batch_size=1)
        assert [e.score for e in document.entities] == kept
    assert [e.score for e in extract(text).entities] == scores  # it was for one call
    for wrong in ({"threshold": 2}, {"threshold": {"Weather": 0.5}}, {"batch_size": 0}):
        with refused():
            extract(text, **wrong)


def test_a_threshold_of_a_call_is_for_words_too():
    extract = Extractor(Scored([0.4, 0.6]), "fixed")
    (entity,) = extract(words=["my", "leg"], threshold=0.5).entities
    assert entity.text == "leg"


def test_words_may_come_from_a_generator():
    found = Extractor(Scored([0.5]), "fixed")(words=(word for word in ("my", "leg")))
    assert (found.text, found.words) == ("my leg", ((0, 2), (3, 6)))


def test_a_batch_may_come_from_a_generator(refused):
    documents = [Document("a", "Pain."), Document("b", "boom"), Document("c", "Numb.")]
    extract = Extractor(Fixed(), "fixed")
    found, _ = extract.batch(document for document in documents)
    assert [each.error for each in found] == [None, "RuntimeError: boom", None]
    with refused():
        extract.batch([documents[0], "Numb"])


@pytest.mark.parametrize(
    "wrong",
    [
        Document("b", None),
        Document("b", float("nan")),
        "Numb.",
    ],
)
def test_what_is_no_text_comes_after_the_documents_before_it(wrong, refused):
    extract = Extractor(Fixed(), "fixed")
    run = extract.documents([Document("a", "Pain."), wrong])
    assert next(run).id == "a"
    with refused():
        next(run)


def test_an_extractor_is_its_own_copy(extract):
    assert copy.copy(extract) is copy.deepcopy([extract])[0] is extract
    assert hash(extract) == hash(replace(extract, thresholds={"ADR": 0.5}))
