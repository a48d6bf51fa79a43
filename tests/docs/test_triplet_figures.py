"""Chia and spl-adr on the page about the triplets' weight: what the kept runs have found."""

from __future__ import annotations

import json
import re
from functools import cache
from statistics import geometric_mean

import pytest

from kept_runs import ROOT, Run, differences, kept, scores
from trigner.studies import find_study

PAGE = (ROOT / "docs/decisions/triplet-weight.md").read_text("utf-8")
HEADINGS = {
    "chia": "## On Chia, with 3,830 updates\n",
    "spl-adr": "## On spl-adr, with 3,230 updates\n",
}

Rows = list[tuple[str, list[str]]]


def rows(table: str) -> Rows:
    return [
        (system, cells.split(" | "))
        for system, cells in re.findall(r"^\| `([\w.-]+)` \| (.+) \|$", table, re.M)
    ]


def tables(corpus: str) -> dict[str, Rows]:
    """The tables of a corpus's section: scores by what chose the models, and curves on dev."""
    section = PAGE.split(HEADINGS[corpus])[1].split("\n## ")[0]
    section, curves = section.split("Dev's overall F1 after each epoch")
    own, *others = section.split("Of models that dev chose by discontinuous F1")
    return {"overall": rows(own), "discontinuous": rows("".join(others)), "curves": rows(curves)}


SCORES = [
    (corpus, chosen_by, *row)
    for corpus in HEADINGS
    for chosen_by in ("overall", "discontinuous")
    for row in tables(corpus)[chosen_by]
]
CURVES = [(corpus, *row) for corpus in HEADINGS for row in tables(corpus)["curves"]]


@cache
def runs_of(corpus: str, chosen_by: str = "overall") -> dict[str, dict[int, Run]]:
    """The kept runs with batches of four, by system and seed: those of the study, and W2NER's."""
    systems = {*find_study("triplets").systems, "w2ner"}
    runs: dict[str, dict[int, Run]] = {}
    for run in kept(corpus, chosen_by):
        fours = run[0]["settings"].get("optimisation.batch_size") == 4
        if fours and run[0]["system"] in systems:
            runs.setdefault(run[0]["system"], {})[run[0]["seed"]] = run
    return runs


@pytest.mark.parametrize("corpus", HEADINGS)
def test_every_kept_run_has_a_row(corpus):
    own = {table: {system for system, _ in found} for table, found in tables(corpus).items()}
    assert own["overall"] == set(runs_of(corpus))
    assert own["curves"] == own["overall"] - {"w2ner"}  # its epochs are others
    repeated = {system for system, runs in runs_of(corpus).items() if len(runs) > 1}
    assert own["discontinuous"] == repeated


@pytest.mark.parametrize(("corpus", "system", "cells"), CURVES)
def test_a_curve_is_what_its_first_run_had_on_dev(corpus, system, cells):
    curve = runs_of(corpus)[system][1][0]["curve"]
    assert cells == [f"{100 * own['eval_f1']:.1f}" for own in curve if "eval_f1" in own]


@pytest.mark.parametrize(("corpus", "chosen_by", "system", "cells"), SCORES)
def test_a_row_is_what_its_runs_found(corpus, chosen_by, system, cells):
    runs, controls = (runs_of(corpus, chosen_by)[name] for name in (system, "control"))
    seeds = sorted(runs.keys() & controls.keys())
    own, base = ([of[seed] for seed in seeds] for of in (runs, controls))
    against = ["–", "–"] if system == "control" else differences(base, own)
    assert cells == [
        ", ".join(map(str, seeds)),
        scores(own, "dev", chosen_by),
        scores(own, "test", chosen_by),
        *against,
    ]


def test_the_seed_that_was_to_confirm_mentions_on_chia():
    control, own = (runs_of("chia")[name][4] for name in ("control", "mentions-0.01"))
    _, discontinuous = differences([control], [own])
    difference, low, high = map(float, re.findall(r"[+-]\d+\.\d", discontinuous))
    told = f"seed 4, has {difference:+.1f} on them, within its interval"
    assert told in " ".join(PAGE.split())
    assert low < 0 < high


