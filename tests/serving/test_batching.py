from __future__ import annotations

import random
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from trigner.errors import TrignerError
from trigner.serving.batching import ITEMS_PER_TURN, MAX_LENGTH_RATIO, Batcher, group_by_length
from trigner.serving.work import extraction

TEXTS = [
    "my left leg hurt. no pain in arm, numb after the tablet.",
    "no pain.",
    "",
    "My leg hurt. " * 40,
    "numb arm and leg, left and right . " * 12,
]


@pytest.fixture
def batcher():
    made = []

    def start(**options):
        made.append(Batcher(**{"sentences": 16, "delay": 0.0, **options}))
        made[-1].start()
        return made[-1]

    yield start
    for one in made:
        one.close()


def as_tuples(found):
    return [[(e.label, e.fragments, e.text) for e in own.entities] for own in found]


def test_batch_mates_change_nothing(extract, batcher):
    sizes = []
    worker = batcher(delay=0.05, observe=lambda size, seconds: sizes.append(size))
    expected = [[(e.label, e.fragments, e.text) for e in d.entities] for d in extract.stream(TEXTS)]
    order = [n for n in range(len(TEXTS)) for _ in range(6)]
    random.Random(3).shuffle(order)
    works = [(n, extraction(extract, [TEXTS[n]])) for n in order]
    threads = [threading.Thread(target=worker.submit, args=(work,)) for _, work in works]
    for thread in threads:
        thread.start()
    for n, work in works:
        assert as_tuples(work.future.result(60)) == [expected[n]]
    assert max(sizes) > 1
    assert max(sizes) <= 16


def test_a_long_request_does_not_delay_short_ones(gated, gate, batcher):
    worker = batcher()
    gate.shut()
    long = extraction(gated, ["My left leg hurt, no pain in arm, numb after the tablet. " * 600])
    worker.submit(long)
    assert gate.entered.wait(10)
    short = [extraction(gated, ["no pain."]) for _ in range(3)]
    for work in short:
        worker.submit(work)
    gate.open.set()
    for work in short:
        work.future.result(10)
    # One batch was under way, the short ones are in the next or the one after it.
    assert len(gate.sizes) <= 4 or not long.future.done()
    assert not long.future.done()
    assert len(long.future.result(120)[0].entities) > 0


def test_one_endless_sentence_does_not_delay_others(gated, gate, batcher):
    worker = batcher()
    gate.shut()
    long = extraction(gated, ["leg hurt numb " * 3000])
    worker.submit(long)
    assert gate.entered.wait(20)
    short = extraction(gated, ["no pain."])
    worker.submit(short)
    gate.open.set()
    short.future.result(10)
    assert not long.future.done()
    long.future.cancel()


def test_requests_take_turns_within_a_batch(gated, gate, batcher):
    worker = batcher()
    gate.shut()
    worker.submit(extraction(gated, ["no pain."]))
    assert gate.entered.wait(10)
    works = [extraction(gated, ["My leg hurt. " * 30]) for _ in range(2)]
    for work in works:
        worker.submit(work)
    gate.open.set()
    for work in works:
        work.future.result(30)
    assert gate.sizes[1] == 2 * ITEMS_PER_TURN


def test_a_request_cut_off_by_a_full_batch_comes_first_in_the_next(gated, gate, batcher):
    worker = batcher(sentences=4)
    gate.shut()
    worker.submit(extraction(gated, ["no pain."]))
    assert gate.entered.wait(10)
    texts = ["No pain. " * 3, "No pain. " * 3, *["No pain. " * 4] * 6]
    works = [extraction(gated, [text]) for text in texts]
    order = []
    for n, work in enumerate(works):
        work.future.add_done_callback(lambda _, n=n: order.append(n))
        worker.submit(work)
    gate.open.set()
    for work in works:
        work.future.result(30)
    assert order == sorted(order)


