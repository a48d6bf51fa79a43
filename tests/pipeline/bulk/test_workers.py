"""Actors of Ray on this machine, and what happens when they end."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pytest

from rows import EndsAtOnce, EndsOnSome, FindPain, RaisesOnSome, ray_files
from tiny_models import TEXT
from trigner.errors import TrignerError
from trigner.pipeline.bulk.reading import RowBatch
from trigner.pipeline.bulk.workers import Actors, InProcess, ray_session

ray = pytest.importorskip("ray", reason="Ray is not installed (extra `scale`)")


@pytest.fixture(scope="module")
def session():
    """Ray with two actors' worth of CPUs."""
    with ray_files() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        # Where workers find what they are to call.
        path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
        patch.setenv("PYTHONPATH", path)
        with ray_session(address=None, workers=2) as cpus:
            yield cpus


def batches(number, *, bad=()):
    """Batches of two rows."""
    for n in range(number):
        texts = [f"row {n} {m} pain" for m in range(2)]
        texts = ["end " + text if (n, m) in bad else text for m, text in enumerate(texts)]
        kept = pa.table({"n": [2 * n, 2 * n + 1]})
        yield RowBatch(0, 2 * n, pa.chunked_array([pa.array(texts)]), kept)


def rows(results):
    """Every row that came back, by its number; none may come twice."""
    found = {}
    for batch, (table, _) in results:
        assert batch.kept.column("n").to_pylist() == [*range(batch.first, batch.end)]
        for n, row in enumerate(table.to_pylist(), batch.first):
            assert n not in found
            found[n] = row
    return [found[n] for n in sorted(found)]


def test_actors_give_what_one_process_gives(session, model_annotator):
    texts = pa.chunked_array([pa.array([TEXT, None, "", "my leg hurt"])])
    given = [RowBatch(0, 4 * n, texts, pa.table({"n": range(4 * n, 4 * n + 4)})) for n in range(6)]
    alone = rows(InProcess(model_annotator).annotated(given))
    assert rows(Actors(model_annotator, 2).annotated(given)) == alone
    assert any(row["entities"] for row in alone)
    assert alone[1]["error"] == "the text is null"


def test_no_more_is_read_than_is_worked_on(session):
    drawn = []
    given = (drawn.append(n) or batch for n, batch in enumerate(batches(30)))
    results = Actors(FindPain(), 2).annotated(given)
    for done, _ in enumerate(islice(results, 20), 1):
        assert len(drawn) <= done + 2
    results.close()


def test_a_batch_whose_worker_ends_is_done_by_another(session, tmp_path):
    ends = EndsOnSome(str(tmp_path / "ended"))
    found = rows(Actors(ends, 2).annotated(batches(6, bad=[(2, 1)])))
    assert (tmp_path / "ended").exists()
    assert [row["error"] for row in found] == [None] * 12
    assert all(row["entities"] for row in found)


def test_a_row_that_ends_its_workers_is_a_row_with_an_error(session):
    found = rows(Actors(EndsOnSome(), 2).annotated(batches(3, bad=[(1, 0)])))
    assert [n for n, row in enumerate(found) if row["error"]] == [2]
    assert found[2] == {"entities": None, "error": "2 workers stopped while reading it"}
    assert all(row["entities"] for n, row in enumerate(found) if n != 2)


def test_workers_that_never_begin_are_told(session, refused):
    with refused(error=TrignerError):
        list(Actors(EndsAtOnce(), 1).annotated(batches(1)))


def test_a_model_that_workers_cannot_load_is_told(session, model_annotator, tmp_path, refused):
    copy = shutil.copytree(model_annotator.folder, tmp_path / "model")
    there = replace(model_annotator, folder=copy)
    (copy / "model.onnx").unlink()
    with refused():
        list(Actors(there, 1).annotated(batches(1)))
    other = replace(model_annotator, fingerprint="0")
    with refused():
        list(Actors(other, 1).annotated(batches(1)))


def test_waiting_for_a_machine_is_told(session, monkeypatch):
    monkeypatch.setattr("trigner.pipeline.bulk.workers.PATIENCE", 0.1)
    reported = []

    def report(message):
        reported.append(message)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(Actors(FindPain(), 1, gpu=True, report=report).annotated(batches(1)))
    expected = (
        r"no worker has started yet: each worker needs 1 CPU and 1 GPU; free: [012] CPU, 0 GPU;"
        " still waiting"
    )
    assert re.fullmatch(expected, *reported)


def test_other_errors_on_workers_name_the_machine(session, refused):
    with refused(error=TrignerError):
        list(Actors(RaisesOnSome(""), 1).annotated(batches(1)))
    with refused(error=TrignerError):
        list(Actors(RaisesOnSome("row"), 1).annotated(batches(1)))


def test_one_that_ends_with_a_batch_is_replaced_whatever_was_before(monkeypatch, refused):
    actors = object.__new__(Actors)
    actors._number, actors._bad_starts, actors._awaited, actors._idle = 1, 9, {}, []
    started = []
    monkeypatch.setattr(actors, "_start", lambda: started.append(1), raising=False)
    actors._replace(next(batches(1)), RuntimeError("killed"))
    assert started
    with refused(error=TrignerError):
        actors._replace(None, RuntimeError("killed"))


def test_without_an_address_a_cluster_that_runs_is_left_alone(monkeypatch, refused):
    monkeypatch.setenv("RAY_ADDRESS", "10.0.0.1:6379")
    given = {}
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", lambda **options: given.update(options))
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 2.0})
    with ray_session(address=None, workers=2) as cpus:
        assert cpus == 2
    assert given["address"] == "local"
    with (
        refused(error=TrignerError),
        ray_session(address=None, workers=2, gpu=True),
    ):
        pass


@pytest.mark.parametrize(
    "address",
    [
        "localhost:1",
        "nonsense",
        "ray://localhost:1",
    ],
)
def test_a_wrong_address_is_told(monkeypatch, address, refused):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with refused(error=TrignerError), ray_session(address=address, workers=1):
        pass
