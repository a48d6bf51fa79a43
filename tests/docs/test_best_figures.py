"""`best` on its pages, where W2NER has its rates and where one thing is changed: the kept runs."""

from __future__ import annotations

import json
import re

import pytest

from kept_runs import BEST, ROOT, SLICES, Run, differences, kept, runs_of, scores, spread

PAGE = (ROOT / "docs/decisions/best.md").read_text("utf-8")
TRIED = (ROOT / "docs/decisions/additions.md").read_text("utf-8")
W2NER = ("w2ner",)


def cells(own: list[Run], base: list[Run]) -> str:
    against = differences(base, own) if own is not base else ["–", "–"]
    return " | ".join([scores(own, "dev"), scores(own, "test"), *against])


def paired(
    corpus: str,
    protocol: str,
    base: tuple[str, ...],
    own: tuple[str, ...],
    chosen_by: str = "overall",
    batch_size: int = 12,
) -> tuple[list[int], list[Run], list[Run]]:
    """The seeds that two systems both have, and the runs of each with them."""
    sides = [runs_of(corpus, protocol, names, chosen_by, batch_size) for names in (base, own)]
    seeds = sorted(sides[0].keys() & sides[1].keys())
    first, second = ([runs[seed] for seed in seeds] for runs in sides)
    return seeds, first, second


def section(title: str) -> str:
    return TRIED.split(f"\n## {title}\n")[1].split("\n## ")[0]


def goal(title: str) -> str:
    (row,) = re.findall(rf"^\| {title} \| (.*) \|$", PAGE, re.M)
    return row


def against_w2ner(title: str, training: str) -> str:
    """The cells of a row of the table of differences to W2NER."""
    (row,) = re.findall(rf"^\| {title} \| {training} \| (.*) \|$", PAGE, re.M)
    return row


@pytest.mark.parametrize("chosen_by", ["overall", "discontinuous"])
def test_psytar_against_a_longer_training_of_w2ner(chosen_by):
    longer = runs_of("psytar", "full", W2NER, chosen_by, epochs=12)
    seeds = sorted(longer)
    base, short, best = (
        [runs[seed] for seed in seeds]
        for runs in (longer, *(runs_of("psytar", "full", of, chosen_by) for of in (W2NER, BEST)))
    )
    cells_of = [scores(base, part, chosen_by) for part in ("dev", "test")]
    against = [" / ".join(own) for own in (differences(short, base), differences(base, best))]
    row = " | ".join([chosen_by, ", ".join(map(str, seeds)), *cells_of, *against])
    assert f"| {row} |" in PAGE, row
    as_long = runs_of("psytar", "full", BEST, chosen_by, epochs=11)
    ahead = " / ".join(differences(base, [as_long[seed] for seed in seeds]))
    assert re.search(rf"{re.escape(ahead)} (ahead )?by {chosen_by} F1", PAGE)


def test_psytar_against_w2ner():
    seeds, w2ner, best = paired("psytar", "full", W2NER, BEST)
    told = [", ".join(map(str, seeds)), *differences(w2ner, best)]
    assert against_w2ner("PsyTAR", "whole") == " | ".join(told)
    for name, runs in (("W2NER", w2ner), ("`best`", best)):
        assert f"| {name} | {scores(runs, 'dev')} | {scores(runs, 'test')} |" in PAGE
    _, *sides = paired("psytar", "full", W2NER, BEST, "discontinuous")
    overall, discontinuous = differences(*sides)
    assert f"Chosen by discontinuous F1 the differences are {overall} overall" in PAGE
    assert f"and {discontinuous}.\n" in PAGE


def test_psytar_with_the_network_alone():
    alone = ("control",)
    seeds, w2ner, own = paired("psytar", "full", W2NER, alone)
    _, base, best = paired("psytar", "full", alone, BEST)
    assert base == own
    told = f"has dev {scores(own, 'dev')} and test {scores(own, 'test')}"
    assert f"{told} (seeds {', '.join(map(str, seeds))})" in PAGE
    to_w2ner, ahead = (" / ".join(differences(*sides)) for sides in ((w2ner, own), (own, best)))
    _, *sides = paired("psytar", "full", alone, BEST, "discontinuous")
    by_split = " / ".join(differences(*sides))
    text = " ".join(PAGE.split())
    assert f"That is {to_w2ner} to W2NER, and `best` is {ahead} ahead of it" in text
    assert f"by discontinuous F1 {by_split}." in text


