from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest

from tiny_models import TEXT, save
from trigner.families.tagging.system import TagSystem, build
from trigner.families.tagging.transfer import for_labels
from trigner.mentions import Document, Entity, Mention
from trigner.systems.protocols import TakingOver
from trigner.text.segmentation import segment
from trigner.training.settings import resolve

GOLD = Document(
    "d",
    TEXT,
    (
        Entity("ADR", ((3, 11), (12, 16)), "left leg hurt"),
        Entity("ADR", ((3, 7), (12, 16)), "left hurt"),
    ),
)
SENTENCES = segment(GOLD).sentences


def settings_for(model, *assignments):
    """The settings of a training that goes on with a small model."""
    settings = resolve(
        preset="clean", options={"system": model.scheme.name}, assignments=assignments
    )
    return settings.model_copy(update={"model": model.settings})


def test_a_model_is_taken_with_all_its_labels_and_weights(tiny, saved_model):
    model = tiny()
    system = build(settings_for(model), ("ADR",), saved_model)
    assert system.labels == ("ADR", "Drug")
    for name, own in model.tagger.state_dict().items():
        assert system.network.state_dict()[name].equal(own)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (("ADR", "Drug"), ""),
        (("ADR",), ""),
        (
            ("ADR", "Dose"),
            "3 of 4 tags taken over; Dose begins with the mean of ADR, Drug; left out: Drug",
        ),
        (
            ("Dose", "Effect"),
            "2 of 4 tags taken over; Dose, Effect begin with the mean of ADR, Drug;"
            " left out: ADR, Drug",
        ),
        (
            ("ADR", "Dose", "Drug"),
            "4 of 5 tags taken over; Dose begins with the mean of ADR, Drug",
        ),
    ],
)
def test_what_is_taken_over_for_other_labels(tiny, saved_model, labels, message):
    model = tiny()
    system = build(settings_for(model, "optimisation.bias_init=true"), labels, saved_model)
    assert isinstance(system, TakingOver)
    assert system.taken_over == message
    assert system.labels == (labels if message else ("ADR", "Drug"))
    system.initialise(system.prepare(SENTENCES[:0]).inputs)  # no biases of the training's cells
    weights, before = system.network.state_dict(), model.tagger.state_dict()
    ours = before["co_predictor.grid.output.bias"]
    rows = {"ADR": ours[2], "Drug": ours[3]}
    expected = [*ours[:2], *(rows.get(label, ours[2:].mean()) for label in system.labels)]
    assert weights["co_predictor.grid.output.bias"].tolist() == [float(own) for own in expected]
    shared = [n for n in before if "co_predictor" not in n]
    assert all(weights[name].equal(before[name]) for name in shared)


def test_a_model_of_one_type_gives_it_to_another(tiny, tmp_path):
    model = tiny("bio")
    one, _ = for_labels(replace(model, tagger=deepcopy(model.tagger)), ("ADR",))
    folder = save(one, tmp_path / "one")
    system = build(settings_for(model), ("Dose",), folder)
    assert system.taken_over == "1 of 3 tags taken over; Dose begins as ADR; left out: ADR"
    assert system.network.output.weight.equal(one.tagger.output.weight)


def test_bias_initialisation_leaves_a_models_weights_alone(tiny, saved_model):
    system = build(settings_for(tiny(), "optimisation.bias_init=true"), ("ADR",), saved_model)
    before = {name: own.clone() for name, own in system.network.state_dict().items()}
    system.initialise(system.prepare(SENTENCES).inputs)
    assert all(before[name].equal(own) for name, own in system.network.state_dict().items())


def test_a_model_of_something_else_is_refused(tiny, saved_model, tmp_path, refused):
    settings = settings_for(tiny())
    toe = save(tiny("toe"), tmp_path / "toe")
    for label in ("ADR", "Dose"):
        with refused():
            build(settings, (label,), toe)
    others = settings.model_copy(
        update={"model": settings.model.model_copy(update={"channels": 5})}
    )
    for label in ("ADR", "Dose"):
        with refused():
            build(others, (label,), saved_model)


def test_sizes_are_cells_or_words_and_with_triplets_their_number(tiny):
    words = len(SENTENCES[0].words)
    for name, offset, axes in (("w2ner", 2, 2), ("corro", 0, 1)):
        model = tiny(name)
        system = TagSystem(model, settings_for(model))
        example = system.prepare(SENTENCES).inputs[0]
        sizes = system.sizes(example)
        assert sizes["cells"] == (words + offset) ** axes
        assert ("triplets" in sizes) == ("candidates" in system.collate([example]))
        assert ("triplets" in sizes) == (name == "w2ner")


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        *((name, {"co_predictor": of}) for name in ("w2ner", "toe") for of in ("trigner", "w2ner")),
        ("mac", {}),
    ],
)
def test_a_projection_head_is_of_the_training_alone(tiny, name, changes):
    made = tiny(name, **changes)
    model = replace(made, tagger=deepcopy(made.tagger))
    assignments = ("triplets.source=projection", "triplets.weight=1")
    kept = TagSystem(model, settings_for(model)).saved_state().files["model.safetensors"]
    system = TagSystem(model, settings_for(model, *assignments))
    batch = system.collate(system.prepare(SENTENCES).inputs)
    system.loss({}, **batch).total.backward()
    head = system.network.projection
    assert head.hidden.weight.grad.any()
    (before,), (after,) = kept.args, system.saved_state().files["model.safetensors"].args
    assert any(n.startswith("projection.") for n in system.network.state_dict())
    assert before.keys() == after.keys()
    groups = system.parameter_groups(resolve().optimisation)
    learning = {id(p) for group in groups for p in group["params"]}
    assert {id(p) for p in head.parameters()} <= learning


def test_mentions_that_the_tags_cannot_express_are_counted(tiny):
    mentions = [mention for sentence in SENTENCES for mention in sentence.mentions]
    assert Mention((1, 3), "ADR") in mentions
    lost = {
        name: TagSystem(tiny(name), settings_for(tiny(name))).inexpressible(SENTENCES)
        for name in ("w2ner", "bio")
    }
    assert lost["w2ner"] == 0
    assert lost["bio"] >= 1
