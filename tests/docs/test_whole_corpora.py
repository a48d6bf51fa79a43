"""The page on whole corpora: every run kept there is in its tables, as it was measured."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product

import pytest

from kept_runs import BEST, ROOT, SLICES, Run, differences, kept, runs_of, scores

PAGE = (ROOT / "docs/decisions/whole-corpora.md").read_text("utf-8")
TITLES = {"spl-adr": "spl-adr", "chia": "Chia"}
MPNET = "sentence-transformers/all-mpnet-base-v2"
SYSTEMS = {
    ("w2ner", "minilm"): "W2NER",
    ("best", "minilm"): "`best`",
    ("control", "minilm"): "`clean`, no triplets",
    ("gap_grid", "minilm"): "`gap_grid`",
    ("w2ner-network", "minilm"): "W2NER's co-predictor",
    ("best", MPNET): "`best`, MPNet",
}
SHORT = {4, 5}
"""Epochs of the runs that compare rates: W2NER has more of them, and as many updates."""
USUAL = "1e-4, 3e-3"
LOWER = "1e-4, 1e-3"
USUAL_MPNET = "5e-5, 3e-3"
LOWER_MPNET = "5e-5, 1e-3"

Group = tuple[str, str, str, int]
"""Corpus, system, rates and epochs."""


@cache
def groups(chosen_by: str = "overall") -> dict[Group, dict[int, Run]]:
    """Runs with half of the sentences without mentions, by what they have in common, by seed."""
    found: dict[Group, dict[int, Run]] = defaultdict(dict)
    for corpus, title in TITLES.items():
        for run in kept(corpus, chosen_by):
            settings = run[0]["settings"]
            if run[0]["protocol"] != "full" or settings.get("sampling.empty") != 0.5:
                continue
            rates = ", ".join(
                f"{settings[f'optimisation.{name}']:.0e}".replace("e-0", "e-")
                for name in ("encoder_lr", "learning_rate")
            )
            name = SYSTEMS[run[0]["system"], settings["encoder"]]
            own = found[title, name, rates, settings["optimisation.epochs"]]
            assert run[0]["seed"] not in own
            own[run[0]["seed"]] = run
    return dict(found)


def floor(group: Group, chosen_by: str) -> dict[int, Run]:
    """W2NER's runs with the same rates and about as many updates."""
    title, name, rates, epochs = group
    if name in {"W2NER", SYSTEMS["best", MPNET]}:
        return {}
    (runs,) = (
        runs
        for own, runs in groups(chosen_by).items()
        if own[:3] == (title, "W2NER", rates) and (own[3] in SHORT) == (epochs in SHORT)
    )
    return runs


def between(base: dict[int, Run], own: dict[int, Run]) -> list[str]:
    """By how much runs are ahead of others, over the seeds that both have."""
    seeds = sorted(own.keys() & base.keys())
    if not seeds:
        return ["–", "–"]
    return differences([base[seed] for seed in seeds], [own[seed] for seed in seeds])


def ahead(group: Group, chosen_by: str) -> list[str]:
    """By how much a system is ahead of W2NER."""
    return between(floor(group, chosen_by), groups(chosen_by)[group])


def without_intervals(cells: list[str]) -> str:
    return " / ".join(own.partition(" ")[0] for own in cells)


def row(group: Group, chosen_by: str) -> str:
    own = groups(chosen_by)[group]
    seeds = sorted(own)
    runs = [own[seed] for seed in seeds]
    parts = [scores(runs, part, chosen_by) for part in ("dev", "test")]
    named = [group[0], group[1], chosen_by, ", ".join(map(str, seeds))]
    return f"| {' | '.join([*named, *parts, *ahead(group, chosen_by)])} |"


def rates_row(group: Group) -> str:
    title, name, rates, _ = group
    own = groups()[group]
    parts = [scores([own[seed] for seed in sorted(own)], part) for part in ("dev", "test")]
    cells = [title, name, rates, ", ".join(map(str, sorted(own))), *parts, *ahead(group, "overall")]
    return f"| {' | '.join(cells)} |"


def mpnet_row(rates: str, epochs: int, chosen_by: str) -> str:
    own = groups(chosen_by)["spl-adr", SYSTEMS["best", MPNET], rates, epochs]
    runs = [own[seed] for seed in sorted(own)]
    parts = [scores(runs, part, chosen_by) for part in ("dev", "test")]
    cells = [rates, str(epochs), chosen_by, ", ".join(map(str, sorted(own))), *parts]
    return f"| {' | '.join(cells)} |"


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def flat(text: str) -> str:
    """On one line."""
    return " ".join(text.split())


