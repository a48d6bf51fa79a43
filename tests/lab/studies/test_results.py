from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from study_results import result_of
from trigner.errors import TrignerError
from trigner.lab.studies.changes import Changes
from trigner.lab.studies.declaration import find_study
from trigner.lab.studies.grid import runs
from trigner.lab.studies.protocols import protocol
from trigner.lab.studies.results import find, read_results, run_name, with_defaults, write_result
from trigner.lab.studies.store import pack_runs

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def run(declare):
    return runs(declare(), protocol("full"))[0]


def test_what_a_result_lacks_has_its_default(run):
    whole = run.identity
    assert (whole["triplets.weight"], whole["adaptation"]) == (0.001, None)
    for name in ("optimisation.beta2", "model.biaffine_size", "triplets.metric"):
        assert with_defaults({n: v for n, v in whole.items() if n != name}) == whole
    off = with_defaults({**whole, "triplets.weight": 0})
    assert off == with_defaults({**whole, "triplets.weight": 0, "triplets.margin": 7})
    assert "triplets.margin" not in off


def test_what_killed_processes_left_of_a_result_goes(run, corpus, tmp_path):
    result_of(run, corpus, tmp_path)
    whole = sorted((tmp_path / "small").iterdir())
    for path in whole:
        path.rename(path.with_name(f".{path.name}.0123456789abcdef.tmp"))
    result_of(run, corpus, tmp_path)
    assert sorted((tmp_path / "small").iterdir()) == whole


def test_a_result_is_read_as_it_was_written(run, corpus, tmp_path):
    written = result_of(run, corpus, tmp_path)
    (read,) = read_results(tmp_path, "small")
    assert read == written
    assert read.path == tmp_path / "small" / f"{read.name}.json"
    assert read.name.startswith("window=none-1-")
    assert read.predictions().keys() == read.chosen.keys()
    assert read.chosen["overall"].score("test", "overall").gold == 5
    assert not list(tmp_path.rglob("*.partial"))
    assert str(corpus.train[0].id) not in read.path.read_text()


def test_a_result_belongs_to_runs_with_equal_settings_and_data(run, corpus, tmp_path):
    made = result_of(run, corpus, tmp_path)
    assert find([made], run.identity, corpus.hashes) is made
    assert find([made], run.identity, None) is made
    assert find([made], {**run.identity, "seed": 9}, corpus.hashes) is None
    assert find([made], run.identity, {**corpus.hashes, "test": "0"}) is None
    without = {n: value for n, value in run.identity.items() if n != "optimisation.beta2"}
    assert find([replace(made, settings=without)], run.identity, None)
    other = {**run.identity, "optimisation.beta2": 0.9}
    assert find([replace(made, settings=without)], other, None) is None
    gone = replace(made, settings={**run.identity, "optimisation.gone": 1})
    assert find([gone], run.identity, corpus.hashes) is None


@pytest.mark.slow
def test_the_kept_results_are_those_of_todays_studies():
    """Of batches that weigh alike, and sequences without a BiLSTM, as they all were then."""
    kept = read_results(ROOT / "research/results/studies", "spl-adr")
    equal, linear = "optimisation.batch_weighting=equal", "model.sequence.layer=none"
    sequences = ("corro", "biohd", "biohd1234", "bio")
    for name, dense, least, changes in (
        ("best", "dense", 15, Changes(assignments=[equal])),
        ("systems", "cpu", 24, Changes(assignments=[equal])),
        ("systems", "cpu", 12, Changes(assignments=[equal, linear], only=sequences)),
    ):
        made = runs(find_study(name), protocol(dense), changes)
        there = [run for run in made if find(kept, run.identity, None) is not None]
        assert len(there) >= least, name


def test_kept_runs_with_sentences_of_any_members_are_not_todays(declare):
    assignments = ["sampling.coordination=0.5"]
    (run, *_) = runs(declare(), protocol("full"), Changes(assignments=assignments))
    former = {n: v for n, v in run.identity.items() if not n.startswith("revisions.")}
    assert with_defaults(former) == former != run.identity
    without = runs(declare(), protocol("full"))[0].identity
    assert not any(name.startswith("revisions.") for name in without)


def test_a_packed_result_is_the_same(finished):
    _, folder = finished
    before = read_results(folder, "small")
    assert pack_runs(folder, "small").added == len(before) == 6
    packed = read_results(folder, "small")
    assert packed == before
    for one, other in zip(packed, before, strict=True):
        assert one.predictions()["overall"].documents == other.predictions()["overall"].documents


def test_a_result_is_never_replaced(run, corpus, tmp_path, refused):
    made = result_of(run, corpus, tmp_path)
    assert write_result(made, tmp_path) == made
    with refused(error=TrignerError):
        write_result(replace(made, seconds=1.0), tmp_path)
    assert read_results(tmp_path, "small") == [made]


def test_of_several_the_one_with_predictions_is_taken(run, corpus, tmp_path):
    made = result_of(run, corpus, tmp_path)
    bare = replace(made, found=None)
    assert find([bare, made], run.identity, corpus.hashes) is made
    assert find([bare], run.identity, corpus.hashes) is bare


def test_names_are_for_people_and_tell_runs_apart(run, corpus):
    name = run_name("with, encoder=a/B", run.identity, corpus.hashes)
    assert name.startswith("with-encoder=a-b-1-")
    assert name != run_name("with, encoder=a/B", run.identity, {"train": "0"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda run: run.pop("chosen"), "is damaged: 'chosen'"),
        (lambda run: run.update(more=1), "is damaged: .*unexpected keyword"),
        (lambda run: run.update(data=[]), "is damaged: settings, data and train"),
        (lambda run: run["chosen"]["overall"]["test"].pop("overall"), "is damaged: 'overall'"),
    ],
)
def test_results_that_cannot_be_trusted_are_named(run, corpus, tmp_path, change, message, refused):
    path = result_of(run, corpus, tmp_path).path
    told = json.loads(path.read_text())
    change(told["run"])
    path.write_text(json.dumps(told, separators=(",", ":")) + "\n")
    with refused():
        read_results(tmp_path, "small")
    pack_runs(tmp_path, "small")
    with refused():
        read_results(tmp_path, "small")


def test_damaged_predictions_name_their_file(run, corpus, tmp_path, refused):
    path = result_of(run, corpus, tmp_path).path
    path.write_text(path.read_text().replace('"sentences":', '"phrases":'))
    (read,) = read_results(tmp_path, "small")
    with refused():
        read.predictions()