def test_spl_adr_against_w2ner():
    seeds, w2ner, best = paired("spl-adr", "dense", W2NER, BEST)
    told = [", ".join(map(str, seeds)), *differences(w2ner, best)]
    assert against_w2ner("spl-adr", "1,012 sentences") == " | ".join(told)
    own = f"W2NER has dev {scores(w2ner, 'dev')} and test {scores(w2ner, 'test')}"
    assert own in PAGE
    _, *sides = paired("spl-adr", "dense", W2NER, BEST, "discontinuous")
    leads = [own.partition(" ")[0] for own in differences(*sides)]
    assert f"by the epoch that discontinuous F1 chose `best` is {' / '.join(leads)} ahead" in PAGE


def test_chia_against_w2ner():
    seeds, *sides = paired("chia", "dense", W2NER, ("control",), batch_size=4)
    told = [", ".join(map(str, seeds)), *differences(*sides)]
    assert against_w2ner("Chia", "1,001 sentences, batches of four") == " | ".join(told)
    path = ROOT / "docs/results/rescoring/chia-best.json"
    rescored = json.loads(path.read_text("utf-8"))["differences"]
    overall, discontinuous = (
        [f"{100 * rescored[name][bound]:+.1f}" for bound in ("difference", "low", "high")]
        for name in ("overall", "discontinuous")
    )
    gained = f"{overall[0]} [{overall[1]}, {overall[2]}] / {discontinuous[0]}"
    assert f"gains {gained} on `best` without it" in PAGE


def test_what_ships():
    row = goal("the model that ships .*?")
    card = (ROOT / "src/trigner/bundled/README.md").read_text("utf-8")
    rows = {
        (corpus, kind): re.findall(r"[\d.]+", line)
        for corpus in ("spl-adr", "psytar")
        for kind in ("overall", "discontinuous")
        for line in re.findall(
            rf"^\| {kind} \|(.*)", card.split(f"of {corpus} test")[1].split("##")[0], re.M
        )
    }
    overall, discontinuous = (float(rows["spl-adr", k][2]) for k in ("overall", "discontinuous"))
    _, recall, f1, _ = map(float, rows["psytar", "overall"])
    told = f"{recall:.1f} % (F1 {f1:.1f}), spl-adr {overall:.1f} / {discontinuous:.1f}"
    assert row.startswith(told)


@pytest.mark.parametrize("system", ["nothing", "averaged", "r-drop", "tag-weight", "context"])
def test_spl_adr_with_one_thing_changed(system):
    text = section("One thing changed").split("\nOn spl-adr")[1]
    names = BEST if system == "nothing" else (system,)
    seeds, base, runs = paired("spl-adr", "dense", BEST, names)
    runs = base if system == "nothing" else runs
    (row,) = re.findall(rf"^\| (?:.*\()?{system}\)? \| (.*) \|$", text, re.M)
    assert row == f"{', '.join(map(str, seeds))} | {cells(runs, base)}"


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("beta2", {"beta2": 0.999}),
        ("no warm-up", {"warmup": 0.0}),
        ("longer warm-up", {"warmup": 0.3}),
    ],
)
def test_spl_adr_with_another_setting_of_the_optimiser(name, change):
    text = section("One thing changed").split("\nOn spl-adr")[1]
    own = runs_of("spl-adr", "dense", BEST, **change)
    base = runs_of("spl-adr", "dense", BEST)
    seeds = sorted(own)
    told = cells([own[seed] for seed in seeds], [base[seed] for seed in seeds])
    assert f"({name}) | {', '.join(map(str, seeds))} | {told} |" in text
    first = scores([base[1]], "test").split(" / ")[1]
    assert f"The first seed of `best` has {first} on test's discontinuous mentions" in text


def test_w2ners_unstable_seed_with_another_beta2():
    """With the batches of before, but for `beta2` as it was."""
    wanted = {"optimisation.batch_weighting": "equal", "optimisation.beta2": 0.98}
    (run,) = (
        run
        for run in kept("spl-adr")
        if (run[0]["system"], run[0]["seed"]) == ("w2ner", 4)
        and wanted.items() <= run[0]["settings"].items()
    )
    dev, test = (scores([run], part).split(" / ")[0] for part in ("dev", "test"))
    page = (ROOT / "docs/decisions/best-equal-batches.md").read_text("utf-8")
    told = f"the same seed reaches {dev} on dev and {test} on test"
    assert told in " ".join(page.split())


