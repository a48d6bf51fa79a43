"""A model's weights for other types: scores as they were, and means of them."""

from __future__ import annotations

import pytest
import torch

from tiny_models import TAG_SCHEMES, TEXT, make_scheme, small_settings
from trigner.batches.collation import collate
from trigner.encoders.pretrained import load_encoder
from trigner.families.tagging.build import build_tagger
from trigner.families.tagging.model import create
from trigner.families.tagging.torch_runtime import torch_scorer
from trigner.families.tagging.transfer import for_labels

BEFORE = ("ADR", "Drug", "Route")
NEW = ("Dose", "Effect")
AFTER = [("ADR", "Dose", "Drug"), ("Dose", "Effect"), ("Dose", "Drug"), (*BEFORE, "Dose")]

KINDS = [
    *((name, {}) for name in TAG_SCHEMES),
    ("w2ner", {"pair_map": "full"}),
    ("w2ner", {"co_predictor": "w2ner"}),
    ("toe", {"co_predictor": "w2ner"}),
    ("bio", {"sequence": {"transitions": True}}),
    ("biohd1234", {"sequence": {"transitions": True}}),
]
IDS = ["-".join((name, *map(str, changes.values()))).partition(" ")[0] for name, changes in KINDS]


@pytest.fixture
def model(encoder, request):
    """A model whose weights are all other than zero."""
    name, changes = request.param
    torch.manual_seed(3)
    made = create(str(encoder), name, BEFORE, small_settings(name, **changes))
    with torch.no_grad():
        for own in made.tagger.parameters():
            own += 0.05 * torch.randn_like(own)
    return made


def mean_of(names, weights, name, axis):
    """What the weights of a tag become: its own, or the mean over the old types in its place."""
    if name in names:
        places = [names.index(name)]
    else:
        new = next(label for label in NEW if name.endswith(f"-{label}"))
        places = [names.index(name.removesuffix(new) + label) for label in BEFORE]
    return torch.stack([weights.select(axis, place) for place in places]).mean(0)


def scores_of(model):
    batch = collate(model.inputs.tokenizer([TEXT.split()]), padding_id=model.padding_id)
    return torch.from_numpy(torch_scorer(model.tagger)(batch))


@pytest.mark.parametrize("after", AFTER, ids="-".join)
@pytest.mark.parametrize(
    "model", [own for own in KINDS if own[0] != "toe" and "sequence" not in own[1]], indirect=True
)
def test_scores_of_kept_tags_stay_and_those_of_new_types_are_means(model, after):
    """Scores are linear in the weights of tags, so this holds of whatever weights there are."""
    before, names = scores_of(model), list(model.scheme.tags)
    made, kept = for_labels(model, after)
    found = scores_of(made)
    assert found.shape[-1] == len(made.scheme.tags)
    for place, name in enumerate(made.scheme.tags):
        expected = mean_of(names, before, name, -1)
        torch.testing.assert_close(found[..., place], expected, atol=1e-5, rtol=1e-5)
    assert kept == len(set(names) & set(made.scheme.tags))


TAGS_OF_TOE = {
    "enhancement.output.weight": ("all", 0),
    "enhancement.output.bias": ("all", 0),
    "main_features.weight": ("main", 1),
    "auxiliary_features.weight": ("auxiliary", 1),
    "main.pairs.output.weight": ("main", 0),
    "main.pairs.output.bias": ("main", 0),
    "auxiliary.pairs.output.weight": ("auxiliary", 0),
    "auxiliary.pairs.output.bias": ("auxiliary", 0),
    "main.grid.output.weight": ("main", 0),
    "main.grid.output.bias": ("main", 0),
    "auxiliary.grid.output.weight": ("auxiliary", 0),
    "auxiliary.grid.output.bias": ("auxiliary", 0),
}


@pytest.mark.parametrize("after", AFTER, ids="-".join)
@pytest.mark.parametrize("model", [("toe", {"pair_map": "full"})], indirect=True)
def test_what_toe_makes_of_its_own_tags_goes_with_them(model, after):
    before = {name: own.clone() for name, own in model.tagger.state_dict().items()}
    old = model.scheme.tags
    made, kept = for_labels(model, after)
    new = made.scheme.tags
    assert kept == len(set(old) & set(new))
    parts = {"all": slice(None), "main": slice(-3), "auxiliary": slice(-3, None)}
    for name, own in made.tagger.state_dict().items():
        if name not in TAGS_OF_TOE:
            assert own.equal(before[name]), name
            continue
        part, axis = TAGS_OF_TOE[name]
        for place, tag in enumerate(new[parts[part]]):
            expected = mean_of(list(old[parts[part]]), before[name], tag, axis)
            assert own.select(axis, place).equal(expected), (name, tag)