def text_of(path: str) -> str:
    return flat((ROOT / path).read_text("utf-8"))


def rows_of(title: str) -> set[str]:
    return set(re.findall(r"^\| (?:spl-adr|Chia) \|.*\|$", section(title), re.M))


def compared() -> list[Group]:
    """The groups whose rates are compared."""
    names = {"W2NER", "`best`"}
    return [own for own in groups() if own[3] in SHORT and own[1] in names]


def test_rates():
    assert rows_of("Which rates") == {rates_row(own) for own in compared()}


@pytest.mark.parametrize(
    ("title", "short"), [("With the lower rate, for longer", False), ("With the usual rates", True)]
)
def test_systems(title, short):
    own = {
        group
        for group in groups()
        if "MPNet" not in group[1]
        and (group[3] in SHORT) == short
        and (group[2] == USUAL or not short)
    }
    assert rows_of(title) == {
        row(group, by) for group in own for by in ("overall", "discontinuous")
    }


ALONE = ("spl-adr", "`clean`, no triplets", LOWER, 5)


def test_no_run_is_left_out():
    """Short runs with other rates are in the first table alone, and only of the two systems."""
    others = {own for own in groups() if own[3] in SHORT and own[2] != USUAL}
    assert {own for own in others if "MPNet" not in own[1]} - {ALONE} <= set(compared())


def test_the_network_alone():
    text = section("Without the additions of `best`")
    assert rows_of("Without the additions of `best`") == {rates_row(ALONE)}
    overall, discontinuous = between(groups()[ALONE], groups()["spl-adr", "`best`", LOWER, 4])
    assert f"`best` is {overall} and {discontinuous} ahead of the network alone" in flat(text)
    w2ner = groups()["spl-adr", "W2NER", LOWER, 5]
    assert f"the mean of its five is {scores(list(w2ner.values()), 'test')}." in flat(text)


ALL_SENTENCES = {"W2NER": "w2ner", "the default": "rescored"}
WITH_HALF = {"W2NER": ("W2NER", USUAL, 5), "the default": ("`best`", USUAL, 4)}
LONGEST = {"spl-adr": ("W2NER", LOWER, 8), "chia": ("W2NER", LOWER, 9)}
"""W2NER's longest trainings with half of the sentences without mentions."""


def with_all(corpus: str, system: str, chosen_by: str) -> dict[int, Run]:
    """Runs with all sentences at the usual rates, by seed."""
    runs = {}
    for run in kept(corpus, chosen_by):
        settings = run[0]["settings"]
        wanted = (ALL_SENTENCES[system], "full", 1.0, 1e-4, 3e-3, 0.98, "cells")
        own = (
            *(run[0][name] for name in ("system", "protocol")),
            settings.get("sampling.empty"),
            *(settings.get(f"optimisation.{name}") for name in ("encoder_lr", "learning_rate")),
            settings.get("optimisation.beta2"),
            settings.get("optimisation.batch_weighting"),
        )
        if own == wanted and run[0]["device"] == "cpu" and run[0]["epochs"] > 5:
            assert run[0]["seed"] not in runs
            runs[run[0]["seed"]] = run
    return runs


def rows_as_it_ships() -> Iterator[str]:
    for corpus, system, chosen_by in product(TITLES, ALL_SENTENCES, SLICES):
        own = with_all(corpus, system, chosen_by)
        seeds = sorted(own)
        runs = [own[seed] for seed in seeds]
        floor = with_all(corpus, "W2NER", chosen_by) if system != "W2NER" else {}
        parts = [scores(runs, part, chosen_by) for part in ("dev", "test")]
        named = [TITLES[corpus], system, chosen_by, ", ".join(map(str, seeds))]
        yield f"| {' | '.join([*named, *parts, *between(floor, own)])} |"


def rows_to_half() -> Iterator[str]:
    for corpus, system, chosen_by in product(TITLES, ALL_SENTENCES, SLICES):
        own, half = with_all(corpus, system, chosen_by), groups(chosen_by)
        named = [TITLES[corpus], system, chosen_by]
        bases = (WITH_HALF[system], LONGEST[corpus])
        against = [" / ".join(between(half[TITLES[corpus], *base], own)) for base in bases]
        yield f"| {' | '.join([*named, *against])} |"