PAIR_MAPS = {"low-rank": "low_rank", "full": "full"}
WEIGHTS = {"none": 0, "weight 1": 1}


def of_the_paper(pair_map: str, triplets: str) -> dict[int, Run]:
    """The runs of the paper's preset on mini-adr, by seed."""
    wanted = {
        "model.pair_map": PAIR_MAPS[pair_map],
        "triplets.weight": WEIGHTS[triplets],
        "optimisation.epochs": 60,
    }
    return {
        run[0]["seed"]: run
        for run in kept("mini-adr")
        if run[0]["system"] == "paper-rates" and wanted.items() <= run[0]["settings"].items()
    }


def test_the_papers_weight_over_its_epochs():
    page = (ROOT / "docs/decisions/triplet-weight.md").read_text("utf-8")
    text = page.split("## The paper's weight over its 60 epochs\n")[1].split("\n## ")[0]
    table, curves = text.split("Dev F1 after every fifth")
    row = re.compile(r"^\| (low-rank|full) \| (none|weight 1) \| (.*) \|$", re.M)
    rows, base = row.findall(table), of_the_paper("low-rank", "none")
    assert sum(len(of_the_paper(*row[:2])) for row in rows) == sum(
        own[0]["system"] == "paper-rates" for own in kept("mini-adr")
    )
    for pair_map, triplets, told in rows:
        runs = of_the_paper(pair_map, triplets)
        seeds = sorted(runs)
        own = [runs[seed] for seed in seeds]
        before = own if triplets == "none" else [base[seed] for seed in seeds]
        epochs = [str(sum("eval_f1" in each for each in run["curve"])) for run, _ in own]
        found = [", ".join(map(str, seeds)), ", ".join(epochs), cells(own, before)]
        assert told == " | ".join(found)
    for pair_map, triplets, told in row.findall(curves):
        run = of_the_paper(pair_map, triplets)[1][0]
        curve = [f"{100 * own['eval_f1']:.1f}" for own in run["curve"] if "eval_f1" in own][4::5]
        assert told.split(" | ") == [*curve, *["–"] * (11 - len(curve))]


TAGS = {"PsyTAR": ("psytar", "full"), "Chia": ("chia", "dense"), "spl-adr": ("spl-adr", "dense")}


@pytest.mark.parametrize("title", TAGS)
@pytest.mark.parametrize("chosen_by", ["overall", "discontinuous"])
@pytest.mark.parametrize(
    ("part", "system"),
    [("Other tags", "gap_grid"), ("An adapted encoder", "adapted"), ("R-drop", "r-drop")],
)
def test_one_setting_on_several_corpora(title, chosen_by, part, system):
    text = section(part)
    seeds, base, runs = paired(*TAGS[title], BEST, (system,), chosen_by)
    if not seeds:
        assert f"| {title} | {chosen_by} |" not in text
        return
    cells_of = [scores(own, of, chosen_by) for own in (base, runs) for of in ("dev", "test")]
    row = " | ".join([", ".join(map(str, seeds)), *cells_of, *differences(base, runs)])
    assert f"| {title} | {chosen_by} | {row} |" in text


CHANGED = {
    "W2NER's own co-predictor": ("w2ner-network",),
    "no generated sentences": ("prior",),
    "annotated sentences alone in the last epochs": ("annotated-last",),
}
BASES = {"`best`": (*BEST, "control"), "W2NER": W2NER}
"""`control` is the name of `best` in the study `triplets`."""

COMPARED = [("`best`", "overall"), ("`best`", "discontinuous"), ("W2NER", "overall")]