@pytest.mark.parametrize("model", [k for k in KINDS if "sequence" in k[1]], indirect=True)
def test_transitions_go_with_the_types_between_which_they_are(model):
    def weights(made):
        grammar = made.scheme.grammar
        states, tags = grammar.automaton.states, grammar.tags
        own = made.tagger.transitions.weight.tolist()
        return {
            (states[arc.source], tags[arc.tag]): weight
            for arc, weight in zip(grammar.automaton.arcs, own, strict=True)
        }

    before = weights(model)
    made, _ = for_labels(model, ("ADR", "Dose", "Effect"))
    after = weights(made)
    assert (after["O", "O"], after["I-ADR", "B-ADR"]) == (
        before["O", "O"],
        before["I-ADR", "B-ADR"],
    )
    pairs = [(a, b) for a in BEFORE for b in BEFORE if a != b]
    for new, alike in {
        ("O", "B-Dose"): [("O", f"B-{a}") for a in BEFORE],
        ("B-Dose", "I-Dose"): [(f"B-{a}", f"I-{a}") for a in BEFORE],
        ("I-Dose", "B-Dose"): [(f"I-{a}", f"B-{a}") for a in BEFORE],
        ("I-Dose", "B-Effect"): [(f"I-{a}", f"B-{b}") for a, b in pairs],
        ("I-ADR", "B-Dose"): [("I-ADR", f"B-{a}") for a in BEFORE[1:]],
        ("B-Dose", "B-ADR"): [(f"B-{a}", "B-ADR") for a in BEFORE[1:]],
    }.items():
        mean = sum(before[own] for own in alike) / len(alike)
        assert after[new] == pytest.approx(mean, abs=1e-6), new


@pytest.mark.parametrize("model", [KINDS[-2]], indirect=True)
def test_a_transition_between_types_that_there_were_none_of_begins_afresh(model, encoder):
    torch.manual_seed(3)
    one = create(str(encoder), "bio", ("ADR",), model.settings)
    torch.nn.init.ones_(one.tagger.transitions.weight)
    made, _ = for_labels(one, ("ADR", "Dose"))
    arcs, states = made.scheme.grammar.automaton.arcs, made.scheme.grammar.automaton.states
    for arc, own in zip(arcs, made.tagger.transitions.weight.tolist(), strict=True):
        of_two = "ADR" in states[arc.source] and "Dose" in states[arc.target]
        of_two |= "Dose" in states[arc.source] and "ADR" in states[arc.target]
        assert own == (0 if of_two else 1)


@pytest.mark.parametrize("model", KINDS, indirect=True, ids=IDS)
def test_weights_of_tags_are_those_whose_shape_the_types_decide(model, encoder):
    """All of them and no others, also where two models have as many types."""

    def tagger(labels):
        pretrained, *_ = load_encoder(str(encoder), model.settings.leading_words)
        scheme = make_scheme(model.system, labels)
        return build_tagger(pretrained, model.settings, scheme, model.system)

    few, many = tagger(("A", "B")), tagger(("A", "B", "C"))
    sizes = {name: own.shape for name, own in few.named_parameters()}
    changed = {name for name, own in many.named_parameters() if own.shape != sizes[name]}
    names = {id(own): name for name, own in few.named_parameters()}
    named = {names[id(own.weights)]: own for own in few.tag_weights()}
    untyped = {name for name in sizes if name.startswith("auxiliary")}
    assert set(named) - untyped == changed
    for name, own in named.items():
        other = dict(many.named_parameters())[name].shape
        differing = {a for a, (x, y) in enumerate(zip(sizes[name], other, strict=True)) if x != y}
        assert differing <= {own.axis}


@pytest.mark.parametrize("model", KINDS, indirect=True, ids=IDS)
def test_the_same_types_in_another_order_lose_nothing(model):
    before, names = scores_of(model), list(model.scheme.tags)
    made, kept = for_labels(model, BEFORE[::-1])
    assert kept == len(names)
    again, _ = for_labels(made, BEFORE)
    assert scores_of(again).equal(before)
