from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest

from tiny_models import TEXT, save
from trigner.errors import InputError
from trigner.mentions import Document, Entity, Mention
from trigner.tagging.system import TagSystem, build
from trigner.text import segment
from trigner.training import resolve

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


def test_bias_initialisation_leaves_a_models_weights_alone(tiny, saved_model):
    system = build(settings_for(tiny(), "optimisation.bias_init=true"), ("ADR",), saved_model)
    before = {name: own.clone() for name, own in system.network.state_dict().items()}
    system.initialise(system.prepare(SENTENCES).inputs)
    assert all(before[name].equal(own) for name, own in system.network.state_dict().items())


def test_a_model_of_something_else_is_refused(tiny, saved_model, tmp_path):
    settings = settings_for(tiny())
    with pytest.raises(InputError, match=r"ADR, Drug; this training is for Dose .*--map-labels"):
        build(settings, ("Dose",), saved_model)
    toe = save(tiny("toe"), tmp_path / "toe")
    with pytest.raises(
        InputError, match=r"toe model for ADR, Drug; .* for ADR with the system w2ner"
    ):
        build(settings, ("ADR",), toe)
    others = settings.model_copy(
        update={"model": settings.model.model_copy(update={"channels": 5})}
    )
    with pytest.raises(InputError, match="was trained with different model settings"):
        build(others, ("ADR",), saved_model)


def test_sizes_are_cells_or_words_and_with_triplets_anchors(tiny):
    words = len(SENTENCES[0].words)
    for name, offset, axes in (("w2ner", 2, 2), ("corro", 0, 1)):
        model = tiny(name)
        system = TagSystem(model, settings_for(model))
        example = system.prepare(SENTENCES).inputs[0]
        sizes = system.sizes(example)
        assert sizes["cells"] == (words + offset) ** axes
        assert ("anchors" in sizes) == ("candidates" in system.collate([example]))
        assert ("anchors" in sizes) == (name == "w2ner")


@pytest.mark.parametrize("name", ["w2ner", "toe", "mac"])
@pytest.mark.parametrize("co_predictor", ["trigner", "w2ner"])
def test_a_projection_head_is_of_the_training_alone(tiny, name, co_predictor):
    made = tiny(name, co_predictor=co_predictor)
    model = replace(made, tagger=deepcopy(made.tagger))
    assignments = ("triplets.source=projection", "triplets.projection_size=3", "triplets.weight=1")
    kept = TagSystem(model, settings_for(model)).saved_state().files["model.safetensors"]
    system = TagSystem(model, settings_for(model, *assignments))
    batch = system.collate(system.prepare(SENTENCES).inputs)
    system.loss({}, **batch).total.backward()
    head = system.network.projection
    assert head.output.weight.shape[0] == 3
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
