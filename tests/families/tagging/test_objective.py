from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from trigner.batches.collation import IGNORED
from trigner.batches.examples import Example
from trigner.batches.windows import Window
from trigner.families.core.word_network import parameter_groups
from trigner.families.tagging.model import create
from trigner.families.tagging.network_settings import GridSettings, MacSettings
from trigner.families.tagging.objective import Objective
from trigner.families.tagging.system import TagSystem
from trigner.families.tagging.task_losses import TRIANGLES, cell_cross_entropy, task_loss
from trigner.families.tagging.task_settings import MultiLabelTask
from trigner.mentions import Mention
from trigner.schemes.scheme import decoded_tags
from trigner.systems.registry import systems
from trigner.training.settings import resolve
from trigner.triplets.settings import TripletSettings

SMALL = GridSettings(
    lstm_size=8, distance_size=3, region_size=3, channels=4, pair_size=6, grid_size=5
)
SENTENCES = ["my left leg hurt", "no pain", "numb left and right arm"]
MENTIONS = [
    (Mention((1, 2, 3), "ADR"),),
    (),
    (Mention((0, 1, 4), "ADR"), Mention((0, 3, 4), "ADR")),
]


@pytest.fixture(scope="module")
def model(encoder):
    torch.manual_seed(0)
    made = create(str(encoder), "w2ner", ("ADR",), SMALL)
    made.tagger.eval()
    return made


@pytest.fixture(scope="module")
def inputs(model):
    return as_batch(model)


def as_examples(model):
    """The sentences as training has them."""
    words = [sentence.split() for sentence in SENTENCES]
    subwords = model.inputs.tokenizer(words)
    return [
        Example(n, Window(0, len(w), 0, len(w)), p, m)
        for n, (w, p, m) in enumerate(zip(words, subwords, MENTIONS, strict=True))
    ]


def as_batch(model):
    """What the collator makes of the sentences."""
    settings = resolve(preset="clean", options={"system": model.scheme.name})
    return TagSystem(model, settings).collate(as_examples(model))


def without_triplets(inputs):
    return {name: value for name, value in inputs.items() if name != "candidates"}


def test_cross_entropy_is_the_mean_over_valid_cells(model, inputs):
    objective = Objective(model.tagger, cell_cross_entropy, TripletSettings(weight=0))
    arguments = {k: v for k, v in inputs.items() if k not in ("tags", "candidates")}
    logits = model.tagger(**arguments).logits
    losses = []
    for row, words in enumerate(SENTENCES):
        own = len(words.split()) + 2
        for i in range(own):
            for j in range(own):
                target = inputs["tags"][row, i, j]
                losses.append(functional.cross_entropy(logits[row, i, j], target))
    assert (inputs["tags"] != IGNORED).sum() == len(losses)
    found = objective(inputs["tags"], **arguments)
    torch.testing.assert_close(found.total, torch.stack(losses).mean())
    assert found.parts.keys() == {"loss_tags"}


@pytest.mark.parametrize("source", ["logits", "pair_states"])
def test_the_weight_scales_the_triplet_loss(model, inputs, source):
    def loss(weight):
        objective = Objective(
            model.tagger, cell_cross_entropy, TripletSettings(weight=weight, source=source)
        )
        found = objective(**inputs)
        return found.total, found.parts

    (one, parts), (three, _) = loss(1.0), loss(3.0)
    torch.testing.assert_close(one, parts["loss_tags"] + parts["loss_triplets"])
    torch.testing.assert_close(three, parts["loss_tags"] + 3 * parts["loss_triplets"])
    assert parts["loss_triplets"] > 0


@pytest.mark.parametrize("source", ["logits", "pair_states"])
def test_triplets_of_scores_reach_what_those_of_pair_states_do_not(model, inputs, source):
    settings = TripletSettings(source=source, weight=1)
    objective = Objective(model.tagger, cell_cross_entropy, settings)
    objective.zero_grad()
    (objective(**inputs).total - objective(**without_triplets(inputs)).total).backward()
    predictor = model.tagger.co_predictor
    assert predictor.pairs.left.weight.grad.abs().sum() > 0
    for last in (predictor.pairs.output, predictor.grid.output):
        reached = last.weight.grad.abs().max()
        assert reached > 1e-5 if source == "logits" else reached < 1e-6


OWN = {
    "w2ner": {"main.row"},
    "trigner": {"main.pairs.norm", "main.pairs.left", "main.pairs.right", "main.pairs.output"},
}


@pytest.mark.parametrize("co_predictor", OWN)
@pytest.mark.parametrize("source", ["logits", "pair_states"])
def test_triplets_of_toe_see_the_main_tags_alone(tiny, source, co_predictor):
    made = tiny("toe", co_predictor=co_predictor)
    toe = replace(made, tagger=deepcopy(made.tagger))
    reached = {"main.grid.hidden"}
    if source == "logits":
        reached |= {"main.grid.output", *OWN[co_predictor]}
    toe.tagger.eval()
    batch = as_batch(toe)
    objective = Objective(
        toe.tagger,
        lambda logits, tags: logits.sum() * 0,
        TripletSettings(source=source),
        decoded_tags(toe.scheme),
    )
    losses = objective(**batch)
    losses.total.backward()
    assert losses.parts["loss_triplets"] > 0
    moved = {
        name.rpartition(".")[0]
        for name, p in toe.tagger.named_parameters()
        if p.grad is not None and p.grad.any()
    }
    predictors = {name for name in moved if name.startswith(("main.", "auxiliary."))}
    assert predictors - {"main", "main.column"} == reached
    assert {"enhancement.output", "main_features", "enhancement.attention.linear1"} <= moved
    assert "auxiliary_features" not in moved