def test_cancelled_work_is_not_continued(gated, gate, batcher):
    worker = batcher()
    gate.shut()
    work = extraction(gated, ["My leg hurt. " * 500])
    worker.submit(work)
    assert gate.entered.wait(10)
    assert work.future.cancel()
    after = extraction(gated, ["no pain."])
    worker.submit(after)
    gate.open.set()
    after.future.result(10)
    assert len(gate.sizes) == 2


def test_what_nobody_waits_for_any_more_is_not_computed(gated, gate, batcher):
    """Taken together with a short request, done with before its own pass begins."""
    worker = batcher()
    gate.shut()
    worker.submit(extraction(gated, ["no pain."]))
    assert gate.entered.wait(10)
    short, long = (extraction(gated, [text]) for text in ("no pain.", "leg hurt numb " * 30))
    short.future.add_done_callback(lambda _: long.future.cancel())
    worker.submit(short)
    worker.submit(long)
    gate.open.set()
    short.future.result(30)
    after = extraction(gated, ["no pain."])
    worker.submit(after)
    after.future.result(30)
    assert long.future.cancelled()
    assert gate.sizes == [1, 1, 1]


def test_one_requests_failure_does_not_fail_the_others(extract, batcher, caplog, refused):
    bad = "pain " * 7

    def scorer(batch):
        if (batch.lengths == 7 + specials).any():
            raise ValueError("cannot be scored")
        return extract.predictor.scorer(batch)

    specials = len(extract.predictor.inputs.tokenizer.special_words)
    broken = replace(extract, predictor=replace(extract.predictor, scorer=scorer))
    worker = batcher(delay=0.2)
    works = [extraction(broken, [text]) for text in ("no pain.", bad, "my leg hurt.")]
    for work in works:
        worker.submit(work)
    assert works[0].future.result(10)
    assert works[2].future.result(10)
    with refused(error=ValueError):
        works[1].future.result(10)
    assert worker.is_working


def test_work_that_cannot_be_split_or_decoded_fails_alone(extract, batcher, caplog):
    worker = batcher()

    def broken():
        raise KeyError("broken")
        yield

    cannot_split = extraction(extract, ["no pain."])
    cannot_split._items = broken()  # as if a text made the splitter fail
    no_scheme = replace(extract, predictor=replace(extract.predictor, scheme=SimpleNamespace()))
    cannot_decode = extraction(no_scheme, ["no pain."])
    for work in (cannot_split, cannot_decode):
        worker.submit(work)
    with pytest.raises(KeyError):
        cannot_split.future.result(10)
    with pytest.raises(AttributeError):
        cannot_decode.future.result(10)
    fine = extraction(extract, ["no pain."])
    worker.submit(fine)
    assert fine.future.result(10)


def test_remaining_work_fails_on_close(gated, gate, batcher, refused):
    worker = batcher()
    gate.shut()
    started, waiting = (extraction(gated, ["My leg hurt. " * 300]) for _ in range(2))
    worker.submit(started)
    assert gate.entered.wait(10)
    worker.submit(waiting)
    closing = threading.Thread(target=worker.close)
    closing.start()
    with refused(error=TrignerError):
        waiting.future.result(10)
    gate.open.set()
    closing.join(10)
    with refused(error=TrignerError):
        started.future.result(10)
    assert not worker.is_working
    with refused(error=TrignerError):
        worker.submit(extraction(gated, ["no pain."]))


def test_an_idle_worker_ends_at_once(extract, batcher):
    worker = batcher()
    started = time.monotonic()
    worker.close()
    assert time.monotonic() - started < 2


def test_groups_of_similar_length():
    random.seed(5)
    lengths = [random.randrange(3, 90) for _ in range(60)]
    groups = group_by_length(lengths)
    assert sorted(index for group in groups for index in group) == list(range(60))
    for group in groups:
        own = [lengths[index] for index in group]
        assert max(own) <= MAX_LENGTH_RATIO * min(own) + 2
    assert len(groups) < 20
    assert group_by_length([]) == []