@pytest.mark.parametrize(("base", "chosen_by"), COMPARED)
@pytest.mark.parametrize("changed", CHANGED)
@pytest.mark.parametrize("title", ["PsyTAR", "Chia", "spl-adr"])
def test_where_best_finds_too_many(title, changed, base, chosen_by):
    text = section("Network and generated sentences")
    size = 4 if title == "Chia" else 12
    seeds, bases, runs = paired(*TAGS[title], BASES[base], CHANGED[changed], chosen_by, size)
    if not seeds:
        assert f"| {title} | {changed} | {base} | {chosen_by} |" not in text
        return
    of = scores(runs, "dev", chosen_by), scores(runs, "test", chosen_by)
    row = " | ".join([", ".join(map(str, seeds)), *of, *differences(bases, runs)])
    assert f"| {title} | {changed} | {base} | {chosen_by} | {row} |" in text


SUMMED_UP = {
    "W2NER's co-predictor": "w2ner-network",
    "no generated sentences": "prior",
    "tags of `gap_grid`": "gap_grid",
    "EMA": "averaged",
    "FGM": "adversarial",
    "heavier tags": "tag-weight",
    "context": "context",
    "an adapted encoder": "adapted",
    "R-drop": "r-drop",
}


def in_a_word(difference: str) -> str:
    low, high = map(float, re.findall(r"[+-]\d+\.\d(?=[,\]])", difference))
    return "ahead" if low > 0 else "behind" if high < 0 else "level"


@pytest.mark.parametrize("tried", SUMMED_UP)
def test_the_summary_says_what_the_tables_do(tried):
    row = rf"^\| \[{re.escape(tried)}\]\S+ \| (\S+) \| (\w+) \| (\w+) \|$"
    told = {title: tuple(words) for title, *words in re.findall(row, TRIED, re.M)}
    network = tried in {"W2NER's co-predictor", "no generated sentences"}
    measured = {}
    for title, place in TAGS.items():
        of_four = network and title == "Chia"
        base = (*BEST, "control") if of_four else BEST
        found = paired(*place, base, (SUMMED_UP[tried],), batch_size=4 if of_four else 12)
        if found[0]:
            measured[title] = tuple(map(in_a_word, differences(*found[1:])))
    assert told == measured


def test_gap_grid_against_w2ner():
    text = " ".join(section("Other tags").split())
    seeds, w2ner, own = paired("psytar", "full", W2NER, ("gap_grid",))
    assert len(seeds) == 5
    told = differences(w2ner, own)
    assert f"it is at {told[0]} overall and {told[1]} on discontinuous mentions" in text


@pytest.mark.parametrize(("system", "own"), [("best", "control"), ("w2ner", "w2ner")])
def test_a_third_of_the_rate_on_chia(system, own):
    text = " ".join(section("Network and generated sentences").split("**Rates.**")[1].split())
    found = {
        run[0]["system"]: run
        for run in kept("chia")
        if run[0]["seed"] == 1 and run[0]["settings"]["optimisation.batch_size"] == 4
    }
    lower = found[f"{system}, encoder_lr=0.0001, learning_rate=0.001"]
    dev, test = scores([lower], "dev"), scores([lower], "test")
    assert f"dev {dev} and test {test}" in text
    assert f"{scores([found[own]], 'dev')} and {scores([found[own]], 'test')}" in text


def test_what_is_said_of_w2ners_co_predictor():
    text = " ".join(section("Network and generated sentences").split())
    _, best, own = paired("psytar", "full", BEST, ("w2ner-network",))
    dev = [scores(runs, "dev").split(" / ")[1].split()[0] for runs in (own, best)]
    assert f"(on dev {dev[0]}, where the same seeds of `best` have {dev[1]})" in text


def test_the_first_seed_of_an_adapted_encoder():
    own, base = (runs_of("psytar", "full", names)[1] for names in (("adapted",), BEST))
    _, discontinuous = differences([base], [own])
    text = " ".join(section("An adapted encoder").split())
    assert f"alone has {discontinuous.split()[0]} on those of test" in text


ENCODERS = {
    "[gte-small](#other-encoders)": ("Other encoders", "PsyTAR", "thenlper/gte-small"),
    "[an adapted encoder](#adapted-to-more-text), by more text": (
        "Adapted to more text",
        "spl-adr",
        "minilm-spl-adr",
    ),
}