@pytest.fixture(scope="module", params=["mac", "mac_minimal"])
def mac(request, encoder):
    torch.manual_seed(0)
    sizes = {"size": 8, "span_size": 6, "span_reach": 4, "length_size": 3}
    network = MacSettings(lstm_size=8, mac=sizes)
    made = create(str(encoder), request.param, ("ADR", "Drug"), network)
    made.tagger.eval()
    return made


@pytest.mark.parametrize("source", ["logits", "pair_states"])
def test_triplets_on_both_grids_of_mac(mac, source):
    """Both taggers' scores, or what their last layers read, concatenated at the cells."""
    inputs = as_batch(mac)
    task = task_loss(mac.scheme, MultiLabelTask())
    objective = Objective(mac.tagger, task, TripletSettings(source=source, weight=1))
    objective.zero_grad()
    tags_alone = objective(**without_triplets(inputs))
    (objective(**inputs).total - tags_alone.total).backward()
    assert tags_alone.parts.keys() == {"loss_tags"}
    for part in (mac.tagger.segments, mac.tagger.links):
        assert part.mix.weight.grad.abs().max() > 1e-6
        of_last = part.output.weight.grad.abs().max()
        assert of_last > 1e-6 if source == "logits" else of_last < 1e-6
    assert mac.tagger.segments.spans.lstm.weight_hh_l0.grad.abs().max() > 1e-7


@pytest.mark.parametrize("source", ["logits", "pair_states", "projection"])
@pytest.mark.parametrize("name", [n for n, spec in systems().items() if spec.triplets])
def test_triplets_reach_the_pairs_of_every_system_that_has_some(tiny, name, source):
    made = tiny(name)
    own = replace(made, tagger=deepcopy(made.tagger))
    assignments = ["triplets.weight=1", f"triplets.source={source}"]
    settings = resolve(preset="clean", assignments=assignments, options={"system": name})
    system = TagSystem(own, settings)
    own.tagger.eval()
    batch = system.collate(as_examples(own))
    alone = system.loss({}, **without_triplets(batch))
    found = system.loss({}, **batch)
    assert found.parts["loss_triplets"] > 0
    own.tagger.zero_grad()
    (found.total - alone.total).backward()
    reached = [p for p in own.tagger.encoder.parameters() if p.grad is not None and p.grad.any()]
    assert reached


def test_cells_that_are_not_sampled_give_no_gradient(mac):
    inputs = as_batch(mac)
    tags = inputs["tags"]
    logits = torch.randn(tags.shape, requires_grad=True)
    task_loss(mac.scheme, MultiLabelTask(multi_label="binary", negative_rate=0.5))(
        logits, tags
    ).backward()
    seen = logits.grad != 0
    for group in mac.scheme.groups:
        own = slice(group.start, group.stop)
        there = (tags[..., own] > 0).any(-1)
        assert seen[..., own][there].all()
        valid = tags[..., 0] != IGNORED
        others = TRIANGLES[group.triangle](valid) & ~there
        share = seen[..., own].any(-1)[others].float().mean()
        assert 0.25 < share < 0.75
        assert not seen[..., own].any(-1)[~(others | there)].any()


def test_every_parameter_is_in_one_group_with_its_rate(model):
    objective = Objective(model.tagger, cell_cross_entropy, TripletSettings())
    groups = parameter_groups(model.tagger, encoder_lr=1e-4, learning_rate=1e-3, weight_decay=0.1)
    listed = [id(p) for group in groups for p in group["params"]]
    assert sorted(listed) == sorted(id(p) for p in objective.parameters())
    names = {id(p): name for name, p in objective.named_parameters()}
    for group in groups:
        for parameter in group["params"]:
            name = names[id(parameter)]
            in_encoder = name.startswith("tagger.encoder.")
            assert group["lr"] == (1e-4 if in_encoder else 1e-3)
            plain = in_encoder and ("LayerNorm" in name or name.endswith("bias"))
            assert group["weight_decay"] == (0.0 if plain else 0.1)


def test_weights_scale_their_parts(model, inputs):
    objective = Objective(model.tagger, cell_cross_entropy, TripletSettings(weight=0.5))
    plain = objective(**inputs)
    weighted = objective(**inputs, weights={"cells": 2.0, "triplets": 3.0})
    torch.testing.assert_close(weighted.parts["loss_tags"], 2 * plain.parts["loss_tags"])
    torch.testing.assert_close(weighted.parts["loss_triplets"], 3 * plain.parts["loss_triplets"])
    expected = weighted.parts["loss_tags"] + 0.5 * weighted.parts["loss_triplets"]
    torch.testing.assert_close(weighted.total.detach(), expected)


def test_a_sum_of_triplets_counts_each_alike_already(model, inputs):
    triplets = TripletSettings(weight=0.5, reduction="sum")
    objective = Objective(model.tagger, cell_cross_entropy, triplets)
    plain, weighted = objective(**inputs), objective(**inputs, weights={"triplets": 3.0})
    torch.testing.assert_close(weighted.total, plain.total)
