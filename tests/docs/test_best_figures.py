"""`best` on its page, where W2NER has its rates and where one thing is changed: the kept runs."""

from __future__ import annotations

import re

import pytest

from kept_runs import ROOT, Run, differences, kept, scores

PAGE = (ROOT / "docs/decisions/best.md").read_text("utf-8")
BEST = ("both", "best")
"""Names under which runs of today's `best` are kept: a run has that of the study that made it."""


def runs_of(
    corpus: str, protocol: str, names: tuple[str, ...], chosen_by: str = "overall"
) -> dict[int, Run]:
    """Runs on today's batches, twelve sentences each, by seed; sentences made as today, or none."""
    runs: dict[int, Run] = {}
    for run in kept(corpus, chosen_by):
        settings = run[0]["settings"]
        made = settings.get("sampling.coordination"), settings.get("sampling.whole_members")
        today = (
            settings.get("optimisation.batch_weighting") == "cells"
            and settings["optimisation.batch_size"] == 12
            and (made[0] == 0 or made == (0.5, 0.5))
        )
        if today and run[0]["protocol"] == protocol and run[0]["system"] in names:
            assert run[0]["seed"] not in runs
            runs[run[0]["seed"]] = run
    return runs


def cells(own: list[Run], base: list[Run]) -> str:
    against = differences(base, own) if own is not base else ["–", "–"]
    return " | ".join([scores(own, "dev"), scores(own, "test"), *against])


def test_psytar_against_w2ner():
    text = PAGE.split("The whole of PsyTAR")[1].split("```")[0]
    sides = {}
    for chosen_by in ("overall", "discontinuous"):
        found = [runs_of("psytar", "full", names, chosen_by) for names in (("w2ner",), BEST)]
        seeds = sorted(set.intersection(*map(set, found)))
        sides[chosen_by] = [[runs[seed] for seed in seeds] for runs in found]
    w2ner, best = sides["overall"]
    assert f"| W2NER | {cells(w2ner, w2ner)} |" in text
    assert f"| `best` | {cells(best, w2ner)} |" in text
    overall, discontinuous = differences(*sides["discontinuous"])
    assert f"{overall} overall and {discontinuous}" in " ".join(text.split())


def test_spl_adr_against_w2ner():
    (row,) = re.findall(r"^\| spl-adr: the same \| (.*) \|$", PAGE, re.M)
    sides = {
        by: [[runs_of("spl-adr", "dense", names, by)[1]] for names in (("w2ner",), BEST)]
        for by in ("overall", "discontinuous")
    }
    w2ner, best = sides["overall"]
    assert row.startswith(" / ".join(differences(w2ner, best)))
    assert f"W2NER dev {scores(w2ner, 'dev')}, test {scores(w2ner, 'test')}" in row
    told = [own.partition(" ")[0] for own in differences(*sides["discontinuous"])]
    assert f"chose {' / '.join(told)})" in row


@pytest.mark.parametrize("system", ["nothing", "averaged", "r-drop", "tag-weight", "context"])
def test_spl_adr_with_one_thing_changed(system):
    text = PAGE.split("**And on spl-adr**")[1]
    best = runs_of("spl-adr", "dense", BEST)
    own = best if system == "nothing" else runs_of("spl-adr", "dense", (system,))
    seeds = sorted(best.keys() & own.keys())
    base = [best[seed] for seed in seeds]
    runs = base if system == "nothing" else [own[seed] for seed in seeds]
    (row,) = re.findall(rf"^\| (?:.*\()?{system}\)? \| (.*) \|$", text, re.M)
    assert row == f"{', '.join(map(str, seeds))} | {cells(runs, base)}"


def test_the_papers_weight_over_its_epochs():
    page = (ROOT / "docs/decisions/triplet-weight.md").read_text("utf-8")
    text = page.split("## The paper's weight over its 60 epochs\n")[1].split("\n## ")[0]
    (run,) = (own for own in kept("mini-adr") if own[0]["system"] == "paper-rates")
    assert f"dev {scores([run], 'dev')}, test {scores([run], 'test')}" in text
    curve = [100 * own["eval_f1"] for own in run[0]["curve"] if "eval_f1" in own]
    assert f"after {len(curve)} epochs" in " ".join(text.split())
    (told,) = re.findall(r"^\| dev F1 \| (.*) \|$", text, re.M)
    assert told == " | ".join(f"{own:.1f}" for own in curve[4::5])


TAGS = {"PsyTAR": ("psytar", "full"), "Chia": ("chia", "dense"), "spl-adr": ("spl-adr", "dense")}


@pytest.mark.parametrize("title", TAGS)
@pytest.mark.parametrize("chosen_by", ["overall", "discontinuous"])
@pytest.mark.parametrize(("anchor", "system"), [("other-tags", "gap_grid"), ("r-drop", "r-drop")])
def test_one_setting_on_several_corpora(title, chosen_by, anchor, system):
    text = PAGE.split(f'<a id="{anchor}"></a>')[1].split("```")[0].split("The average of")[0]
    best, own = (runs_of(*TAGS[title], names, chosen_by) for names in (BEST, (system,)))
    if not own:
        assert f"| {title} | {chosen_by} |" not in text
        return
    seeds = sorted(best.keys() & own.keys())
    base, runs = ([of[seed] for seed in seeds] for of in (best, own))
    cells_of = [f(own, part, chosen_by) for own in (base, runs) for f, part in SCORED]
    row = " | ".join([", ".join(map(str, seeds)), *cells_of, *differences(base, runs)])
    assert f"| {title} | {chosen_by} | {row} |" in text


def test_gap_grid_against_w2ner():
    text = " ".join(PAGE.split('<a id="other-tags"></a>')[1].split("```")[0].split())
    w2ner, own = (runs_of("psytar", "full", (name,)) for name in ("w2ner", "gap_grid"))
    seeds = sorted(w2ner.keys() & own.keys())
    assert len(seeds) == 5
    told = differences(*([of[seed] for seed in seeds] for of in (w2ner, own)))
    assert f"it is at {told[0]} overall and {told[1]} on discontinuous mentions" in text


SCORED = ((scores, "dev"), (scores, "test"))
