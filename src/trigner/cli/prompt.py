"""`trigner prompt`."""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from trigner.cli.options import From, Json, SkipBad, Split, Types, read_documents
from trigner.cli.output import comma_list, counting, note, print_json, refuse_non_empty, results
from trigner.cli.prompt_report import Systems, check_systems, print_report, write_outcomes
from trigner.corpora import Corpus
from trigner.errors import InputError, TrignerError
from trigner.prompting import (
    BASIS,
    VARIANTS,
    Answers,
    Endpoint,
    Outcome,
    Patience,
    Prices,
    Task,
    Variant,
    check_licence,
    endpoint,
    estimate,
    prepare,
    questions,
    run,
    subjects_of,
)

ANSWERS = "answers.jsonl"


def prompt(
    data: Annotated[Path, typer.Option("--data", help="Annotated documents to ask about.")],
    llm: Annotated[str, typer.Option("--llm", metavar="NAME", help="The server's model.")],
    out: Annotated[
        Path, typer.Option("--out", help="New folder for answers, predictions and scores.")
    ],
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="An OpenAI-compatible server, such as http://127.0.0.1:8000/v1."
            " Without it, only answers on record count.",
        ),
    ] = None,
    shots: Annotated[int, typer.Option("--shots", min=0, help="Examples in the prompt.")] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Ask for the steps as well.")] = False,
    all_variants: Annotated[
        bool,
        typer.Option("--all-variants", help="0, 1 and 2 examples, each without and with --explain"),
    ] = False,
    train: Annotated[
        Path | None,
        typer.Option("--train", help="Where examples come from; with --split its part train."),
    ] = None,
    similar: Annotated[
        bool, typer.Option("--similar", help="Examples most like each text; else fixed ones.")
    ] = False,
    numbered: Annotated[bool, typer.Option("--numbered", help="Number the words.")] = False,
    index_base: Annotated[
        bool, typer.Option("--index-base", help="Say that indices start at 0.")
    ] = False,
    reason_first: Annotated[
        bool, typer.Option("--reason-first", help="With --explain: steps before the answer.")
    ] = False,
    json_schema: Annotated[
        bool, typer.Option("--json-schema", help="Have the server hold answers to a schema.")
    ] = False,
    types: Types = None,
    descriptor: Annotated[
        list[str] | None,
        typer.Option("--descriptor", metavar="TYPE=WORDS", help="How a type is described."),
    ] = None,
    stratified: Annotated[
        bool,
        typer.Option(
            "--stratified",
            help="Only all sentences with discontinuous gold and as many with other gold and none.",
        ),
    ] = False,
    size: Annotated[
        int | None,
        typer.Option(
            "--size",
            min=1,
            help="Only so many sentences, of these three in turn; with --stratified of that.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of sample and examples.")] = 0,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="NAME=JSON",
            help="Of the request, beside temperature=0, seed=0, max_tokens=1024; null takes it out",
        ),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, help="Questions at a time.")
    ] = 4,
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds an answer.")] = 300,
    attempts: Annotated[int, typer.Option("--attempts", min=1, help="For each question.")] = 6,
    key_variable: Annotated[
        str | None,
        typer.Option(
            "--key-variable",
            metavar="NAME",
            help="Environment variable with the key; OPENAI_API_KEY and GEMINI_API_KEY for these"
            " two, else TRIGNER_LLM_API_KEY.",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on in --out: what was answered is not asked again.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only tell tokens and cost, and show a prompt.")
    ] = False,
    prices: Annotated[
        str | None,
        typer.Option("--prices", metavar="IN,OUT", help="US dollars for a million tokens of each."),
    ] = None,
    format: Annotated[str, typer.Option("--format", help="Of the predictions written.")] = "jsonl",
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="Write gold and all systems side by side; anew with --resume.",
        ),
    ] = None,
    beside: Systems = None,
    json: Json = False,
    from_: From = None,
    split: Split = None,
    skip_bad: SkipBad = False,
    has_permission: Annotated[
        bool,
        typer.Option(
            "--i-have-permission",
            help="The data's owner allows to send a credentialed corpus (ShARe) to others.",
        ),
    ] = False,
) -> None:
    """Ask a large language model for entities, and score it like any other system.

    Every raw answer is kept in OUT/answers.jsonl as soon as it is there; --resume goes on after an
    interruption. Scores are told for indices as given (strict) and with three repairs.

    Example:  trigner prompt --data test/ --train train/ --shots 2 --llm qwen
    --base-url http://127.0.0.1:8000/v1 --out runs/qwen
    """
    choice: Literal["fixed", "similar"] = "similar" if similar else "fixed"
    chosen = Variant(shots, explain, numbered, index_base, reason_first, json_schema, choice)
    variants = _variants(chosen, all_variants=all_variants)
    sent = _parameters(parameter)
    if not resume and not dry_run:
        refuse_non_empty(out)
    systems = check_systems(
        html, beside or (), format, variants=[v.name for v in variants], may_exist=resume or dry_run
    )
    server = None if base_url is None else endpoint(base_url, key_variable=key_variable)
    corpus = read_documents(data, format=from_, skip_bad=skip_bad, split=split)
    subjects = subjects_of(
        corpus.documents,
        format=corpus.format,
        types=comma_list(types),
        descriptors=_descriptors(descriptor),
    )
    learned = None
    if any(variant.shots for variant in variants):
        learned = _train(train, data, split, from_, skip_bad)
        _check_apart(corpus, learned)
    task = prepare(corpus, subjects, train=learned, stratified=stratified, size=size, seed=seed)
    if not task.sentences:
        raise InputError("holds no sentence to ask about", path=data)
    answers = Answers(out / ANSWERS)
    if answers.damaged:
        note([f"{answers.path}: {answers.damaged} unfinished lines passed over"])
    if dry_run:
        _estimate(task, variants, llm, sent, answers, server, prices)
        return
    check_licence(task.corpora, server, has_permission=has_permission)
    ask = partial(
        run,
        model=llm,
        parameters=sent,
        patience=Patience(timeout=timeout, attempts=attempts),
        concurrency=concurrency,
        has_permission=has_permission,
    )
    outcomes: list[Outcome] = []
    for variant in variants:
        with counting(f"{variant.name} of {llm}") as finished:
            outcomes.append(ask(task, variant, answers, server, finished=finished))
        note(_notices(outcomes[-1]))
        if outcomes[-1].asked.stopped is not None:
            break
    write_outcomes(task, outcomes, out, format=format, html=html, beside=systems)
    if json:
        print_json({outcome.variant.name: outcome.as_json() for outcome in outcomes})
    else:
        print_report(task, outcomes)
    _end(outcomes, len(variants), out)


