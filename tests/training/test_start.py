from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file

from trigner.families.tagging.distillation import Teachers
from trigner.mentions import Document, Entity
from trigner.models.folder import fingerprint
from trigner.training.coordination import POOL
from trigner.training.run import train
from trigner.training.settings import resolve

SMALL = [
    "optimisation.epochs=2",
    "optimisation.batch_size=2",
    "model.lstm_size=8",
    "model.channels=4",
    "model.pair_size=6",
    "model.grid_size=5",
]
TEXT = (
    "my left leg hurt. no pain. numb left and right arm for days, each morning, with my tea and"
    " bread"
)
DOCUMENTS = [
    Document(
        "d",
        TEXT,
        (
            Entity("ADR", ((3, 11), (12, 16)), "left leg hurt"),
            Entity("ADR", ((27, 36), (47, 50)), "numb left arm"),
            Entity("ADR", ((27, 31), (41, 50)), "numb right arm"),
        ),
    ),
    Document("e", "pain after the tablet.", (Entity("ADR", ((0, 4),), "pain"),)),
]


@pytest.fixture(scope="module")
def run(encoder_of):
    def run(out, *assignments, documents=DOCUMENTS, told=None, **options):
        settings = resolve(
            assignments=[*SMALL, *assignments],
            optional=[text.partition("=")[0] for text in SMALL],
            options={"encoder": str(encoder_of())},
        )
        console = Console(quiet=True) if told is None else Console(file=told)
        return train(settings, documents, DOCUMENTS, out, device="cpu", console=console, **options)

    return run


@pytest.fixture(scope="module")
def teachers(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("teachers")
    return [run(folder / str(seed), f"seed={seed}").best.folder for seed in (1, 2)]


@pytest.fixture(scope="module")
def alone(run, tmp_path_factory):
    """A training without teachers."""
    return run(tmp_path_factory.mktemp("alone") / "m")


def weights(trained):
    return load_file(trained.best.folder / "model.safetensors")


def equal(one, other):
    return all(torch.equal(weights(one)[name], own) for name, own in weights(other).items())


def test_a_student_says_of_whom_it_learnt(run, teachers, alone, tmp_path):
    told = StringIO()
    trained = run(tmp_path / "m", teachers=teachers, told=told)
    assert "2 teachers read the sentences first" in told.getvalue()
    assert "without teachers" not in told.getvalue()
    made = trained.best.description.provenance.teachers
    assert made == [
        {"model": str(own), "weights": fingerprint(own, described=False)} for own in teachers
    ]
    assert json.loads((tmp_path / "m" / "run.json").read_text())["teachers"] == [
        fingerprint(own, described=False) for own in teachers
    ]
    assert alone.best.description.provenance.teachers is None
    assert not equal(trained, alone)


def test_what_teachers_read_in_windows_is_counted(run, teachers, tmp_path):
    long = Document("l", " ".join(["pain"] * 60), (Entity("ADR", ((0, 4),), "pain"),))
    told = StringIO()
    run(tmp_path / "m", teachers=teachers[:1], documents=[*DOCUMENTS, long], told=told)
    assert "sentences without teachers, which read in windows there" in told.getvalue()


def test_what_teachers_count_for_is_a_setting(run, teachers, alone, tmp_path):
    for weight, same in ((0, True), (0.5, False), (1, False)):
        out = tmp_path / str(weight)
        trained = run(out, f"optimisation.distillation={weight}", teachers=teachers)
        assert equal(trained, alone) is same


def test_generated_sentences_are_taught_too(run, teachers, tmp_path, monkeypatch):
    read = []
    own = Teachers.soft_tags
    monkeypatch.setattr(
        Teachers,
        "soft_tags",
        lambda self, given: read.extend(s.words for s in given) or own(self, given),
    )
    sharing = [
        Document(text, text, (Entity("ADR", ((0, len(text)),), text),))
        for text in ("arm pain", "leg pain")
    ]
    trained = run(tmp_path / "m", teachers=teachers[:1], documents=[*DOCUMENTS, *sharing])
    made = len(read) - trained.data.sentences
    assert made > 0
    assert trained.data.made == round(made / POOL)


def test_a_resumed_training_has_the_same_teachers(run, teachers, tmp_path, refused):
    out = tmp_path / "m"
    run(out, teachers=teachers)
    assert run(out, teachers=teachers, resume=True).epochs == 2
    for others in ([], teachers[:1], teachers[::-1]):
        with refused():
            run(out, teachers=others, resume=True)


def test_teachers_that_cannot_teach_are_named(run, teachers, tmp_path, refused):
    other = [
        replace(d, entities=tuple(replace(e, label="Drug") for e in d.entities)) for d in DOCUMENTS
    ]
    with refused() as raised:
        run(tmp_path / "m", teachers=teachers, documents=other)
    assert raised.value.path == teachers[0]
    with refused():
        run(tmp_path / "m", "system=toe", teachers=teachers)
    with refused():
        run(tmp_path / "m", "system=bio", teachers=teachers)
    with refused():
        run(tmp_path / "m", teachers=[tmp_path])
    assert not (tmp_path / "m").exists()


def test_a_start_with_more_types_has_teachers_of_these(run, teachers, tmp_path, refused):
    drug = Document("f", "aspirin daily.", (Entity("Drug", ((0, 7),), "aspirin"),))
    begun = run(tmp_path / "two", documents=[*DOCUMENTS, drug]).best.folder
    trained = run(tmp_path / "m", init_from=begun, teachers=[begun])
    assert trained.best.description.labels == ("ADR", "Drug")
    with refused():
        run(tmp_path / "n", init_from=begun, teachers=teachers)


def test_a_weight_without_teachers_is_refused(run, tmp_path, refused):
    with refused():
        run(tmp_path / "m", "optimisation.distillation=0.7")