FORMS = {
    "tag scores": "logits",
    "the word-pair grid": "pair-states",
    "a projection of the grid": "projection",
    "the same, hard negatives": "hard-negative",
    "the same, semi-hard negatives": "semi-hard",
    "the same, negative centroids": "negative-centroid",
    "the same, weight rising": "rising",
    "the same, weight falling": "falling",
    "the same, contrastive loss": "contrastive",
    "mentions": "mentions",
    "mentions, with wrong ones proposed": "proposed",
}
"""What the guide calls the study's systems, but for the weight at their end."""


def test_how_many_of_chias_rows_met_a_second_corpus():
    guide = (ROOT / "docs/guides/triplets.md").read_text("utf-8")
    names = set(find_study("triplets").systems) - {"control"}
    of = {c: names & {run["system"] for run, _ in kept(c)} for c in ("chia", "spl-adr", "psytar")}
    assert len(of["chia"] & (of["spl-adr"] | of["psytar"])) == 5
    assert "of the five that were tried on a second one, none does on both" in guide


def test_the_guide_has_every_form_with_the_tables_differences():
    guide = (ROOT / "docs/guides/triplets.md").read_text("utf-8")
    table = guide.split("| triplets of | weight |")[1].split("\n\n")[0]
    told = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    of_table = {system: [seeds, *rest[2:]] for system, (seeds, *rest) in tables("chia")["overall"]}
    found = {f"{FORMS[form]}-{weight}": cells for form, weight, *cells in told}
    del of_table["control"], of_table["w2ner"]
    assert found == of_table


def numbers(cell: str) -> list[float]:
    """A difference and the bounds of its interval."""
    return [float(own) for own in re.findall(r"[+-]\d+\.\d", cell)]


def test_what_is_lost_in_time():
    """Tag scores at 0.1: dev F1 of the third seed, and of the others."""
    curves = [
        [f"{100 * own['eval_f1']:.1f}" for own in run[0]["curve"] if "eval_f1" in own]
        for _, run in sorted(runs_of("chia")["logits-0.1"].items())
    ]
    (one, fifth_1), (two, fifth_2), (three, fifth_3) = ((curve[9], curve[4]) for curve in curves)
    said = PAGE.split("**Too large a weight first costs time.**")[1].split("\n- ")[0]
    text = " ".join(said.split())
    assert (
        f"At 0.1 one seed of three has {fifth_3} after five epochs and {three} after ten; the"
        f" others have {fifth_1} and {fifth_2}, and end at {one} and {two}." in text
    )


def of_chia(chosen_by: str) -> dict[str, list[str]]:
    """The differences of each system, overall and on discontinuous mentions, as they are told."""
    return {
        system: cells[3:]
        for corpus, by, system, cells in SCORES
        if (corpus, by) == ("chia", chosen_by) and system != "control"
    }


def behind_on_chia() -> set[str]:
    """The systems that overall F1 of the models that it chose tells to be behind."""
    return {own for own, (overall, _) in of_chia("overall").items() if numbers(overall)[2] < 0}


FORMS_THAT_PULL = {
    "logits": "logits",
    "pair-states": "pair-states",
    "projection": "projection",
    "hard-negative": "projection, hard negatives",
    "semi-hard": "projection, semi-hard",
    "contrastive": "contrastive",
    "mentions": "mentions",
    "proposed": "mentions, proposed ones too",
}
"""The study's systems whose gradient was measured, and what the measurement calls them."""


def pulls() -> dict[str, float]:
    """Weight times ratio of gradients, the geometric mean over updates, of the systems on Chia."""
    told = json.loads((ROOT / "docs/results/triplet-gradients.json").read_text("utf-8"))
    ratios: dict[str, list[float]] = {}
    for own in told["rows"]:
        ratios.setdefault(own["form"], []).append(own["ratio"])
    found = {}
    for system in of_chia("overall"):
        form, _, weight = system.rpartition("-")
        if form in FORMS_THAT_PULL:
            found[system] = float(weight) * geometric_mean(ratios[FORMS_THAT_PULL[form]])
    return found