@pytest.mark.parametrize("chosen_by", ["overall", "discontinuous"])
@pytest.mark.parametrize("tried", ENCODERS)
def test_another_encoder(tried, chosen_by):
    part, title, encoder = ENCODERS[tried]
    own, usual = (
        runs_of(*TAGS[title], BEST, chosen_by, encoder=name) for name in (encoder, "minilm")
    )
    seeds = sorted(own)
    sides = [[of[seed] for seed in seeds] for of in (usual, own)]
    cells = [scores(of, part, chosen_by) for of in sides for part in ("dev", "test")]
    row = " | ".join([", ".join(map(str, seeds)), *cells, *differences(*sides)])
    assert f"| {title} | {chosen_by} | {row} |" in section(part)
    if chosen_by == "overall":
        words = " | ".join(map(in_a_word, differences(*sides)))
        assert f"| {tried} | {title} | {words} |" in TRIED


def test_what_a_guide_says_of_gte_small():
    text = " ".join((ROOT / "docs/guides/settings.md").read_text("utf-8").split())
    own, usual = (
        runs_of("psytar", "full", BEST, encoder=name) for name in ("thenlper/gte-small", "minilm")
    )
    sides = ([of[seed] for seed in sorted(own)] for of in (own, usual))
    assert " for ".join(scores(of, "test").split()[0] for of in sides) in text


def test_distillation():
    text = section("Distillation")
    told = json.loads((ROOT / "docs/results/distillation/psytar.json").read_text("utf-8"))
    teachers = [own for name, own in told["models"].items() if name.startswith("gap-grid")]
    students = [own for name, own in told["models"].items() if name.startswith("student")]
    assert len(students) == 3

    def f1(models: list[dict[str, dict[str, float]]], part: str) -> str:
        return " / ".join(spread([own[part][name] for own in models]) for name in SLICES)

    def ahead(name: str) -> str:
        own = (told["ahead"][name][each] for each in SLICES)
        bounds = (
            [f"{100 * each[bound]:+.1f}" for bound in ("difference", "low", "high")] for each in own
        )
        return " | ".join(f"{difference} [{low}, {high}]" for difference, low, high in bounds)

    assert f"| four teachers | {f1(teachers, 'dev')} | {f1(teachers, 'test')} | – | – |" in text
    agreed = f"– | {f1([told['agreement']], 'test')} | {ahead('agreement')}"
    assert f"| what more than half of them find | {agreed} |" in text
    own = f"{f1(students, 'dev')} | {f1(students, 'test')} | {ahead('students')}"
    assert f"| three students | {own} |" in text


@pytest.mark.parametrize("chosen_by", ["overall", "discontinuous"])
@pytest.mark.parametrize("title", ["PsyTAR", "Chia"])
def test_lists_split_as_annotators_do(title, chosen_by):
    text = (ROOT / "docs/decisions/coordination.md").read_text("utf-8")
    place, size = TAGS[title], 4 if title == "Chia" else 12
    own = runs_of(*place, ("best",), chosen_by, size, "annotated")
    every = runs_of(*place, BASES["`best`"] if size == 4 else BEST, chosen_by, size)
    seeds = sorted(own.keys() & every.keys())
    if not seeds:
        assert f"| {title} | {chosen_by} |" not in text
        return
    sides = [[of[seed] for seed in seeds] for of in (every, own)]
    cells = [scores(of, part, chosen_by) for of in sides for part in ("dev", "test")]
    row = " | ".join([", ".join(map(str, seeds)), *cells, *differences(*sides)])
    assert f"| {title} | {chosen_by} | {row} |" in text


def test_what_is_said_of_r_drop():
    text = " ".join(section("R-drop").split())
    leads: dict[str, list[float]] = {"dev": [], "test": []}
    for title in ("PsyTAR", "spl-adr"):
        _, base, own = paired(*TAGS[title], BEST, ("r-drop",))
        for part, found in leads.items():
            f1 = [
                [run["chosen"]["overall"][part]["overall"]["f1"] for run, _ in of]
                for of in (base, own)
            ]
            found += [100 * (two - one) for one, two in zip(*f1, strict=True)]
    assert len(leads["dev"]) == 5
    dev, test = (f"{min(own):.1f} to {max(own):.1f}" for own in leads.values())
    assert f"ahead overall on dev, by {dev} points, and on test, by {test};" in text
    _, w2ner, own = paired("psytar", "full", W2NER, ("r-drop",))
    overall, discontinuous = differences(w2ner, own)
    assert f"ahead of W2NER overall, too, {overall} and {discontinuous.split()[0]} on" in text
