"""Two systems of a study sentence by sentence, as of one seed that both have."""

from __future__ import annotations

from trigner.errors import InputError
from trigner.lab.studies.corpus import CorpusSplits
from trigner.lab.studies.results import Result
from trigner.lab.studies.summary import Summary, SystemResults, baseline_of
from trigner.rendering import differences_page

Cases = tuple[tuple[str, Result], tuple[str, Result]]
"""Two systems by this study's names, each with a run; a run may be kept under another name."""


def check_cases(names: tuple[str, str] | None, *, data: bool, texts: bool) -> None:
    """Raises InputError for systems that are asked for and could not be shown."""
    if names is None:
        return
    if names[0] == names[1]:
        raise InputError(f"--cases takes two systems; got {names[0]!r} twice")
    if not data:
        raise InputError("--cases needs --data: it shows sentences of the corpus")
    if not texts:
        raise InputError("--cases shows sentences of the corpus, --no-texts none: omit one of them")


def chosen_cases(summary: Summary, names: tuple[str, str] | None) -> Cases | None:
    """Runs of one seed of the systems of these names, which both have predictions.

    Without names the first baseline and, of the systems that share a seed with it, the best on dev;
    where the baseline stands at several points of the axes, both at one of them. None where there
    are no such two. Raises InputError for names that do not stand for two runs.
    """
    able = {s.name: s for s in summary.systems if any(r.found for r in s.results)}
    if names is None:
        for baseline in (*summary.baselines, *able):
            found = [
                (_dev_f1(other), pair)
                for other in able.values()
                if (before := baseline_of(baseline, other, able)) is not None
                and (pair := _of_one_seed(before, other)) is not None
            ]
            if found:
                return max(found, key=lambda each: each[0])[1]
        return None
    if unknown := [name for name in names if name not in able]:
        known = ", ".join(able) or "none"
        raise InputError(
            f"--cases: no predictions of the system {unknown[0]!r}; systems with predictions:"
            f" {known}"
        )
    first, second = able[names[0]], able[names[1]]
    pair = _of_one_seed(first, second)
    if pair is None:
        alike = {result.name for result in first.results} & {r.name for r in second.results}
        reason = "are one run under two names" if alike else "have predictions of no seed in common"
        raise InputError(
            f"--cases: on {summary.corpus} {first.name!r} and {second.name!r} {reason}"
        )
    return pair


def cases_page(corpus: CorpusSplits, cases: Cases) -> str:
    """Both systems on the test part, the models chosen by overall F1."""
    shown = {
        name: found["overall"].on(corpus.test)
        for name, result in cases
        if (found := result.predictions())
    }
    (first, result), (second, _) = cases
    title = f"{first} and {second} on {corpus.name}, test, seed {result.seed}"
    return differences_page(corpus.test, shown, title=title)


def _dev_f1(system: SystemResults) -> float:
    spread = system.spread("overall", "dev", "overall")
    return 0.0 if spread is None else spread.mean


def _of_one_seed(first: SystemResults, second: SystemResults) -> Cases | None:
    """The first seed of which both have a run of their own."""
    by_seed = {result.seed: result for result in second.results if result.found}
    for result in first.results:
        other = by_seed.get(result.seed)
        if result.found and other is not None and other.name != result.name:
            return (first.name, result), (second.name, other)
    return None