def test_what_pulls_as_the_tags_do_costs_points_and_the_rest_is_level():
    text = " ".join(PAGE.split("**What a form costs")[1].split("\n- ")[0].split())
    found, pull = of_chia("overall"), pulls()
    cost = {own: abs(numbers(overall)[0]) for own, (overall, _) in found.items()}
    strong = {own for own, times in pull.items() if times > 1}
    assert strong - behind_on_chia() == {"mentions-0.1"}
    assert f"they pull {pull['mentions-0.1']:.1f} times as much and are level" in text
    for own in strong & behind_on_chia():
        assert str(cost[own]) in text
    weak = {own: numbers(found[own][0])[0] for own in pull.keys() - strong}
    assert f"between {min(weak.values()):+.1f} and {max(weak.values()):+.1f}" in text
    assert weak.keys() & behind_on_chia() == {"hard-negative-0.1"}
    assert f"hard negatives at 0.1, with {pull['hard-negative-0.1']:.1f} times the pull" in text
    unmeasured = behind_on_chia() - pull.keys()
    assert unmeasured == {"negative-centroid-0.1", "falling-1"}


def test_what_is_level_has_more_discontinuous_mentions_on_chia():
    text = " ".join(PAGE.split())
    for chosen_by, told in (
        ("overall", "by {low} to {high} points, and so has W2NER, by {w2ner}"),
        ("discontinuous", "by {low} to {high} points, {beyond} of them beyond the interval"),
    ):
        found = of_chia(chosen_by)
        leads = {own: numbers(cells[1]) for own, cells in found.items()}
        level = {own: lead for own, lead in leads.items() if own not in behind_on_chia()}
        w2ner = level["w2ner"][0]
        beyond = ("none", "one", "two", "three", "four", "five", "six")[
            sum(low > 0 for _, low, _ in level.values())
        ]
        if chosen_by == "overall":
            del level["w2ner"]
            assert level.pop("rising-0.1")[0] < 0
        of = [lead for lead, _, _ in level.values()]
        assert min(of) > 0
        assert told.format(low=min(of), high=max(of), w2ner=w2ner, beyond=beyond) in text


def test_a_rising_weight_on_chia():
    run, _ = runs_of("chia")["rising-0.1"][1]
    curve = [100 * own["eval_f1"] for own in run["curve"] if "eval_f1" in own]
    told = f"dev falls from {curve[2]:.1f} after three epochs to {min(curve[3:]):.1f} after seven"
    assert curve[6] == min(curve[3:])
    text = " ".join(PAGE.split())
    assert f"{told} and recovers to {curve[9]:.1f}" in text
    low, high = numbers(of_chia("overall")["rising-0.1"][0])[1:]
    assert low < 0 < high


def test_a_falling_weight_on_chia():
    text = " ".join(PAGE.split())
    own, control = (
        [
            f"{100 * e['eval_f1']:.1f}"
            for e in runs_of("chia")[name][1][0]["curve"]
            if "eval_f1" in e
        ]
        for name in ("falling-1", "control")
    )
    assert f"costs {-numbers(of_chia('overall')['falling-1'][0])[0]} points" in text
    assert f"{own[5]} after six epochs, and without it dev rises to {own[9]}, where" in text
    assert f"where the control has {control[9]}" in text


def test_semi_hard_negatives_on_chia():
    text = " ".join(PAGE.split())
    behind = -numbers(of_chia("overall")["semi-hard-0.1"][0])[0]
    assert f"Semi-hard negatives end {behind} behind at 0.1" in text
    controls, own = (runs_of("chia")[name] for name in ("control", "semi-hard-0.1"))
    one, *others = (numbers(differences([controls[n]], [own[n]])[1])[0] for n in sorted(own))
    assert f"one seed is {-one} behind, the others {' and '.join(map(str, others))} ahead" in text
    own, control = (runs_of("chia")[name][1][0]["curve"] for name in ("semi-hard-0.1", "control"))
    first, others = (100 * curve[0]["eval_f1"] for curve in (own, control))
    assert f"({first:.1f} after an epoch, where the control has {others:.1f})" in text