def test_as_it_ships():
    expected = [*rows_as_it_ships(), *rows_to_half()]
    text = section("As it ships")
    assert re.findall(r"^\| (?:spl-adr|Chia) .*$", text, re.M) == expected, "\n".join(expected)
    best, means = (ROOT / "docs/decisions/best.md").read_text("utf-8"), []
    for corpus, title in TITLES.items():
        own, floor = (with_all(corpus, of, "overall") for of in ("the default", "W2NER"))
        assert {run[0]["settings"]["optimisation.epochs"] for run in own.values()} == {"auto"}
        means.append(f"{scores(list(own.values()), 'test')} on {title}")
        seeds = ", ".join(map(str, sorted(own.keys() & floor.keys())))
        told = f"| {seeds} | {' | '.join(between(floor, own))} |"
        assert f"| {title} | [whole, all sentences](whole-corpora.md#as-it-ships) {told}" in best
    assert f"with all sentences, `best` has {' and '.join(means)}" in flat(PAGE)


def test_six_epochs_for_four_on_the_page_of_epochs():
    text = text_of("docs/decisions/epochs.md")
    spl_adr, chia, by_split = (
        " / ".join(between(*(groups(by)[title, "`best`", LOWER, n] for n in (4, 6))))
        for title, by in (("spl-adr", "overall"), ("Chia", "overall"), ("spl-adr", "discontinuous"))
    )
    assert f"(spl-adr {spl_adr}, Chia {chia})" in text
    assert f"ahead on spl-adr by those that discontinuous F1 chooses ({by_split};" in text


def test_how_near_the_choice_of_w2ners_rates_was():
    one, other = (groups()["spl-adr", "W2NER", rates, 5] for rates in (LOWER, "2e-4, 1e-3"))
    told = ", ".join(
        f"{how}{scores([runs[1]], 'dev')}"
        for how, runs in (("", one), ("with the faster encoder, ", other))
    )
    _, split = between(other, groups()["spl-adr", "`best`", LOWER, 4])
    text = flat(section("Which rates"))
    assert told.replace(", with", " and, with") in text
    assert f"`best` is {split.removeprefix('+')} ahead on discontinuous mentions (seed 1)" in text


def test_the_lead_by_the_other_choice():
    _, split = ahead(("spl-adr", "`best`", LOWER, 4), "discontinuous")
    assert f"the lead on spl-adr is {split.split()[0].removeprefix('+')}, within" in flat(PAGE)
    assert f"chooses have {split};" in text_of("docs/decisions/best.md")


@pytest.mark.parametrize("title", TITLES.values())
@pytest.mark.parametrize(
    ("training", "rates", "epochs"),
    [
        ("[whole](whole-corpora.md), a third of the rate", LOWER, 4),
        ("whole, the usual rates", USUAL, 4),
        ("whole, longer, a third of the rate", LOWER, 6),
    ],
)
def test_the_page_of_best_has_the_same(title, training, rates, epochs):
    group = (title, "`best`", rates, epochs)
    seeds = sorted(groups()[group].keys() & floor(group, "overall").keys())
    cells = [title, training, ", ".join(map(str, seeds)), *ahead(group, "overall")]
    assert f"| {' | '.join(cells)} |" in (ROOT / "docs/decisions/best.md").read_text("utf-8")


def test_mpnet():
    runs = groups()["spl-adr", "`best`, MPNet", USUAL_MPNET, 6]
    assert len(runs) == 5
    told = scores(list(runs.values()), "test")
    assert f"{told} after six epochs, five seeds" in text_of("docs/decisions/best.md")
    overall, discontinuous = told.split(" / ")
    assert f"MPNet has {overall} overall and {discontinuous} on discontinuous" in flat(PAGE)
    of_test = [run["chosen"]["overall"]["test"] for run, _ in runs.values()]
    assert min(own["overall"]["f1"] for own in of_test) > 0.885
    above = [own["discontinuous"]["f1"] for own in of_test if own["discontinuous"]["f1"] > 0.55]
    assert [round(100 * f1, 1) for f1 in above] == [56.2]
    means = [own.partition(" ")[0] for own in (overall, discontinuous)]
    assert f"[{means[0]} and {means[1]}]" in text_of("docs/results/end-to-end.md")
    large, small = (
        re.findall(r"([\d.]+) ±", scores(list(groups()["spl-adr", *own].values()), "test"))
        for own in (("`best`, MPNet", USUAL_MPNET, 4), ("`best`", USUAL, 4))
    )
    guide = text_of("docs/guides/settings.md")
    assert f"[{large[0]} with MPNet and {large[1]} on discontinuous mentions]" in guide
    assert f"where it has {small[0]} and {small[1]} with MiniLM (two seeds)" in guide
    assert f"After six, MPNet has {means[0]} and {means[1]} (five seeds)" in guide