def _variants(chosen: Variant, *, all_variants: bool) -> tuple[Variant, ...]:
    if chosen.reason_first and not (chosen.explain or all_variants):
        raise InputError("--reason-first is about the steps: add --explain")
    if not all_variants:
        return (chosen,)
    if chosen.shots or chosen.explain:
        raise InputError("--all-variants takes the place of --shots and --explain")
    return tuple(replace(chosen, shots=v.shots, explain=v.explain) for v in VARIANTS)


def _pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    found = {}
    for pair in given or ():
        name, is_pair, value = pair.partition("=")
        if not is_pair or not name or not value:
            raise InputError(f"{option} takes NAME=VALUE; got {pair!r}")
        found[name] = value
    return found


def _descriptors(given: Sequence[str] | None) -> dict[str, str]:
    return _pairs(given, "--descriptor")


def _parameters(given: Sequence[str] | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in _pairs(given, "--parameter").items():
        if name in ("model", "messages", "stream", "n"):
            raise InputError(f"--parameter cannot set {name!r}")
        try:
            found[name] = json_module.loads(value)
        except ValueError as error:
            raise InputError(f"--parameter {name}: {value!r} is no JSON") from error
    return found


def _train(
    train: Path | None, data: Path, split: str | None, format: str | None, skip_bad: bool
) -> Corpus:
    """The training part: `--train`, or for a corpus read by parts its part train."""
    if train is not None:
        return read_documents(train, format=format, skip_bad=skip_bad)
    if split is None or split == "train":
        raise InputError("examples come from the training part: name it with --train")
    return read_documents(data, format=format, skip_bad=skip_bad, split="train")


def _check_apart(data: Corpus, train: Corpus) -> None:
    """Raises InputError when a document would be asked about and shown as an example."""
    asked = {(document.id, document.text) for document in data.documents}
    if both := [d.id for d in train.documents if (d.id, d.text) in asked]:
        raise InputError(
            f"{len(both)} documents are in both --data and --train, such as {both[0]!r}: examples"
            " would give answers away"
        )


def _estimate(
    task: Task,
    variants: Sequence[Variant],
    model: str,
    parameters: Mapping[str, Any],
    answers: Answers,
    server: Endpoint | None,
    prices: str | None,
) -> None:
    each = _prices(prices)
    everything = [q for v in variants for q in questions(task, v, model, parameters)]
    left = [question for question in everything if answers.get(question) is None]
    told = estimate(left, [q for q in everything if answers.get(q) is not None])
    console = results()
    most = "without a limit" if told.answer_tokens is None else f"{told.answer_tokens:,} at most"
    lines = [
        everything[0].prompt,
        "",
        f"The first of {len(everything):,} prompts; {told.questions:,} are to be asked,"
        f" {told.recorded:,} are answered on record",
        f"prompt tokens: about {told.prompt_tokens:,} ({BASIS})",
        f"answer tokens: {most}",
    ]
    if each is not None:
        cost = told.most(each)
        lines.append(
            "cost: without a limit" if cost is None else f"cost: {cost:,.2f} US dollars at most"
        )
    if server is not None and not server.is_loopback:
        lines.append(f"texts would be sent to {server.base_url}")
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _prices(given: str | None) -> Prices | None:
    if given is None:
        return None
    try:
        prompt_price, answer_price = (float(part) for part in given.split(","))
    except ValueError as error:
        raise InputError(f"--prices takes two numbers, such as 2.5,10; got {given!r}") from error
    if not (0 <= prompt_price < float("inf") and 0 <= answer_price < float("inf")):
        raise InputError(f"--prices takes numbers from 0 on; got {given!r}")
    return Prices(prompt_price, answer_price)


def _notices(outcome: Outcome) -> list[str]:
    asked, name = outcome.asked, outcome.variant.name
    told = [f"{name}: {asked.answered} answered, {asked.recorded} answered on record before"]
    if asked.failed:
        numbers: dict[str, int] = {}
        for why in asked.failed.values():
            numbers[why] = numbers.get(why, 0) + 1
        told += [f"{name}: {n} without an answer: {why}" for why, n in numbers.items()]
    return told


def _end(outcomes: Sequence[Outcome], wanted: int, out: Path) -> None:
    """Raises TrignerError when something was not answered: what there is has been written."""
    stopped = outcomes[-1].asked.stopped
    unanswered = sum(len(outcome.asked.failed) for outcome in outcomes)
    if stopped is not None:
        others = wanted - len(outcomes)
        more = f"; {others} more variants were not begun" if others else ""
        raise TrignerError(
            f"{stopped}{more}. What was answered is kept in {out}: go on with --resume"
        )
    if unanswered:
        raise TrignerError(
            f"{unanswered} questions have no answer and count as empty predictions;"
            f" --resume asks them again (answers are kept in {out})"
        )