def test_negative_centroids_on_chia():
    behind = -numbers(of_chia("overall")["negative-centroid-0.1"][0])[0]
    first = next(own for own in runs_of("chia")["negative-centroid-0.1"][1][0]["curve"])
    text = " ".join(PAGE.split())
    assert f"Negative centroids end {behind} behind at 0.1" in text
    assert f"and slower: dev is {100 * first['eval_f1']:.1f} after an epoch" in text
    selections = ("projection", "hard-negative", "semi-hard", "negative-centroid")
    cost = {own: -numbers(of_chia("overall")[f"{own}-0.1"][0])[0] for own in selections}
    assert min(cost, key=cost.__getitem__) == "hard-negative"
    assert min(cost.values()) > 0


def test_hard_negatives_on_chia():
    found = of_chia("overall")
    hard, means = (numbers(found[own][0])[0] for own in ("hard-negative-0.1", "projection-0.1"))
    text = " ".join(PAGE.split())
    assert f"ends {-hard} behind, where means end {-means}" in text


def test_cells_through_a_projection_on_drug_labels():
    (overall, split), (_, by_split) = (
        cells[3:]
        for corpus, _, system, cells in SCORES
        if (corpus, system) == ("spl-adr", "projection-0.001")
    )
    told = f"{overall} overall and {split} on discontinuous mentions, {by_split} by discontinuous"
    assert f"{told} F1;" in " ".join(PAGE.split())


def test_what_the_controls_first_seed_does_to_the_leads_by_discontinuous_f1():
    text = " ".join(PAGE.split("\n- The leads overall by that choice")[1].split("\n\n")[0].split())
    runs = runs_of("chia", "discontinuous")
    control = runs["control"]
    leads = {}
    for system, own in runs.items():
        seeds = sorted(own.keys() & control.keys() - {1})
        if system != "control" and seeds:
            sides = [[of[seed] for seed in seeds] for of in (control, own)]
            leads[system] = [float(cell.split()[0]) for cell in differences(*sides)]
    for own in behind_on_chia() & leads.keys():
        lead = leads.pop(own)[0]
        assert (lead < -1) == (own != "hard-negative-0.1")
        assert lead < 0
    of_mentions = [lead[1] for lead in leads.values()]
    assert f"without it they are {min(of_mentions):.1f} to {max(of_mentions):.1f}" in text
    with_it = {
        own: cells for corpus, by, own, cells in SCORES if (corpus, by) == ("chia", "discontinuous")
    }
    for system in ("projection-0.01", "mentions-0.1", "w2ner"):
        before = with_it[system][3].split()[0]
        assert f"{leads[system][0]:+.1f} instead of {before} (`{system}`)" in text


def test_the_runs_on_chia_are_in_bfloat16_as_is_said():
    for runs in runs_of("chia").values():
        assert {run["settings"]["optimisation.precision"] for run, _ in runs.values()} == {
            "bfloat16"
        }


PULLS = {
    "tag scores (`logits`)": "logits",
    "word-pair grid (`pair_states`)": "pair-states",
    "a projection of it": "projection",
    "the same, `reduction=mean_all`": "projection, mean over all",
    "the same, hard negatives": "projection, hard negatives",
    "the same, semi-hard negatives": "projection, semi-hard",
    "contrastive": "contrastive",
    "mentions": "mentions",
    "mentions, with what is proposed wrongly": "mentions, proposed ones too",
}


@pytest.mark.parametrize(("shown", "form"), PULLS.items())
def test_how_strongly_triplets_pull(shown, form):
    told = json.loads((ROOT / "docs/results/triplet-gradients.json").read_text("utf-8"))
    assert (told["updates"], told["weight"], told["seed"]) == (160, 0.01, 1)
    own = {row["updates"][0]: row for row in told["rows"] if row["form"] == form}
    ratios = [f"{own[n]['ratio']:,.0f}" if n in own else "–" for n in (1, 41, 81, 121)]
    cosines = [row["cosine"] for row in own.values()]
    cells = [shown, *ratios, f"{min(cosines):.2f} to {max(cosines):.2f}"]
    assert f"| {' | '.join(cells)} |" in PAGE