def test_the_rate_that_dev_chooses():
    text = flat(section("Which rates"))
    gains, of_test = [], {}
    for title in TITLES.values():
        for name, epochs in (("`best`", 4), ("W2NER", 5)):
            runs = {
                own[2]: groups()[own][1]
                for own in groups()
                if own[:2] == (title, name) and own[3] == epochs
            }
            dev = {
                rates: run[0]["chosen"]["overall"]["dev"]["overall"]["f1"]
                for rates, run in runs.items()
            }
            assert max(dev, key=dev.__getitem__) == LOWER
            gains.append(100 * (dev[LOWER] - dev[USUAL]))
            f1 = [scores([runs[rates]], "test").split(" / ")[0] for rates in (LOWER, USUAL)]
            of_test[name, title] = " for ".join(f1)
    assert f"by {min(gains):.1f} to {max(gains):.1f} points of overall F1 with seed 1" in text
    for name, title in of_test:
        assert f"{of_test[name, title]} of {name} on {title}" in text
    last = groups("discontinuous")["spl-adr", "W2NER", LOWER, 5][1]
    assert f"its last has {scores([last], 'test', 'discontinuous')}" in text


@pytest.mark.parametrize("title", TITLES.values())
@pytest.mark.parametrize(
    ("part", "system", "rates", "epochs"),
    [
        ("With the lower rate, for longer", "`gap_grid`", LOWER, 6),
        ("With the usual rates", "W2NER's co-predictor", USUAL, 4),
    ],
)
def test_what_a_system_has_against_best(title, part, system, rates, epochs):
    base, own = (groups()[title, name, rates, epochs] for name in ("`best`", system))
    assert f"{without_intervals(between(base, own))} on {title}" in flat(section(part))


def test_rows_of_mpnet():
    of_mpnet = [own for own in groups() if "MPNet" in own[1]]
    assert set(re.findall(r"^\| 5e-5,.*\|$", section("With MPNet"), re.M)) == {
        mpnet_row(*own[2:], by) for own in of_mpnet for by in ("overall", "discontinuous")
    }


def test_the_rates_and_trainings_of_one_system():
    short = {
        (title, name): groups()[title, name, LOWER, epochs]
        for title in TITLES.values()
        for name, epochs in (("`best`", 4), ("W2NER", 5))
    }
    text = flat(PAGE)
    for title, long in (("spl-adr", 8), ("Chia", 9)):
        base, own = groups()[title, "`best`", USUAL, 4], short[title, "`best`"]
        overall, discontinuous = between(base, own)
        told = f"{overall} / {discontinuous.partition(' ')[0]}"
        assert re.search(rf"{re.escape(told)} (?:ahead of the usual one )?on {title}", text)
        longest = groups()[title, "W2NER", LOWER, long]
        told = " / ".join(between(short[title, "W2NER"], longest))
        assert re.search(rf"{re.escape(told)} (?:to its shorter trainings )?on {title}", text)
        assert " / ".join(between(longest, own)) in text


def test_mpnet_after_more_epochs():
    four, six, eight = (
        groups()["spl-adr", "`best`, MPNet", *own]
        for own in ((USUAL_MPNET, 4), (USUAL_MPNET, 6), (LOWER_MPNET, 8))
    )
    text = flat(section("With MPNet"))
    assert sorted(four) == [2, 3, 4, 5]
    told = " and ".join(between(four, six))
    assert f"seeds 2 to 5 six epochs are {told} ahead of four" in text
    told = " and ".join(between(six, eight))
    assert f"eight epochs at a third of the rate are {told} ahead of six" in text


def test_five_seeds_at_the_rates_that_dev_chooses():
    text = flat(section("Which rates"))
    for title in TITLES.values():
        best, base = (
            groups()[title, name, LOWER, epochs] for name, epochs in (("`best`", 4), ("W2NER", 5))
        )
        assert sorted(base) == [1, 2, 3, 4, 5]
        told = " and ".join(between(base, best))
        assert f"{told} on {title}" in text
        others = {seed: run for seed, run in base.items() if seed != 1}
        assert f"without seed 1 {' and '.join(between(others, best))}" in text
        of_discontinuous = ahead((title, "`best`", LOWER, 4), "discontinuous")
        assert " and ".join(of_discontinuous) in text


@pytest.mark.parametrize("chosen_by", ["overall", "discontinuous"])
def test_links_of_all_corpora_first(chosen_by):
    base, own = (runs_of("psytar", "full", names, chosen_by) for names in (BEST, ("from-all",)))
    sides = [[of[seed] for seed in sorted(own)] for of in (base, own)]
    against = (["–", "–"], differences(*sides))
    for name, runs, cells in zip(
        ("the encoder", "the model of three corpora"), sides, against, strict=True
    ):
        parts = [scores(runs, part, chosen_by) for part in ("dev", "test")]
        assert f"| {name} | {chosen_by} | {' | '.join([*parts, *cells])} |" in PAGE
